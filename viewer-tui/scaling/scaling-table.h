/* How a program scales: times and speedups of a set of runs (lib/run-set.h), with the factored
 * speedups of Acar, Charguéraud and Rainey ("Parallel Work Inflation, Memory Effects, and their
 * Empirical Analysis"). With T_s the time of the serial baseline, T_P that with P workers and I_P
 * the idleness, in seconds of workers,
 *
 *     linear               P
 *     maximal              P T_s / T_1          if there were neither idleness nor inflation
 *     idle-specific        P T_s / (T_1 + I_P)  if there were no inflation
 *     inflation-specific   P T_s / (P T_P - I_P)  if there were no idleness
 *     actual               T_s / T_P
 *
 * Without a serial baseline T_s is T_1. Values of a number of workers are medians over its runs.
 * NAN: not known.
 *
 * The band of a speedup has all values that its formula takes while each of its medians is anywhere
 * in that median's interval. Each interval misses the true median with some probability; the band
 * misses the true speedup with at most the sum of these. */
#ifndef VIEWER_SCALING_TABLE_H
#define VIEWER_SCALING_TABLE_H

#include "viewer-tui/advice/what-if.h"
#include "viewer-tui/base/distribution.h"

#include "lib/alloc.h"

#include <stdbool.h>

/* What one run took: seconds. */
struct run_values {
    unsigned workers; /* 0: the serial baseline */
    unsigned cpus;    /* that the program could use; 0 unknown */
    double wall;      /* NAN: the run measured work and span only, which takes time */
    double work, overhead, idleness;
    bool has_work_span;
    struct work_span work_span; /* owns the reason of its bound */
};

typedef VEC(struct run_values) run_value_list;

void run_values_free(run_value_list *runs);

/* The factored speedups, in the order of the list above. */
enum speedup_kind {
    LINEAR_SPEEDUP,
    MAXIMAL_SPEEDUP,
    IDLE_SPECIFIC_SPEEDUP,
    INFLATION_SPECIFIC_SPEEDUP,
    ACTUAL_SPEEDUP,
    SPEEDUP_KINDS
};

struct speedup {
    double value;
    double low, high; /* the band; NAN: there is none */
    double coverage;  /* least probability that the band has the true speedup; 0: no band */
};

struct scaling_row {
    unsigned workers;
    size_t n_runs;
    bool exceeds_cpus; /* more workers than CPUs: idleness counts only CPUs */
    struct median_interval time, work, overhead, idleness;
    double inflation; /* work that one worker does not have */
    struct speedup speedups[SPEEDUP_KINDS];
};

/* What the laws of work and span say of the speedup with a number of workers, relative to the
 * baseline: T_s / (T_1 / P), T_s / span, and T_s / (T_1 / P + 1.7 burdened spans), where T_1 is the
 * work that hpcrun --work-span measured. The last one is NAN if the span is only a lower bound. */
struct speedup_laws {
    double work_law, span_law, burdened;
};

struct scaling_table {
    VEC(struct scaling_row) rows;  /* fewest workers first, without the baseline */
    struct median_interval serial; /* of the baseline */
    size_t n_serial;               /* its runs; 0: there is none */
    double baseline;               /* T_s: of the baseline, or of one worker; NAN: neither */
    /* Medians over the runs with work and span that have the fewest workers, since work is least
     * disturbed there. */
    bool has_work_span;
    struct work_span work_span; /* owns the reason of its bound, the first run's that has one */
    unsigned work_span_workers;
    size_t n_work_span; /* those runs */
};

/* The caller frees with scaling_table_free. */
struct scaling_table scaling_table_of(const run_value_list *runs);
void scaling_table_free(struct scaling_table *table);

/* The share of P T_P that the workers spent in work, overhead and idleness, of medians. It is far
 * below 1 if the program waited, or others had its CPUs. NAN: not known. */
double scaling_share_of_cpus(const struct scaling_row *row);

/* The table must have work and span. */
struct speedup_laws scaling_laws(const struct scaling_table *table, double workers);

/* The smallest probability of all bands; 0 if there are none. */
double scaling_band_coverage(const struct scaling_table *table);

#endif

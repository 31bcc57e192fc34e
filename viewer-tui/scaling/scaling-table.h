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
 * NAN: not known. */
#ifndef VIEWER_SCALING_TABLE_H
#define VIEWER_SCALING_TABLE_H

#include "viewer-tui/base/distribution.h"

#include "lib/alloc.h"

#include <stdbool.h>

/* What one run took: seconds. */
struct run_values {
    unsigned workers; /* 0: the serial baseline */
    unsigned cpus;    /* that the program could use; 0 unknown */
    double wall, work, overhead, idleness;
};

typedef VEC(struct run_values) run_value_list;

struct scaling_row {
    unsigned workers;
    size_t n_runs;
    bool exceeds_cpus; /* more workers than CPUs: idleness counts only CPUs */
    struct median_interval time;
    double work, overhead, idleness;
    double inflation; /* work that one worker does not have */
    double maximal, idle_specific, inflation_specific, actual;
};

struct scaling_table {
    VEC(struct scaling_row) rows; /* fewest workers first, without the baseline */
    struct median_interval serial; /* of the baseline */
    size_t n_serial;               /* its runs; 0: there is none */
    double baseline;               /* T_s: of the baseline, or of one worker; NAN: neither */
};

/* The caller frees with scaling_table_free. */
struct scaling_table scaling_table_of(const run_value_list *runs);
void scaling_table_free(struct scaling_table *table);

#endif

#include "viewer-tui/scaling/scaling-table.h"

#include <math.h>
#include <stdlib.h>

typedef VEC(double) value_list;

void run_values_free(run_value_list *runs)
{
    for (size_t i = 0; i < runs->n; i++)
        free((char *)runs->at[i].work_span.why_lower_bound);
    vec_free(runs);
}

/* The median of a value in all runs with this number of workers that have it; only of those with work and span.
 * `place` is the offset of the value in a run. */
static struct median_interval median_of(const run_value_list *runs, unsigned workers, bool of_work_span, size_t place)
{
    autofree value_list values = {0};
    for (size_t i = 0; i < runs->n; i++) {
        const struct run_values *run = &runs->at[i];
        double value = *(const double *)((const char *)run + place);
        if (run->workers == workers && (of_work_span ? run->has_work_span : !isnan(value)))
            vec_push(&values, value);
    }
    return median_interval_of(values.at, values.n);
}

/* The row of a number of workers; without runs if none has a time. */
static struct scaling_row row_of(const run_value_list *runs, unsigned workers)
{
    struct scaling_row row = {
        .workers = workers,
        .time = median_of(runs, workers, false, offsetof(struct run_values, wall)),
        .work = median_of(runs, workers, false, offsetof(struct run_values, work)),
        .overhead = median_of(runs, workers, false, offsetof(struct run_values, overhead)),
        .idleness = median_of(runs, workers, false, offsetof(struct run_values, idleness)),
    };
    for (size_t i = 0; i < runs->n; i++) {
        const struct run_values *run = &runs->at[i];
        row.n_runs += run->workers == workers && !isnan(run->wall);
        row.exceeds_cpus |= run->workers == workers && run->cpus && workers > run->cpus;
    }
    return row;
}

static int by_workers(const void *left, const void *right)
{
    unsigned a = ((const struct scaling_row *)left)->workers;
    unsigned b = ((const struct scaling_row *)right)->workers;
    return (a > b) - (a < b);
}

/* ---- speedups ---- */

/* The measured quantities of the formulas. */
enum quantity { BASELINE_TIME, ONE_TIME, OWN_TIME, IDLENESS, QUANTITIES };

#define USES(quantity) (1u << (quantity))

static const unsigned used_by[SPEEDUP_KINDS] = {
    [MAXIMAL_SPEEDUP] = USES(BASELINE_TIME) | USES(ONE_TIME),
    [IDLE_SPECIFIC_SPEEDUP] = USES(BASELINE_TIME) | USES(ONE_TIME) | USES(IDLENESS),
    [INFLATION_SPECIFIC_SPEEDUP] = USES(BASELINE_TIME) | USES(OWN_TIME) | USES(IDLENESS),
    [ACTUAL_SPEEDUP] = USES(BASELINE_TIME) | USES(OWN_TIME),
};

/* The quantities of one number of workers. */
struct measured {
    double workers;
    struct median_interval of[QUANTITIES];
    enum quantity is[QUANTITIES]; /* the quantity of the same runs that stands for it, or itself */
};

/* A ratio of times; NAN if the lower one is none. */
static double ratio(double upper, double lower)
{
    return lower > 0 ? upper / lower : NAN;
}

static double speedup_of(enum speedup_kind kind, double workers, const double times[QUANTITIES])
{
    double ideal = workers * times[BASELINE_TIME];
    switch (kind) {
    case MAXIMAL_SPEEDUP: return ratio(ideal, times[ONE_TIME]);
    case IDLE_SPECIFIC_SPEEDUP: return ratio(ideal, times[ONE_TIME] + times[IDLENESS]);
    case INFLATION_SPECIFIC_SPEEDUP:
        return ratio(ideal, workers * times[OWN_TIME] - times[IDLENESS]);
    case ACTUAL_SPEEDUP: return ratio(times[BASELINE_TIME], times[OWN_TIME]);
    default: return workers;
    }
}

/* The least probability that all intervals have the true medians. */
static double joint_coverage(const struct measured *measured, unsigned used)
{
    unsigned different = 0;
    double missed = 0;
    for (int q = 0; q < QUANTITIES; q++)
        if (used & USES(q))
            different |= USES(measured->is[q]);
    for (int q = 0; q < QUANTITIES; q++)
        if (different & USES(q))
            missed += 1 - measured->of[q].coverage;
    return missed < 1 ? 1 - missed : 0;
}

/* Each formula is monotonic in each quantity, so its extremes are at corners: quantities in `high` are at the upper
 * ends of their intervals, the others at the lower ones. */
static struct speedup with_band(const struct measured *measured, enum speedup_kind kind)
{
    double times[QUANTITIES];
    for (int q = 0; q < QUANTITIES; q++)
        times[q] = measured->of[q].median;
    double value = speedup_of(kind, measured->workers, times);
    struct speedup speedup = {value, value, value, joint_coverage(measured, used_by[kind])};
    for (unsigned high = 0; high < USES(QUANTITIES); high++) {
        for (int q = 0; q < QUANTITIES; q++) {
            const struct median_interval *of = &measured->of[measured->is[q]];
            times[q] = high & USES(measured->is[q]) ? of->high : of->low;
        }
        double corner = speedup_of(kind, measured->workers, times);
        if (isnan(corner))
            speedup.low = speedup.high = NAN;
        speedup.low = fmin(speedup.low, corner);
        speedup.high = fmax(speedup.high, corner);
    }
    if (isnan(value) || isnan(speedup.low) || !(speedup.coverage > 0))
        return (struct speedup){value, NAN, NAN, 0};
    return speedup;
}

/* `one`: the row of one worker; NULL: there is none. */
static void add_speedups(const struct scaling_table *table, struct scaling_row *row,
                         const struct scaling_row *one)
{
    static const struct median_interval unknown = {NAN, NAN, NAN, 0};
    struct measured measured = {
        .workers = row->workers,
        .of = {[BASELINE_TIME] = table->serial,
               [ONE_TIME] = one ? one->time : unknown,
               [OWN_TIME] = row->time,
               [IDLENESS] = row->exceeds_cpus ? unknown : row->idleness},
        .is = {BASELINE_TIME, ONE_TIME, OWN_TIME, IDLENESS},
    };
    if (row->workers == 1)
        measured.is[OWN_TIME] = ONE_TIME;
    if (!table->n_serial) {
        measured.of[BASELINE_TIME] = measured.of[ONE_TIME];
        measured.is[BASELINE_TIME] = ONE_TIME;
    }
    for (int kind = 0; kind < SPEEDUP_KINDS; kind++)
        row->speedups[kind] = with_band(&measured, (enum speedup_kind)kind);
    row->inflation = row->work.median - (one ? one->work.median : NAN);
}

double scaling_band_coverage(const struct scaling_table *table)
{
    double least = 1;
    bool is_any = false;
    for (size_t i = 0; i < table->rows.n; i++)
        for (int kind = LINEAR_SPEEDUP + 1; kind < SPEEDUP_KINDS; kind++) {
            const struct speedup *speedup = &table->rows.at[i].speedups[kind];
            if (!(speedup->coverage > 0))
                continue;
            least = fmin(least, speedup->coverage);
            is_any = true;
        }
    return is_any ? least : 0;
}

/* ---- work and span ---- */

static void add_work_span(struct scaling_table *table, const run_value_list *runs)
{
    struct work_span *of = &table->work_span;
    unsigned fewest = 0;
    for (size_t i = 0; i < runs->n; i++)
        if (runs->at[i].has_work_span && (!fewest || runs->at[i].workers < fewest))
            fewest = runs->at[i].workers;
    if (!fewest)
        return;
    table->has_work_span = true;
    table->work_span_workers = fewest;
    for (size_t i = 0; i < runs->n; i++) {
        const struct run_values *run = &runs->at[i];
        if (!run->has_work_span || run->workers != fewest)
            continue;
        table->n_work_span++;
        if (!of->why_lower_bound && run->work_span.why_lower_bound)
            of->why_lower_bound = mem_strdup(run->work_span.why_lower_bound);
    }
#define MEDIAN(member) of->member = median_of(runs, fewest, true, offsetof(struct run_values, work_span.member)).median
    MEDIAN(work);
    MEDIAN(span);
    MEDIAN(burdened_span);
    MEDIAN(work_error);
    MEDIAN(span_error);
    MEDIAN(burdened_error);
#undef MEDIAN
}

double scaling_share_of_cpus(const struct scaling_row *row)
{
    double used = row->work.median + row->overhead.median + row->idleness.median;
    return row->exceeds_cpus ? NAN : used / (row->workers * row->time.median);
}

struct speedup_laws scaling_laws(const struct scaling_table *table, double workers)
{
    const struct work_span *of = &table->work_span;
    double over_one = table->baseline / of->work;
    struct speedup_laws laws = {.work_law = over_one * workers,
                                .span_law = table->baseline / of->span,
                                .burdened = over_one * work_span_lower_bound(of, workers)};
    if (of->why_lower_bound)
        laws.burdened = NAN;
    return laws;
}

/* ---- the table ---- */

struct scaling_table scaling_table_of(const run_value_list *runs)
{
    struct scaling_table table = {0};
    for (size_t i = 0, at; i < runs->n; i++) {
        for (at = 0; at < table.rows.n && table.rows.at[at].workers != runs->at[i].workers;)
            at++;
        if (at == table.rows.n && runs->at[i].workers && !isnan(runs->at[i].wall))
            vec_push(&table.rows, row_of(runs, runs->at[i].workers));
    }
    vec_sort(&table.rows, by_workers);
    bool has_one = table.rows.n && table.rows.at[0].workers == 1;
    struct scaling_row one = has_one ? table.rows.at[0] : (struct scaling_row){0};
    struct scaling_row serial = row_of(runs, 0);
    table.n_serial = serial.n_runs;
    table.serial = serial.time;
    table.baseline = table.n_serial ? table.serial.median : has_one ? one.time.median : NAN;
    for (size_t i = 0; i < table.rows.n; i++)
        add_speedups(&table, &table.rows.at[i], has_one ? &one : NULL);
    add_work_span(&table, runs);
    return table;
}

void scaling_table_free(struct scaling_table *table)
{
    vec_free(&table->rows);
    free((char *)table->work_span.why_lower_bound);
}

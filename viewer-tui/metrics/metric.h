/* The metrics of a database: what meta.db says of them, and where their values are; and metrics
 * that are computed from them.
 *
 * Those that have values themselves are stored: what adds up and keeps costs has room for these
 * only. Behind them stand the derived ones, which are computed when somebody asks (derived.h), so
 * that one can be added at any time. */
#ifndef VIEWER_METRIC_H
#define VIEWER_METRIC_H

#include "viewer-tui/metrics/formula.h"

#include <stdbool.h>
#include <stddef.h>

/* Propagation scopes: which costs of contexts below a value contains (doc/FORMAT-database.md). */
enum metric_scope {
    METRIC_POINT,
    METRIC_FUNCTION,
    METRIC_LEX_AWARE,
    METRIC_EXECUTION,
    METRIC_SCOPES
};

/* What is shown of the metrics that are kept. */
enum metric_set {
    SET_CHOSEN, /* what the user chose, or the usual ones */
    SET_KINDS,  /* overhead and its kinds */
    METRIC_SETS
};

/* Whether the values of a metric are the whole truth: the states of run.json. */
enum metric_state {
    METRIC_MEASURED,
    METRIC_LOWER_BOUND, /* "lower bound": what was recognized; there may be more of it */
    METRIC_NOT_MEASURED /* "not measurable": there are no values */
};

/* No metric id. */
#define METRIC_ABSENT (-1)

/* What is compared with each other. */
#define SIDES 2

/* What a metric is derived by. */
struct derivation {
    char *name, *text; /* "waste", "waste [s] = $idleness + $overhead" */
    size_t formula_at; /* where the formula begins in the text */
    struct formula formula;
    uint64_t needs; /* from which derived ones: bit 0 is the first */
    char *why;      /* why it has no values; NULL when it has */
};

struct metric {
    const char *name;     /* in the mapped file, or the caller's */
    char unit[UNIT_SIZE]; /* "s", "count", or what stands in parentheses in the name */
    enum metric_state state;
    const char *why;            /* why it is not measured, or only a lower bound; else NULL */
    int summary[METRIC_SCOPES]; /* id of the sum over the threads in the values (values.h) */
    int in_file[METRIC_SCOPES]; /* the same in the summary profile of the file */
    int thread[METRIC_SCOPES];  /* id in the profiles of threads */
    int sum;                    /* index of the metric of which it is a part; METRIC_ABSENT */
    char *sum_name;             /* not NULL: it is such a sum, without ids of its own; its name */
    const char *kind; /* not NULL: it is a kind of overhead, and what its name has from there on */
    int kind_length;  /* of "spawn" in "overhead:spawn (CPUTIME)" */
    int kind_of;      /* of a kind, the index of the metric of overhead; METRIC_ABSENT */
    int sides[SIDES]; /* in a comparison, the indices of the two metrics that are compared, which
                         may be the metric itself; METRIC_ABSENT */
    int whole;        /* index of the metric of whose total its percentages are; METRIC_ABSENT:
                         its sum, or itself */
    const char *called; /* in a comparison, the name of the metric whose values these are, where it
                           is another; NULL */
    bool compares_effort; /* its percentages are of one side's effort */
    bool is_ratio;        /* it has no percentages, and may be undefined (NAN) */
    bool is_aside;        /* it has no column of a view until the user asks for it; summary,
                             list of columns, inspector, CSV and JSON have it */
    struct derivation *derivation; /* not NULL: it is derived */
    bool is_asked_for;             /* the user named it */
    bool repeats_work;             /* an effort of which only work is not 0 */
    bool is_in[METRIC_SETS];
};

struct metrics {
    struct metric *at;
    size_t n;
    size_t n_stored; /* those before n that are not derived, which stand first */
    size_t n_hidden; /* metrics behind those that are not kept themselves, but their sums are */
    enum metric_set set;
};

/* How rows are ordered: by a cost, descending, or by name and line, ascending. */
struct sorting {
    bool by_name;
    bool is_reversed;
    size_t metric;
    enum cost_part part;
};

/* A metric without values. */
struct metric metric_new(const char *name);

/* Appends a metric without values, and why there are none; the texts must outlive it. */
void metrics_add_unmeasured(struct metrics *metrics, const char *name, const char *unit,
                            const char *why);

/* Appends a sum of others, which are to name it in `sum`; takes ownership of the name. Returns its
 * index. */
size_t metrics_add_sum(struct metrics *metrics, char *name, const char *unit);

static inline bool metric_is_compared(const struct metric *metric)
{
    return metric->sides[0] != METRIC_ABSENT;
}

static inline bool metric_is_sum(const struct metric *metric)
{
    return metric->sum_name != NULL;
}

/* Whether values of scopes add up, so that it makes sense to speak of a share in the program's. */
static inline bool metric_is_additive(const struct metric *metric)
{
    return !metric->is_ratio;
}

/* Whether its values are added to those of its sum; a kind is in what it is a kind of. */
static inline bool metric_is_added(const struct metric *metric)
{
    return metric->sum != METRIC_ABSENT && !metric->kind;
}

/* The first metric that is shown among those from `from` on, or metrics->n. */
static inline size_t metrics_shown(const struct metrics *metrics, size_t from)
{
    while (from < metrics->n && !metrics->at[from].is_in[metrics->set])
        from++;
    return from;
}

/* How many metrics are shown. */
static inline size_t metrics_n_shown(const struct metrics *metrics)
{
    size_t n = 0;
    for (size_t m = metrics_shown(metrics, 0); m < metrics->n; m = metrics_shown(metrics, m + 1))
        n++;
    return n;
}

/* Whether it has a share in effort, the one sum that there is, or is that sum: its percentages are
 * then of the whole program's effort. */
static inline bool metric_is_of_effort(const struct metric *metric)
{
    return metric_is_sum(metric) || metric->sum != METRIC_ABSENT || metric->compares_effort;
}

/* The metric whose total is what percentages of a metric refer to. */
static inline size_t metrics_whole(const struct metrics *metrics, size_t metric)
{
    if (metrics->at[metric].whole != METRIC_ABSENT)
        return (size_t)metrics->at[metric].whole;
    int sum = metrics->at[metric].sum;
    return sum == METRIC_ABSENT ? metric : (size_t)sum;
}

/* The unit that others know of it; ignored when empty. */
void metric_set_unit(struct metric *metric, const char *unit);

/* Gives a metric a state; `why` (NULL for METRIC_MEASURED) must outlive it. */
static inline void metric_set_state(struct metric *metric, enum metric_state state, const char *why)
{
    metric->state = state;
    metric->why = why;
}

/* Whether it has values, if only lower bounds. */
static inline bool metric_is_measured(const struct metric *metric)
{
    return metric->state != METRIC_NOT_MEASURED;
}

static inline bool metric_is_lower_bound(const struct metric *metric)
{
    return metric->state == METRIC_LOWER_BOUND;
}

/* "measured", "lower bound", "not measurable": as in run.json. */
const char *metric_state_name(enum metric_state state);

/* The state of that name; METRIC_MEASURED for one that is unknown. */
enum metric_state metric_state_of(const char *name);

/* Whether inclusive and exclusive costs of every kind of scope stand in the summary profile, or
 * follow from others that do. */
bool metric_is_complete(const struct metric *metric);

/* Whether columns of the metric say something: those of what was not measured and copies of work do
 * not, unless the user asked for them. */
static inline bool metric_says_something(const struct metric *metric)
{
    bool is_wanted = metric->is_asked_for || metric->derivation;
    return is_wanted || (metric_is_measured(metric) && !metric->repeats_work);
}

/* Whether the metric has columns for people unless they choose otherwise. Files for programs have
 * all metrics that are shown. */
static inline bool metric_has_columns(const struct metric *metric)
{
    return metric_says_something(metric) && !metric->is_aside;
}

/* The first metric from `from` on that is shown and has columns, or metrics->n; overhead by kind
 * has been asked for. */
static inline size_t metrics_with_columns(const struct metrics *metrics, size_t from)
{
    size_t m = metrics_shown(metrics, from);
    while (m < metrics->n && metrics->set != SET_KINDS && !metric_has_columns(&metrics->at[m]))
        m = metrics_shown(metrics, m + 1);
    return m;
}

/* The index of the metric of that name, or metrics->n. */
size_t metrics_find(const struct metrics *metrics, const char *name);

/* The index of the first metric that was measured, if possible of those shown; 0 when none was. */
size_t metrics_first_measured(const struct metrics *metrics);
/* The same of those that have shares in the program's. */
size_t metrics_first_additive(const struct metrics *metrics);

/* Appends a derived metric, which is as yet without a formula that was understood; takes ownership
 * of the derivation. Those that are hidden move. */
void metrics_add_derived(struct metrics *metrics, struct derivation *derivation);

/* Takes the last metric away again, which is derived. */
void metrics_drop_last(struct metrics *metrics);

/* Keeps the metrics chosen[0..n_chosen), in that order but derived ones behind the others, and
 * hidden those of which the chosen sums are made. Which of them are shown is to be said in `is_in`.
 */
void metrics_keep(struct metrics *metrics, const size_t *chosen, size_t n_chosen);

void metrics_free(struct metrics *metrics);

#endif

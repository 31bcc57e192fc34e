/* Metrics: what their values mean, and where these come from.
 *
 * Metrics with values of their own are *stored*; arrays of costs have room for these only. They
 * come first. Derived metrics come after them: they are computed on demand (derived.h), so that
 * one can be added at any time. */
#ifndef VIEWER_METRIC_H
#define VIEWER_METRIC_H

#include "viewer-tui/metrics/formula.h"

#include <stdbool.h>
#include <stddef.h>

/* Propagation scopes: which costs of contexts below a value includes (doc/FORMAT-database.md). */
enum metric_scope {
    METRIC_POINT,
    METRIC_FUNCTION,
    METRIC_LEX_AWARE,
    METRIC_EXECUTION,
    METRIC_SCOPES
};

/* Which metrics are shown. */
enum metric_set {
    SET_CHOSEN, /* what the user chose, or the usual ones */
    SET_KINDS,  /* overhead and its kinds */
    METRIC_SETS
};

/* Reliability of a metric's values: the states of run.json. */
enum metric_state {
    METRIC_MEASURED,
    METRIC_LOWER_BOUND, /* "lower bound": the true value is this or more */
    METRIC_NOT_MEASURED /* "not measurable": there are no values */
};

/* No metric id, or no index of a metric. */
#define METRIC_ABSENT (-1)

/* Databases in a comparison. */
#define SIDES 2

/* Where the values of a metric come from: the member of the union in struct metric. */
enum metric_source {
    METRIC_FROM_FILE, /* ids: from the files of a database, if they are there */
    METRIC_SUM,       /* sum_name: the sum of the metrics that name it in `sum` */
    METRIC_COMPARED,  /* compared: from the same metric of two databases */
    METRIC_DERIVED    /* derived: computed by a formula */
};

/* Ids of the values of a metric, by scope; METRIC_ABSENT if a scope has none. */
struct metric_ids {
    int summary[METRIC_SCOPES]; /* of the sums over all threads in the summary profile */
    int thread[METRIC_SCOPES];  /* in the profiles of threads */
};

/* The columns of a metric of a comparison; the last one only of repeated runs, and after those of all metrics. */
enum merged_column {
    MERGED_LEFT,
    MERGED_RIGHT,
    MERGED_DIFFERENCE,
    MERGED_RATIO,
    MERGED_COLUMNS,
    MERGED_UNCERTAINTY = MERGED_COLUMNS
};

/* A column of a comparison. */
struct metric_comparison {
    enum merged_column column;
    size_t quantity;     /* what is compared (compare/merged-runs.h) */
    size_t sides[SIDES]; /* indices of the two metrics that are compared; one may be this one */
    int whole;           /* index of the metric whose total is 100 %; METRIC_ABSENT: that of its sum, or
                            its own */
    const char *called; /* name of the metric whose values these are, if it is another; else NULL */
    bool is_sum;        /* of one side, it is a sum */
    bool is_of_effort;  /* its percentages are of one side's effort */
};

/* The definition of a derived metric. */
struct derivation {
    char *name, *text; /* "waste", "waste [s] = $idleness + $overhead" */
    size_t formula_at; /* offset of the formula in the text */
    struct formula formula;
    uint64_t needs; /* derived metrics that it depends on: bit 0 is the first one */
    char *why;      /* reason of its state (struct metric); NULL if it is measured */
};

/* A part of overhead, by the tags in the runtime's source: "overhead:spawn (CPUTIME)". */
struct overhead_kind {
    const char *name; /* the part of the metric's name that begins with "spawn"; NULL: no kind */
    int length;       /* of "spawn" */
    int overhead;     /* index of the metric of overhead; METRIC_ABSENT: no kind, or not shown */
};

/* What a metric is, found in its name once (metric_new): "overhead:spawn (CPUTIME) difference" is the quantity
 * "overhead:spawn" of the event " (CPUTIME)"; struct overhead_kind and struct metric_comparison have the rest. */
struct metric_identity {
    int quantity; /* its length */
    int event;    /* its length, with the blank and parentheses; 0: the name has none */
};

struct metric {
    const char *name; /* owned by the source, or by the caller */
    struct metric_identity of;
    char unit[UNIT_SIZE]; /* "s", "count", or what stands in parentheses in the name */
    enum metric_state state;
    const char *why; /* reason why it is not measured, or a lower bound; else NULL */
    double error;    /* the program's value is right within this; 0: nothing else is known but what chance does to
                        samples */
    bool bounds_total; /* only the program's value is a lower bound: those of contexts are parts of
                          one chain of strands, and another chain may be longer */
    enum metric_source source;
    union {
        struct metric_ids ids;
        char *sum_name; /* its name, owned */
        struct metric_comparison compared;
        struct derivation *derived; /* owned; metric_derivation */
    };
    int sum; /* index of the metric that it is a part of; METRIC_ABSENT */
    struct overhead_kind kind;
    bool is_ratio;     /* it does not add up: it has no percentages and may be undefined (NAN) */
    bool is_internal;  /* for the advice, formulas and JSON (metric_kind_of); never shown */
    bool is_aside;     /* views and text have no column of it by default: metric_is_set_aside decides */
    bool is_asked_for; /* the user named it */
    bool is_part_hidden[EXCLUSIVE + 1]; /* by cost_part: the user named the other one only */
    bool repeats_work; /* an effort of which only work is not 0; wall of serial code */
    bool is_zero;      /* measured, and 0 in the whole program */
    bool is_in[METRIC_SETS];
};

struct metrics {
    struct metric *at;
    size_t n;
    size_t n_stored; /* the first ones, which are not derived */
    size_t n_hidden; /* metrics after the first n: parts of sums that are shown */
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

/* Appends a metric without values; `why` says why there are none. The texts must outlive it. */
void metrics_add_unmeasured(struct metrics *metrics, const char *name, const char *unit,
                            const char *why);

/* Appends a sum and returns its index, which its parts must have in `sum`. Takes ownership of the
 * name. */
size_t metrics_add_sum(struct metrics *metrics, char *name, const char *unit);

static inline bool metric_is_compared(const struct metric *metric)
{
    return metric->source == METRIC_COMPARED;
}

/* The definition of a derived metric; NULL for others. */
static inline struct derivation *metric_derivation(const struct metric *metric)
{
    return metric->source == METRIC_DERIVED ? metric->derived : NULL;
}

/* The name of the metric whose values these are, if it is another; else NULL. */
static inline const char *metric_called(const struct metric *metric)
{
    return metric_is_compared(metric) ? metric->compared.called : NULL;
}

/* The ids of its values in the files; all are absent if it has none. */
const struct metric_ids *metric_ids(const struct metric *metric);

static inline bool metric_is_sum(const struct metric *metric)
{
    return metric->source == METRIC_SUM || (metric_is_compared(metric) && metric->compared.is_sum);
}

/* Whether values of rows add up, so that they are shares of the program's value. */
static inline bool metric_is_additive(const struct metric *metric)
{
    return !metric->is_ratio;
}

/* Whether its values are added to those of its sum. Those of a kind are a part of its overhead,
 * which is added. */
static inline bool metric_is_added(const struct metric *metric)
{
    return metric->sum != METRIC_ABSENT && !metric->kind.name;
}

/* Metrics with values of their own have slots: the stored ones, then the hidden ones, whose indices change when a
 * derived metric is added. */
static inline size_t metrics_slot(const struct metrics *metrics, size_t index)
{
    return index < metrics->n_stored ? index : metrics->n_stored + (index - metrics->n);
}

static inline size_t metrics_at_slot(const struct metrics *metrics, size_t slot)
{
    return slot < metrics->n_stored ? slot : metrics->n + (slot - metrics->n_stored);
}

/* The first metric that is shown among those from `from` on, or metrics->n. */
static inline size_t metrics_shown(const struct metrics *metrics, size_t from)
{
    while (from < metrics->n && !metrics->at[from].is_in[metrics->set])
        from++;
    return from;
}

/* The first metric that JSON has among those from `from` on, or metrics->n. */
static inline size_t metrics_in_json(const struct metrics *metrics, size_t from)
{
    while (from < metrics->n && !metrics->at[from].is_in[metrics->set] &&
           !metrics->at[from].is_internal)
        from++;
    return from;
}

/* A loop over the metrics that `next` finds: metrics_shown, metrics_in_json or metrics_with_columns. */
#define metrics_each(m, metrics, next)                                                             \
    for (size_t m = next(metrics, 0); m < (metrics)->n; m = next(metrics, m + 1))

/* How many metrics are shown. */
static inline size_t metrics_n_shown(const struct metrics *metrics)
{
    size_t n = 0;
    metrics_each (m, metrics, metrics_shown)
        n++;
    return n;
}

/* Whether it is effort (the only sum) or a part of it: its percentages are then of the program's
 * effort. */
static inline bool metric_is_of_effort(const struct metric *metric)
{
    return metric_is_sum(metric) || metric->sum != METRIC_ABSENT ||
           (metric_is_compared(metric) && metric->compared.is_of_effort);
}

/* The metric of whose total a metric's percentages are. */
static inline size_t metrics_whole(const struct metrics *metrics, size_t index)
{
    const struct metric *metric = &metrics->at[index];
    if (metric_is_compared(metric) && metric->compared.whole != METRIC_ABSENT)
        return (size_t)metric->compared.whole;
    return metric->sum == METRIC_ABSENT ? index : (size_t)metric->sum;
}

/* Sets the unit; ignored if empty. */
void metric_set_unit(struct metric *metric, const char *unit);

/* `why` (NULL for METRIC_MEASURED) must outlive the metric. */
static inline void metric_set_state(struct metric *metric, enum metric_state state, const char *why)
{
    metric->state = state;
    metric->why = why;
}

/* Whether it has values, exact or lower bounds. */
static inline bool metric_is_measured(const struct metric *metric)
{
    return metric->state != METRIC_NOT_MEASURED;
}

static inline bool metric_is_lower_bound(const struct metric *metric)
{
    return metric->state == METRIC_LOWER_BOUND;
}

/* Whether the value of each context is a lower bound. */
static inline bool metric_bounds_contexts(const struct metric *metric)
{
    return metric_is_lower_bound(metric) && !metric->bounds_total;
}

/* "measured", "lower bound", "not measurable": as in run.json. */
const char *metric_state_name(enum metric_state state);

/* The state with this name; METRIC_MEASURED if unknown. */
enum metric_state metric_state_of(const char *name);

/* Whether columns of the metric say something. Those of metrics that were not measured or are 0 and
 * copies of work do not, unless the user asked for them. */
static inline bool metric_says_something(const struct metric *metric)
{
    bool is_wanted = metric->is_asked_for || metric_derivation(metric);
    return is_wanted || (metric_is_measured(metric) && !metric->repeats_work && !metric->is_zero);
}

/* Whether views and text have columns of it only once the user shows them (in the list of columns, or by name). The
 * summary, the inspector, CSV and JSON have it nevertheless. */
static inline bool metric_is_set_aside(const struct metric *metric)
{
    return metric->is_aside && !metric->is_asked_for;
}

/* The first metric from `from` on that is shown and has columns in views and text by default, or metrics->n. CSV and
 * JSON have all that are shown. In SET_KINDS, which the user asked for, those that say nothing have columns, too. */
static inline size_t metrics_with_columns(const struct metrics *metrics, size_t from)
{
    size_t m = metrics_shown(metrics, from);
    while (m < metrics->n && (metric_is_set_aside(&metrics->at[m]) ||
                              (metrics->set != SET_KINDS && !metric_says_something(&metrics->at[m]))))
        m = metrics_shown(metrics, m + 1);
    return m;
}

/* The part that rows are sorted by: this one, unless it is hidden. */
static inline enum cost_part metric_part(const struct metric *metric, enum cost_part part)
{
    return metric->is_part_hidden[part] ? (part == INCLUSIVE ? EXCLUSIVE : INCLUSIVE) : part;
}

/* Whether it is a metric of that quantity, of any event. */
bool metric_is(const struct metric *metric, const char *quantity);

/* " (CPUTIME)", or "" if its name has no event. No metric of a comparison. */
static inline const char *metric_event(const struct metric *metric)
{
    return metric->name + metric->of.quantity;
}

/* The index of the metric of a quantity and an event, as metric_event returns it; metrics->n if there is none. */
size_t metrics_find_event(const struct metrics *metrics, const char *quantity, const char *event);

/* The index of the metric with this name, or metrics->n. */
size_t metrics_find(const struct metrics *metrics, const char *name);

/* The index of the measured metric with this name, or that of its first event, "work (REALTIME)";
 * metrics->n if there is none. */
size_t metrics_find_measured(const struct metrics *metrics, const char *name);

/* The index of the first metric that was measured, preferably one that is shown; 0 if none was. */
size_t metrics_first_measured(const struct metrics *metrics);
/* The same among additive metrics. */
size_t metrics_first_additive(const struct metrics *metrics);

/* Appends a derived metric whose formula has not been parsed yet. Takes ownership of the
 * derivation. Hidden metrics move. */
void metrics_add_derived(struct metrics *metrics, struct derivation *derivation);

/* Removes the last metric, which must be derived. */
void metrics_drop_last(struct metrics *metrics);

/* Keeps the metrics chosen[0 .. n_chosen-1], in this order, but derived ones last. Parts of chosen
 * sums are kept hidden. The caller sets `is_in`. */
void metrics_keep(struct metrics *metrics, const size_t *chosen, size_t n_chosen);

void metrics_free(struct metrics *metrics);

#endif

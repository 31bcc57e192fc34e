#include "viewer-tui/metrics/metric.h"

#include "lib/alloc.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ABSENT_SCOPES                                                                              \
    {                                                                                              \
        METRIC_ABSENT, METRIC_ABSENT, METRIC_ABSENT, METRIC_ABSENT                                 \
    }

static const struct metric_ids no_ids = {ABSENT_SCOPES, ABSENT_SCOPES};

/* The event is what stands in parentheses at the end. */
static struct metric_identity identify(const char *name)
{
    size_t length = strlen(name);
    const char *open = length && name[length - 1] == ')' ? strrchr(name, '(') : NULL;
    int event = open && open > name + 1 && open[-1] == ' ' ? (int)(name + length - open) + 1 : 0;
    return (struct metric_identity){(int)length - event, event};
}

struct metric metric_new(const char *name)
{
    struct metric metric = {.name = name, .of = identify(name)};
    metric.ids = no_ids;
    metric.sum = metric.kind.overhead = METRIC_ABSENT;
    return metric;
}

const struct metric_ids *metric_ids(const struct metric *metric)
{
    return metric->source == METRIC_FROM_FILE ? &metric->ids : &no_ids;
}

/* Inserts a metric at an index. */
static void insert(struct metrics *metrics, size_t at, struct metric metric)
{
    size_t n = metrics->n + metrics->n_hidden;
    metrics->at = mem_resize(metrics->at, n + 1, sizeof *metrics->at);
    memmove(metrics->at + at + 1, metrics->at + at, (n - at) * sizeof *metrics->at);
    metrics->at[at] = metric;
    metrics->n++;
}

void metrics_add_unmeasured(struct metrics *metrics, const char *name, const char *unit,
                            const char *why)
{
    struct metric metric = metric_new(name);
    metric_set_unit(&metric, unit); /* which may be that of another metric there */
    metric_set_state(&metric, METRIC_NOT_MEASURED, why);
    insert(metrics, metrics->n_stored++, metric);
}

void metrics_add_derived(struct metrics *metrics, struct derivation *derivation)
{
    struct metric metric = metric_new(derivation->name);
    metric.source = METRIC_DERIVED;
    metric.derived = derivation;
    insert(metrics, metrics->n, metric);
}

static void free_metric(struct metric *metric)
{
    struct derivation *derivation = metric_derivation(metric);
    if (metric->source == METRIC_SUM)
        free(metric->sum_name);
    if (!derivation)
        return;
    formula_free(&derivation->formula);
    free(derivation->name);
    free(derivation->text);
    free(derivation->why);
    free(derivation);
}

void metrics_drop_last(struct metrics *metrics)
{
    assert(metrics->n > metrics->n_stored);
    size_t last = --metrics->n;
    free_metric(&metrics->at[last]);
    memmove(metrics->at + last, metrics->at + last + 1, metrics->n_hidden * sizeof *metrics->at);
}

size_t metrics_add_sum(struct metrics *metrics, char *name, const char *unit)
{
    metrics_add_unmeasured(metrics, name, unit, NULL);
    metric_set_state(&metrics->at[metrics->n_stored - 1], METRIC_MEASURED, NULL);
    metrics->at[metrics->n_stored - 1].source = METRIC_SUM;
    metrics->at[metrics->n_stored - 1].sum_name = name;
    return metrics->n_stored - 1;
}

void metric_set_unit(struct metric *metric, const char *unit)
{
    if (*unit)
        snprintf(metric->unit, sizeof metric->unit, "%s", unit);
}

static const char *const state_names[] = {[METRIC_MEASURED] = "measured",
                                          [METRIC_LOWER_BOUND] = "lower bound",
                                          [METRIC_NOT_MEASURED] = "not measurable"};

const char *metric_state_name(enum metric_state state)
{
    return state_names[state];
}

enum metric_state metric_state_of(const char *name)
{
    for (int state = METRIC_MEASURED; state <= METRIC_NOT_MEASURED; state++)
        if (strcmp(name, state_names[state]) == 0)
            return (enum metric_state)state;
    return METRIC_MEASURED;
}

size_t metrics_find(const struct metrics *metrics, const char *name)
{
    size_t i = 0;
    while (i < metrics->n && strcmp(metrics->at[i].name, name) != 0)
        i++;
    return i;
}

bool metric_is(const struct metric *metric, const char *quantity)
{
    return strncmp(metric->name, quantity, (size_t)metric->of.quantity) == 0 && !quantity[metric->of.quantity];
}

size_t metrics_find_event(const struct metrics *metrics, const char *quantity, const char *event)
{
    size_t i = 0;
    while (i < metrics->n &&
           (!metric_is(&metrics->at[i], quantity) || strcmp(metric_event(&metrics->at[i]), event) != 0))
        i++;
    return i;
}

size_t metrics_find_measured(const struct metrics *metrics, const char *name)
{
    for (size_t m = 0; m < metrics->n_stored; m++)
        if (metric_is(&metrics->at[m], name) && metric_is_measured(&metrics->at[m]))
            return m;
    return metrics->n;
}

static size_t first_measured(const struct metrics *metrics, bool is_additive)
{
    size_t first = metrics->n;
    for (size_t m = metrics->n; m-- > 0;) {
        const struct metric *metric = &metrics->at[m];
        if (!metric_is_measured(metric) || (is_additive && !metric_is_additive(metric)))
            continue;
        bool first_is_shown = first < metrics->n && metrics->at[first].is_in[metrics->set];
        if (metric->is_in[metrics->set] || !first_is_shown)
            first = m;
    }
    return first < metrics->n ? first : 0;
}

size_t metrics_first_measured(const struct metrics *metrics)
{
    return first_measured(metrics, false);
}

size_t metrics_first_additive(const struct metrics *metrics)
{
    return first_measured(metrics, true);
}

/* Keeps the chosen metrics that are derived, or those that are not. */
static void keep_chosen(const struct metrics *metrics, const size_t *chosen, size_t n_chosen,
                        bool is_derived, struct metrics *kept, int *new_index)
{
    for (size_t i = 0; i < n_chosen; i++) {
        if ((metrics->at[chosen[i]].source == METRIC_DERIVED) != is_derived)
            continue;
        new_index[chosen[i]] = (int)kept->n;
        kept->at[kept->n++] = metrics->at[chosen[i]];
    }
}

void metrics_keep(struct metrics *metrics, const size_t *chosen, size_t n_chosen)
{
    autofree int *new_index = mem_alloc((metrics->n + 1) * sizeof *new_index);
    struct metrics kept = {.at = mem_alloc((metrics->n + 1) * sizeof *kept.at)};
    for (size_t m = 0; m < metrics->n; m++)
        new_index[m] = METRIC_ABSENT;
    keep_chosen(metrics, chosen, n_chosen, false, &kept, new_index);
    kept.n_stored = kept.n;
    keep_chosen(metrics, chosen, n_chosen, true, &kept, new_index);
    for (size_t m = 0; m < metrics->n; m++) {
        struct metric *metric = &metrics->at[m];
        bool is_needed = metric_is_added(metric) && new_index[metric->sum] != METRIC_ABSENT;
        if (new_index[m] == METRIC_ABSENT && is_needed)
            kept.at[kept.n + kept.n_hidden++] = *metric;
        else if (new_index[m] == METRIC_ABSENT)
            free_metric(metric);
    }
    for (size_t m = 0; m < kept.n + kept.n_hidden; m++) {
        struct metric *metric = &kept.at[m];
        if (metric->sum != METRIC_ABSENT)
            metric->sum = new_index[metric->sum];
        if (metric->kind.overhead != METRIC_ABSENT)
            metric->kind.overhead = new_index[metric->kind.overhead];
    }
    free(metrics->at);
    *metrics = kept;
}

void metrics_free(struct metrics *metrics)
{
    for (size_t m = 0; m < metrics->n + metrics->n_hidden; m++)
        free_metric(&metrics->at[m]);
    free(metrics->at);
    *metrics = (struct metrics){0};
}

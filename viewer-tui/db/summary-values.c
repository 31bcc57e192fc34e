#include "viewer-tui/db/summary-values.h"

#include "lib/alloc.h"
#include "lib/binary-search.h"
#include "viewer-tui/base/task.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define METRIC_IDS 65536

bool values_map(struct values *values, const struct v4_map *profile,
                const struct v4_context_values *block)
{
    *values = (struct values){
        .path = profile->path, .n_index = block->n_contexts, .n_values = block->n_values};
    values->values = v4_array(profile, block->values, block->n_values, sizeof *values->values, 2);
    values->index = v4_array(profile, block->contexts, block->n_contexts, sizeof *values->index, 4);
    if (values->values && values->index)
        return true;
    problem_found(profile->path, "corrupt: values lie outside of the file");
    return false;
}

static bool is_in_order(const struct values *values)
{
    for (uint64_t i = 0; i < values->n_index; i++) {
        const struct v4_context_index *entry = &values->index[i];
        if (entry->start > values->n_values)
            return false;
        if (i > 0 && (entry->context_id <= entry[-1].context_id || entry->start < entry[-1].start))
            return false;
    }
    return true;
}

bool values_open(struct values *values, const struct v4_map *profile,
                 const struct v4_context_values *block)
{
    if (!values_map(values, profile, block))
        return false;
    if (is_in_order(values))
        return true;
    problem_found(profile->path, "corrupt: the index of contexts is not in order");
    return false;
}

void values_set_metrics(struct values *values, const struct metrics *metrics)
{
    if (!values->roles)
        values->roles = mem_alloc(METRIC_IDS * sizeof *values->roles);
    for (size_t id = 0; id < METRIC_IDS; id++)
        values->roles[id].metric = values->roles[id].sum = METRIC_ABSENT;
    for (size_t m = 0; m < metrics->n + metrics->n_hidden; m++)
        for (int scope = 0; scope < METRIC_SCOPES; scope++) {
            const struct metric *metric = &metrics->at[m];
            int id = metric_ids(metric)->summary[scope];
            int32_t shown = m < metrics->n ? (int32_t)m : METRIC_ABSENT;
            if (id != METRIC_ABSENT)
                values->roles[id] = (struct metric_role){
                    shown, metric_is_added(metric) ? metric->sum : METRIC_ABSENT,
                    (enum metric_scope)scope};
        }
    values->n_metrics = metrics->n_stored;
}

void values_replace(struct values *values, struct v4_context_index *index, uint64_t n_index,
                    struct v4_metric_value *table, uint64_t n_values)
{
    free(values->owned_index);
    free(values->owned_values);
    values->index = values->owned_index = index;
    values->n_index = n_index;
    values->values = values->owned_values = table;
    values->n_values = n_values;
}

void values_close(struct values *values)
{
    free(values->owned_index);
    free(values->owned_values);
    free(values->roles);
    *values = (struct values){0};
}

/* The first position in [low, high) whose context is not below `context`, or high. */
static uint64_t first_from(const struct values *values, uint32_t context, uint64_t low,
                           uint64_t high)
{
    return low + partition_point(i, high - low, values->index[low + i].context_id < context);
}

/* Contexts that are read one after the other often have ids that are close: strides that double
 * find the interval in which to search. */
uint64_t values_position(const struct values *values, uint32_t context, uint64_t near)
{
    const struct v4_context_index *index = values->index;
    uint64_t n = values->n_index;
    uint64_t low = near < n ? near : 0;
    if (low < n && index[low].context_id == context)
        return low;
    if (n == 0 || context < index[low].context_id) {
        low = first_from(values, context, 0, low);
    } else {
        uint64_t stride = 1;
        while (stride < n - low && index[low + stride].context_id < context) {
            low += stride;
            stride *= 2;
        }
        low = first_from(values, context, low, stride < n - low ? low + stride + 1 : n);
    }
    return low < n && index[low].context_id == context ? low : NO_POSITION;
}

const struct v4_metric_value *values_at(const struct values *values, uint64_t position, size_t *n)
{
    *n = 0;
    if (position == NO_POSITION)
        return NULL;
    assert(position < values->n_index);
    bool is_last = position + 1 == values->n_index;
    uint64_t start = values->index[position].start;
    uint64_t end = is_last ? values->n_values : values->index[position + 1].start;
    if (start > end || end > values->n_values)
        return NULL;
    *n = end - start;
    return values->values + start;
}

static double sound_value(const struct values *values, const struct v4_metric_value *at)
{
    if (isfinite(at->value))
        return at->value;
    problem_found(values->path, "corrupt: a value is not a number");
    return 0;
}

static void add_cost(struct cost *cost, bool is_inclusive, double value)
{
    if (is_inclusive)
        cost->inclusive += value;
    else
        cost->exclusive += value;
}

void values_fetch(const struct values *values, uint64_t position, bool is_loop, struct cost *costs)
{
    assert(values->roles); /* values_set_metrics */
    memset(costs, 0, values->n_metrics * sizeof *costs);
    enum metric_scope exclusive = is_loop ? METRIC_LEX_AWARE : METRIC_FUNCTION;
    size_t n;
    const struct v4_metric_value *at = values_at(values, position, &n);
    for (; n > 0; n--, at++) {
        const struct metric_role *role = &values->roles[at->metric_id];
        bool is_inclusive = role->scope == METRIC_EXECUTION;
        if (!is_inclusive && role->scope != exclusive)
            continue;
        if (role->metric != METRIC_ABSENT)
            add_cost(&costs[role->metric], is_inclusive, sound_value(values, at));
        if (role->sum != METRIC_ABSENT)
            add_cost(&costs[role->sum], is_inclusive, sound_value(values, at));
    }
}

double values_get(const struct values *values, uint64_t position, int metric_id)
{
    size_t n;
    const struct v4_metric_value *at = values_at(values, position, &n);
    for (; n > 0; n--, at++)
        if (at->metric_id == metric_id)
            return sound_value(values, at);
    return 0;
}

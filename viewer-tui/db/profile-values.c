#include "viewer-tui/db/profile-values.h"

#include "lib/binary-search.h"
#include "viewer-tui/base/task.h"

#include <assert.h>
#include <math.h>

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

/* The first position in [low, high) whose context is not below `context`, or high. */
static uint64_t first_from(const struct values *values, uint32_t context, uint64_t low,
                           uint64_t high)
{
    return low + partition_point(i, high - low, values->index[low + i].context_id < context);
}

/* Contexts that are read one after the other often have ids that are close: strides that double
 * find the interval in which to search. */
uint64_t values_position_from(const struct values *values, uint32_t context, uint64_t near)
{
    const struct v4_context_index *index = values->index;
    uint64_t n = values->n_index;
    uint64_t low = near < n ? near : 0, stride = 1;
    if (low < n && index[low].context_id == context)
        return low;
    if (n == 0 || context < index[low].context_id)
        return first_from(values, context, 0, low);
    while (stride < n - low && index[low + stride].context_id < context) {
        low += stride;
        stride *= 2;
    }
    return first_from(values, context, low, stride < n - low ? low + stride + 1 : n);
}

uint64_t values_position(const struct values *values, uint32_t context, uint64_t near)
{
    uint64_t from = values_position_from(values, context, near);
    return from < values->n_index && values->index[from].context_id == context ? from : NO_POSITION;
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

double values_get(const struct values *values, uint64_t position, int metric_id)
{
    size_t n;
    const struct v4_metric_value *at = values_at(values, position, &n);
    for (; n > 0; n--, at++)
        if (at->metric_id == metric_id) {
            if (!isfinite(at->value))
                problem_found(values->path, "corrupt: a value is not a number");
            return isfinite(at->value) ? at->value : 0;
        }
    return 0;
}

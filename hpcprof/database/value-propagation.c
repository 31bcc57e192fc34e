#include "hpcprof/database/value-propagation.h"

#include <stdlib.h>
#include <string.h>

typedef unsigned __int128 wide;

/* What the children of an open context have handed up, for one metric; then the context's own. */
struct scope_sums {
    wide point, function, without_loops, execution;
};

/* The values of one context, found from the last context to the first. */
struct value_group {
    uint32_t context;
    size_t first, count; /* in scratch->values */
};

static bool is_loop(const struct context *context)
{
    return context->kind == CONTEXT_LOOP || context->kind == CONTEXT_LOOP_AT;
}

static bool is_called(const struct context *context)
{
    return context->kind != CONTEXT_LINE && !is_loop(context);
}

static void add_value(struct values_scratch *scratch, const struct event *event, size_t metric,
                      enum propagation_scope scope, wide amount)
{
    if (amount == 0)
        return;
    const struct v4_metric_value value = {
        .metric_id = (uint16_t)(PROPAGATIONS * metric + scope),
        .value = event_amount(event, amount),
    };
    vec_push(&scratch->values, value);
}

static void add_values(struct values_scratch *scratch, const struct inputs *inputs,
                       const struct context *context, uint32_t id, const struct scope_sums *sums)
{
    struct value_group group = {.context = id, .first = scratch->values.n};
    for (size_t metric = 0; metric < inputs->metrics.n; metric++) {
        const struct event *event = &inputs->events.at[inputs->metrics.at[metric].event];
        const struct scope_sums *s = &sums[metric];
        add_value(scratch, event, metric, PROPAGATE_POINT, s->point);
        add_value(scratch, event, metric, PROPAGATE_FUNCTION, s->function);
        add_value(scratch, event, metric, PROPAGATE_LEX_AWARE,
                  is_loop(context) ? s->without_loops : s->function);
        add_value(scratch, event, metric, PROPAGATE_EXECUTION, s->execution);
    }
    group.count = scratch->values.n - group.first;
    if (group.count)
        vec_push(&scratch->groups, group);
}

static void hand_up(struct scope_sums *parent, const struct scope_sums *sums, size_t metrics,
                    const struct context *context)
{
    for (size_t metric = 0; metric < metrics; metric++) {
        parent[metric].execution += sums[metric].execution;
        if (is_called(context))
            continue;
        parent[metric].function += sums[metric].function;
        if (!is_loop(context))
            parent[metric].without_loops += sums[metric].without_loops;
    }
}

/* Marks all contexts that have an amount at or below them. */
static void mark_needed(struct values_scratch *scratch, const struct contexts *contexts)
{
    size_t words = contexts->n / 64 + 1;
    if (scratch->needed.n < words) {
        vec_reserve(&scratch->needed, words - scratch->needed.n);
        scratch->needed.n = words;
        memset(scratch->needed.at, 0, words * sizeof *scratch->needed.at);
    }
    for (size_t i = 0; i < scratch->amounts.n; i++) {
        uint32_t id = scratch->amounts.at[i].context;
        while (!(scratch->needed.at[id / 64] >> (id % 64) & 1)) {
            scratch->needed.at[id / 64] |= (uint64_t)1 << (id % 64);
            id = contexts->at[id].parent;
        }
    }
}

/* Visits the needed contexts from the last to the first: descendants of a context come before it,
 * and what its children have handed up waits at its depth. */
static void propagate(struct values_scratch *scratch, const struct contexts *contexts,
                      const struct inputs *inputs)
{
    size_t metrics = inputs->metrics.n, levels = ((size_t)contexts->max_depth + 1) * metrics;
    scratch->levels.n = 0;
    vec_reserve(&scratch->levels, levels);
    if (levels)
        memset(scratch->levels.at, 0, levels * sizeof *scratch->levels.at);
    scratch->values.n = scratch->groups.n = 0;
    mark_needed(scratch, contexts);
    const struct amount *left = scratch->amounts.at + scratch->amounts.n;
    for (size_t word = contexts->n / 64 + 1; word-- > 0;) {
        for (uint64_t bits; (bits = scratch->needed.at[word]) != 0;) {
            unsigned bit = 63 - (unsigned)__builtin_clzll(bits);
            scratch->needed.at[word] = bits & ~((uint64_t)1 << bit);
            uint32_t id = (uint32_t)(word * 64 + bit);
            const struct context *context = &contexts->at[id];
            struct scope_sums *sums = &scratch->levels.at[contexts->depth[id] * metrics];
            for (; left > scratch->amounts.at && left[-1].context == id; left--) {
                struct scope_sums *own = &sums[left[-1].metric];
                own->point += left[-1].amount;
                own->function += left[-1].amount;
                own->without_loops += left[-1].amount;
                own->execution += left[-1].amount;
            }
            add_values(scratch, inputs, context, id, sums);
            if (id != CONTEXT_ROOT)
                hand_up(sums - metrics, sums, metrics, context);
            memset(sums, 0, metrics * sizeof *sums);
        }
    }
}

/* Brings the groups into the order of the database. */
static void take_block(struct value_block *block, const struct values_scratch *scratch)
{
    block->values.n = block->contexts.n = 0;
    vec_reserve(&block->values, scratch->values.n);
    vec_reserve(&block->contexts, scratch->groups.n);
    for (size_t i = scratch->groups.n; i-- > 0;) {
        const struct value_group *group = &scratch->groups.at[i];
        const struct v4_context_index index = {.context_id = group->context,
                                               .start = block->values.n};
        vec_push(&block->contexts, index);
        memcpy(&block->values.at[block->values.n], &scratch->values.at[group->first],
               group->count * sizeof *block->values.at);
        block->values.n += group->count;
    }
}

static int by_context(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    return (x->context > y->context) - (x->context < y->context);
}

void values_of_profile(struct value_block *block, struct values_scratch *scratch,
                       const struct contexts *contexts, const struct inputs *inputs,
                       struct profile *profile)
{
    if (profile->points.n)
        qsort(profile->points.at, profile->points.n, sizeof *profile->points.at, by_context);
    scratch->amounts.n = 0;
    for (size_t i = 0; i < profile->points.n; i++) {
        const struct point *point = &profile->points.at[i];
        const struct amount amount = {
            .context = point->context, .metric = point->metric, .amount = point->amount};
        vec_push(&scratch->amounts, amount);
    }
    propagate(scratch, contexts, inputs);
    take_block(block, scratch);
}

/* The sums of all profiles at the contexts that have any: row r, metric m is at[r * metrics + m].
 */
static wide *sum_points(const struct contexts *contexts, size_t metrics, const struct fused *fused,
                        uint32_t *row_of)
{
    uint32_t rows = 0;
    for (size_t i = 0; i < fused->profiles.n; i++)
        for (size_t k = 0; k < fused->profiles.at[i].points.n; k++)
            row_of[fused->profiles.at[i].points.at[k].context] = 1;
    for (size_t i = 0; i < contexts->n; i++)
        row_of[i] = row_of[i] ? rows++ : PROGRAM_NONE;
    wide *sums = mem_alloc(rows * metrics * sizeof *sums);
    for (size_t i = 0; i < fused->profiles.n; i++)
        for (size_t k = 0; k < fused->profiles.at[i].points.n; k++) {
            const struct point *point = &fused->profiles.at[i].points.at[k];
            sums[row_of[point->context] * metrics + point->metric] += point->amount;
        }
    return sums;
}

void values_of_all(struct value_block *block, struct values_scratch *scratch,
                   const struct contexts *contexts, const struct inputs *inputs,
                   const struct fused *fused)
{
    size_t metrics = inputs->metrics.n;
    uint32_t *row_of = mem_alloc(contexts->n * sizeof *row_of);
    wide *sums = sum_points(contexts, metrics, fused, row_of);
    scratch->amounts.n = 0;
    for (uint32_t id = 0; id < contexts->n; id++)
        for (uint32_t metric = 0; row_of[id] != PROGRAM_NONE && metric < metrics; metric++) {
            const struct amount amount = {
                .context = id, .metric = metric, .amount = sums[row_of[id] * metrics + metric]};
            if (amount.amount)
                vec_push(&scratch->amounts, amount);
        }
    free(sums);
    free(row_of);
    propagate(scratch, contexts, inputs);
    take_block(block, scratch);
}

void value_block_free(struct value_block *block)
{
    vec_free(&block->values);
    vec_free(&block->contexts);
}

void values_scratch_free(struct values_scratch *scratch)
{
    vec_free(&scratch->needed);
    vec_free(&scratch->levels);
    vec_free(&scratch->values);
    vec_free(&scratch->groups);
    vec_free(&scratch->amounts);
}

#include "hpcprof/database/value-propagation.h"

#include "hpcprof/team/team.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned __int128 wide;

/* The sums of one metric in a context: first those of its children, then its own costs are
 * added. */
struct scope_sums {
    wide point, function, without_loops, execution;
};

static bool is_called(const struct context *context)
{
    return context->kind != CONTEXT_LINE && !context_is_loop(context);
}

static void add_value(struct value_block *block, const struct event *event, size_t metric,
                      enum propagation_scope scope, wide amount)
{
    if (amount == 0)
        return;
    const struct v4_metric_value value = {
        .metric_id = (uint16_t)(PROPAGATIONS * metric + scope),
        .value = event_amount(event, amount),
    };
    vec_push(&block->values, value);
}

static void add_values(struct value_block *block, const struct metric_table *metrics,
                       const struct context *context, uint32_t id, const struct scope_sums *sums)
{
    const struct v4_context_index index = {.context_id = id, .start = block->values.n};
    for (size_t metric = 0; metric < metrics->all.n; metric++) {
        const struct event *event = metric_event(metrics, &metrics->all.at[metric]);
        const struct scope_sums *s = &sums[metric];
        add_value(block, event, metric, PROPAGATE_POINT, s->point);
        add_value(block, event, metric, PROPAGATE_FUNCTION, s->function);
        add_value(block, event, metric, PROPAGATE_LEX_AWARE,
                  context_is_loop(context) ? s->without_loops : s->function);
        add_value(block, event, metric, PROPAGATE_EXECUTION, s->execution);
    }
    if (block->values.n > index.start)
        vec_push(&block->contexts, index);
}

static void add_to_parent(struct scope_sums *parent, const struct scope_sums *sums,
                          size_t n_metrics, const struct context *context)
{
    for (size_t metric = 0; metric < n_metrics; metric++) {
        parent[metric].execution += sums[metric].execution;
        if (is_called(context))
            continue;
        parent[metric].function += sums[metric].function;
        if (!context_is_loop(context))
            parent[metric].without_loops += sums[metric].without_loops;
    }
}

/* Marks all contexts with a sum at or below them. */
static void mark_needed(struct values_scratch *scratch, const struct numbered_contexts *contexts)
{
    size_t words = contexts->n / 64 + 1;
    if (scratch->needed.n < words) {
        vec_reserve(&scratch->needed, words - scratch->needed.n);
        scratch->needed.n = words;
        memset(scratch->needed.at, 0, words * sizeof *scratch->needed.at);
    }
    for (size_t i = 0; i < scratch->sums.n; i++) {
        uint32_t id = scratch->sums.at[i].context;
        while (!(scratch->needed.at[id / 64] >> (id % 64) & 1)) {
            scratch->needed.at[id / 64] |= (uint64_t)1 << (id % 64);
            id = contexts->at[id].parent;
        }
    }
}

/* Adds the costs of context `id`, the last of those left, to its sums. */
static void add_own_costs(const struct values_scratch *scratch, const struct cost_sum **left,
                          uint32_t id, struct scope_sums *sums)
{
    for (; *left > scratch->sums.at && (*left)[-1].context == id; --*left) {
        struct scope_sums *own = &sums[(*left)[-1].metric];
        own->point += (*left)[-1].amount;
        own->function += (*left)[-1].amount;
        own->without_loops += (*left)[-1].amount;
        own->execution += (*left)[-1].amount;
    }
}

/* Visits the needed contexts from the last to the first, so that descendants come before their
 * ancestors. levels[d] holds the sums of the children seen so far of the next context at depth
 * d. The block then has the contexts in descending order. */
static void propagate(struct value_block *block, struct values_scratch *scratch,
                      const struct numbered_contexts *contexts, const struct metric_table *metrics)
{
    size_t n_metrics = metrics->all.n, levels = ((size_t)contexts->max_depth + 1) * n_metrics;
    scratch->levels.n = 0;
    vec_reserve(&scratch->levels, levels);
    if (levels)
        memset(scratch->levels.at, 0, levels * sizeof *scratch->levels.at);
    block->values.n = block->contexts.n = 0;
    mark_needed(scratch, contexts);
    const struct cost_sum *left = scratch->sums.at + scratch->sums.n;
    for (size_t word = contexts->n / 64 + 1; word-- > 0;) {
        for (uint64_t bits; (bits = scratch->needed.at[word]) != 0;) {
            unsigned bit = 63 - (unsigned)__builtin_clzll(bits);
            scratch->needed.at[word] = bits & ~((uint64_t)1 << bit);
            uint32_t id = (uint32_t)(word * 64 + bit);
            const struct context *context = &contexts->at[id];
            struct scope_sums *sums = &scratch->levels.at[contexts->depth[id] * n_metrics];
            add_own_costs(scratch, &left, id, sums);
            add_values(block, metrics, context, id, sums);
            if (id != CONTEXT_ROOT)
                add_to_parent(sums - n_metrics, sums, n_metrics, context);
            memset(sums, 0, n_metrics * sizeof *sums);
        }
    }
}

static void reverse_values(struct v4_metric_value *values, size_t begin, size_t end)
{
    while (begin + 1 < end) {
        struct v4_metric_value last = values[--end];
        values[end] = values[begin];
        values[begin++] = last;
    }
}

/* Brings the contexts into the order of the database, ascending, in place: a block may have most of the
 * memory. The values of each context stay in their order. */
static void reverse_block(struct value_block *block)
{
    size_t n = block->values.n, count = block->contexts.n;
    reverse_values(block->values.at, 0, n);
    for (size_t i = 0; i < count; i++) {
        struct v4_context_index *index = &block->contexts.at[i];
        size_t begin = index->start, end = i + 1 < count ? index[1].start : n;
        index->start = n - end;
        reverse_values(block->values.at, n - end, n - begin);
    }
    for (size_t i = 0; i < count / 2; i++) {
        struct v4_context_index last = block->contexts.at[count - 1 - i];
        block->contexts.at[count - 1 - i] = block->contexts.at[i];
        block->contexts.at[i] = last;
    }
}

void values_of_profile(struct value_block *block, struct values_scratch *scratch,
                       const struct numbered_contexts *contexts, const struct metric_table *metrics,
                       const struct profile *profile)
{
    scratch->sums.n = 0;
    for (size_t i = 0; i < profile->costs.n; i++) {
        const struct cost *cost = &profile->costs.at[i];
        assert(cost->context < contexts->n && cost->metric < metrics->all.n);
        const struct cost_sum sum = {
            .context = cost->context, .metric = cost->metric, .amount = cost->amount};
        vec_push(&scratch->sums, sum);
    }
    propagate(block, scratch, contexts, metrics);
    reverse_block(block);
}

/* Returns the sums of all profiles; that of a context and metric is at row_of[context] * n_metrics
 * + metric. Contexts without costs have the row NO_SYMBOL. The caller frees. */
static wide *sum_costs(const struct numbered_contexts *contexts, size_t n_metrics,
                       const struct projection *projection, uint32_t *row_of)
{
    uint32_t rows = 0;
    for (size_t i = 0; i < projection->profiles.n; i++)
        for (size_t k = 0; k < projection->profiles.at[i].costs.n; k++)
            row_of[projection->profiles.at[i].costs.at[k].context] = 1;
    team_or(row_of, contexts->n * sizeof *row_of);
    for (size_t i = 0; i < contexts->n; i++)
        row_of[i] = row_of[i] ? rows++ : NO_SYMBOL;
    wide *sums = mem_alloc(rows * n_metrics * sizeof *sums);
    for (size_t i = 0; i < projection->profiles.n; i++)
        for (size_t k = 0; k < projection->profiles.at[i].costs.n; k++) {
            const struct cost *cost = &projection->profiles.at[i].costs.at[k];
            sums[row_of[cost->context] * n_metrics + cost->metric] += cost->amount;
        }
    team_sum_wide(sums, rows * n_metrics);
    return sums;
}

void values_of_all(struct value_block *block, struct values_scratch *scratch,
                   const struct numbered_contexts *contexts, const struct metric_table *metrics,
                   const struct projection *projection)
{
    size_t n_metrics = metrics->all.n;
    autofree uint32_t *row_of = mem_alloc(contexts->n * sizeof *row_of);
    autofree wide *sums = sum_costs(contexts, n_metrics, projection, row_of);
    scratch->sums.n = 0;
    for (uint32_t id = 0; id < contexts->n; id++)
        for (uint32_t metric = 0; row_of[id] != NO_SYMBOL && metric < n_metrics; metric++) {
            wide amount = sums[row_of[id] * n_metrics + metric];
            if (amount)
                vec_push(&scratch->sums,
                         (struct cost_sum){.context = id, .metric = metric, .amount = amount});
        }
    propagate(block, scratch, contexts, metrics);
    reverse_block(block);
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
    vec_free(&scratch->sums);
}

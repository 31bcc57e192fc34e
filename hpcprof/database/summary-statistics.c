#include "hpcprof/database/summary-statistics.h"

#include <stdlib.h>

/* What is known of a value in the threads that have one. */
struct thread_spread {
    double squares, least, most;
    size_t n_threads;
};

/* The end of the values of a block's context, by its number in the block. */
static size_t end_of(const struct value_block *block, size_t number)
{
    return number + 1 < block->contexts.n ? block->contexts.at[number + 1].start : block->values.n;
}

void summary_statistics_start(struct summary_statistics *statistics,
                              const struct value_block *sums, size_t n_contexts)
{
    *statistics = (struct summary_statistics){
        .sums = sums,
        .number_of = mem_alloc(n_contexts * sizeof *statistics->number_of),
        .of = mem_alloc((sums->values.n + 1) * sizeof *statistics->of),
    };
    for (size_t i = 0; i < sums->contexts.n; i++)
        statistics->number_of[sums->contexts.at[i].context_id] = (uint32_t)i + 1;
}

static void add_value(struct thread_spread *spread, double value)
{
    bool is_first = spread->n_threads++ == 0;
    spread->squares += value * value;
    if (is_first || value < spread->least)
        spread->least = value;
    if (is_first || value > spread->most)
        spread->most = value;
}

/* A value of a thread has a sum: both are of the same context, and ids ascend. */
void summary_statistics_add(struct summary_statistics *statistics, const struct value_block *block)
{
    const struct value_block *sums = statistics->sums;
    for (size_t i = 0; i < block->contexts.n; i++) {
        uint32_t number = statistics->number_of[block->contexts.at[i].context_id] - 1;
        size_t sum = sums->contexts.at[number].start;
        for (size_t k = block->contexts.at[i].start; k < end_of(block, i); k++) {
            while (sums->values.at[sum].metric_id != block->values.at[k].metric_id)
                sum++;
            add_value(&statistics->of[sum], block->values.at[k].value);
        }
    }
}

static double stored_value(const struct thread_spread *spread, enum stored_statistic which,
                           size_t n_threads)
{
    bool is_everywhere = spread->n_threads == n_threads;
    switch (which) {
    case STORED_SQUARES: return spread->squares;
    case STORED_MIN: return is_everywhere || spread->least < 0 ? spread->least : 0;
    case STORED_MAX: return is_everywhere || spread->most > 0 ? spread->most : 0;
    default: return 0;
    }
}

void summary_statistics_finish(struct summary_statistics *statistics, struct value_block *summary,
                               statistic_set set, size_t n_threads, size_t ids_of_sums)
{
    const struct value_block *sums = statistics->sums;
    enum stored_statistic stored[STORED_STATISTICS];
    size_t n_stored = statistics_stored(set, stored);
    for (size_t i = 0; i < sums->contexts.n; i++) {
        size_t first = sums->contexts.at[i].start, end = end_of(sums, i);
        vec_push(&summary->contexts,
                 (struct v4_context_index){sums->contexts.at[i].context_id, summary->values.n});
        for (size_t k = first; k < end; k++)
            vec_push(&summary->values, sums->values.at[k]);
        for (size_t s = 0; s < n_stored; s++)
            for (size_t k = first; k < end; k++) {
                size_t id = sums->values.at[k].metric_id + (s + 1) * ids_of_sums;
                double value = stored_value(&statistics->of[k], stored[s], n_threads);
                if (value != 0)
                    vec_push(&summary->values, (struct v4_metric_value){(uint16_t)id, value});
            }
    }
    free(statistics->number_of);
    free(statistics->of);
}

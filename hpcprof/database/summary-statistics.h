/* Computes statistics over the threads for the summary in profile.db (hpcprof/metrics/statistics.h).
 *
 * Blocks of threads are added one after the other, in order, so the rounding of sums of squares
 * does not depend on the number of workers. Memory: 32 bytes for each value of the summary. */
#ifndef HPCPROF_SUMMARY_STATISTICS_H
#define HPCPROF_SUMMARY_STATISTICS_H

#include "hpcprof/database/value-propagation.h"
#include "hpcprof/metrics/statistics.h"

struct summary_statistics {
    const struct value_block *sums;
    uint32_t *number_of;       /* by context: 1 + its number in sums->contexts; 0: no values */
    struct thread_spread *of;  /* by value in sums */
};

/* `sums` has the values of all profiles together; `n_contexts` is above all ids. */
void summary_statistics_start(struct summary_statistics *statistics,
                              const struct value_block *sums, size_t n_contexts);

/* Adds the values of a thread. */
void summary_statistics_add(struct summary_statistics *statistics,
                            const struct value_block *block);

/* Makes the block of the summary: for each context the sums, then the stored statistics of the set
 * with ids `ids_of_sums` apart. Frees the statistics. */
void summary_statistics_finish(struct summary_statistics *statistics, struct value_block *summary,
                               statistic_set set, size_t n_threads, size_t ids_of_sums);

#endif

/* Statistics over the threads of a run (hpcprof -M). A thread without a value counts as 0: the mean
 * of 3 s in one of four threads is 0.75 s, the minimum 0.
 *
 * The sum is always there. The mean follows from it and the number of threads; the deviation (of
 * all threads, not of a sample of them) also from the sum of squares. So three more values are
 * stored at most: the stored statistics, each with metric ids of its own behind those of the sums
 * (doc/FORMAT-database.md). */
#ifndef HPCPROF_STATISTICS_H
#define HPCPROF_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

enum statistic {
    STATISTIC_SUM,
    STATISTIC_MEAN,
    STATISTIC_MIN,
    STATISTIC_MAX,
    STATISTIC_STDDEV,
    STATISTICS
};

extern const char *const statistic_names[STATISTICS]; /* "sum", "mean", ... */

/* A set: a bit for each statistic. */
typedef unsigned statistic_set;

static inline bool statistics_have(statistic_set set, enum statistic statistic)
{
    return set >> statistic & 1;
}

/* Reads a list, "mean,stddev", into a set, which gets the sum in any case. False if a name is
 * unknown. */
bool statistics_read(statistic_set *set, const char *list);

enum stored_statistic { STORED_SQUARES, STORED_MIN, STORED_MAX, STORED_STATISTICS };

/* The stored statistics of a set, in order; returns their number. */
size_t statistics_stored(statistic_set set, enum stored_statistic stored[STORED_STATISTICS]);

#endif

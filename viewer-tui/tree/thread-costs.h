/* What a row of a view costs in each thread: of the threads that the views are sums over. */
#ifndef VIEWER_THREAD_COSTS_H
#define VIEWER_THREAD_COSTS_H

#include "viewer-tui/base/distribution.h"
#include "viewer-tui/base/task.h"
#include "viewer-tui/threads/run-threads.h"
#include "viewer-tui/threads/thread-set.h"
#include "viewer-tui/tree/view.h"

enum thread_order { BY_VALUE, BY_NUMBER, BY_LABEL, THREAD_ORDERS };

struct thread_costs {
    struct view *view;
    uint32_t row;
    struct threads threads;
    char **labels;   /* by number in the list of threads, as are the values; thread_label */
    double *values;  /* NAN where one is not defined, of a derived metric */
    size_t *order;   /* numbers of threads, as ordered */
    const char *why; /* why there are no values; NULL: there are */
    size_t metric;   /* whose values they are */
    enum cost_part part;
    struct distribution distribution;
};

/* The threads are those of the set, NULL for all; no values yet. The caller frees. */
void thread_costs_open(struct thread_costs *costs, struct view *view, uint32_t row,
                       const json_t *run, const struct thread_set *set, bool ascii);
void thread_costs_free(struct thread_costs *costs);

/* Reads what one part of a metric costs. If STOPPED, the values are what they were. */
enum outcome thread_costs_read(struct thread_costs *costs, size_t metric, enum cost_part part);

/* Puts the threads with the largest values first, or in the order of the database or of their
 * labels; or the other way round. */
void thread_costs_sort(struct thread_costs *costs, enum thread_order by, bool is_reversed);

#endif

/* The cost of a row in each of the threads that the views are sums over. */
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
    char **labels;   /* by number in `threads`, as values; thread_label */
    double *values;  /* NAN: undefined, of a derived metric */
    size_t *order;   /* numbers of threads, sorted */
    const char *why; /* reason why there are no values; NULL: there are */
    size_t metric;   /* metric of the values */
    enum cost_part part;
    struct distribution distribution;
};

/* Lists the threads of the set (NULL: all), without values. The caller frees with
 * thread_costs_free. */
void thread_costs_open(struct thread_costs *costs, struct view *view, uint32_t row,
                       const json_t *run, const struct thread_set *set, bool ascii);
void thread_costs_free(struct thread_costs *costs);

/* Reads the values of one part of a metric. If STOPPED, the values do not change. */
enum outcome thread_costs_read(struct thread_costs *costs, size_t metric, enum cost_part part);

/* Sorts the threads: the largest values first, by number in the database, or by label. */
void thread_costs_sort(struct thread_costs *costs, enum thread_order by, bool is_reversed);

#endif

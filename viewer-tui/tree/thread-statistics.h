/* Statistics of rows' costs over the threads (minimum, mean, maximum, standard deviation): computed
 * on demand from the values of threads, and kept. */
#ifndef VIEWER_THREAD_STATISTICS_H
#define VIEWER_THREAD_STATISTICS_H

#include "viewer-tui/base/task.h"
#include "viewer-tui/metrics/formula.h"
#include "viewer-tui/threads/thread-values.h"

struct thread_statistics;

/* Adds the values of which the costs of rows are sums, as view_rows_value_refs does. */
typedef enum outcome value_refs_of_rows(void *context, const uint32_t *rows, size_t n, enum cost_part part,
                                        struct value_refs *refs);

/* Statistics of rows of `db`, which must outlive them. */
struct thread_statistics *thread_statistics_new(const struct database *db, value_refs_of_rows *refs, void *context);
void thread_statistics_free(struct thread_statistics *statistics);

/* Forgets rows from `first` on, which are given up. */
void thread_statistics_forget(struct thread_statistics *statistics, uint32_t first);

/* While they are stopped, by the user during a pass or by thread_statistics_stop, no pass begins.
 */
void thread_statistics_stop(struct thread_statistics *statistics);
void thread_statistics_resume(struct thread_statistics *statistics);
bool thread_statistics_are_stopped(const struct thread_statistics *statistics);

/* Computes the statistics of many rows in one pass, instead of one pass per row. Skips rows that
 * are known. DONE, or STOPPED while they are stopped. */
enum outcome thread_statistics_gather(struct thread_statistics *statistics, const uint32_t *rows,
                                      size_t n, size_t metric);

/* A statistic of a stored metric. NAN if the database lacks the metric's values per thread, for two
 * databases, and if the user stopped the pass. */
double thread_statistics_value(struct thread_statistics *statistics, uint32_t row, size_t metric,
                               enum cost_part part, enum formula_statistic which);

#endif

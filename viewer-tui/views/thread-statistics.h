/* Statistics of what rows of a view cost over the threads of which their values are sums: computed
 * row by row when somebody asks, from the values of threads, and kept. */
#ifndef VIEWER_THREAD_STATISTICS_H
#define VIEWER_THREAD_STATISTICS_H

#include "viewer-tui/formula/formula.h"

struct view;
struct thread_statistics;

/* For that view, which is to outlive it. */
struct thread_statistics *thread_statistics_new(struct view *view);
void thread_statistics_free(struct thread_statistics *statistics);

/* Rows from `first` on are given up. */
void thread_statistics_forget(struct thread_statistics *statistics, uint32_t first);

/* A statistic of a stored metric; NAN where the database does not tell its values by thread, where
 * the view is of two databases, and when the user stopped the pass (progress.h). */
double thread_statistics_value(struct thread_statistics *statistics, uint32_t row, size_t metric,
                               enum cost_part part, enum formula_statistic which);

#endif

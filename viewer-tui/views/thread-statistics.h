/* Statistics of what rows of a view cost over the threads of which their values are sums: computed
 * when somebody asks, from the values of threads, and kept. */
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

/* Computes those of many rows at once: in one pass, where row by row would take as many. Those that
 * are known are left alone. False when the user stopped it; it is then not begun again until there is
 * another sorting. */
bool thread_statistics_gather(struct thread_statistics *statistics, const uint32_t *rows, size_t n,
                              size_t metric);

/* A statistic of a stored metric; NAN where the database does not tell its values by thread, where
 * the view is of two databases, and when the user stopped the pass (progress.h). */
double thread_statistics_value(struct thread_statistics *statistics, uint32_t row, size_t metric,
                               enum cost_part part, enum formula_statistic which);

#endif

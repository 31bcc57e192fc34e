/* What one row of a view costs in each thread, for printers and screens:
 *
 *     500.0 ms  62.5%  solver 71/73
 *
 * and the statistics over the threads. */
#ifndef VIEWER_THREAD_TABLE_H
#define VIEWER_THREAD_TABLE_H

#include "lib/number.h"
#include "viewer-tui/base/text.h"
#include "viewer-tui/tree/thread-costs.h"

/* The scale that suits the largest value. */
struct number_scale thread_costs_scale(const struct thread_costs *costs);

/* Adds "TITLE, UNIT, inclusive". */
void thread_costs_add_title(const struct thread_costs *costs, bool ascii, struct text *out);

/* Adds the value of a thread and its percentage, in columns. `thread`: index in costs->threads. */
void thread_costs_add_value(const struct thread_costs *costs, size_t thread, struct text *out);

/* A statistic over the threads. */
struct thread_statistic {
    const char *name;
    double value; /* NAN where it is not defined: lower bounds have no deviation */
    bool is_factor;
};

#define THREAD_STATISTICS 6
void thread_costs_statistics(const struct thread_costs *costs, struct thread_statistic statistics[THREAD_STATISTICS]);

#endif

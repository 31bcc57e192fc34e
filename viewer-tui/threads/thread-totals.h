/* What whole threads cost, and statistics over them. */
#ifndef VIEWER_THREAD_TOTALS_H
#define VIEWER_THREAD_TOTALS_H

#include "viewer-tui/threads/run-threads.h"

enum statistic { SUM, LEAST, MEAN, LARGEST, STATISTICS };

/* Rows of the costs by metric of the database, NAN where they are not defined: one for each thread, in their order,
 * then one for each statistic. Damaged profiles read as zero, with the problem noted. The caller frees. */
double *thread_totals(const struct threads *threads, const struct database *db);

#endif

/* What metrics mean, in sentences for viewers that do not know them (metrics/default.yaml). */
#ifndef HPCPROF_METRIC_DESCRIPTION_H
#define HPCPROF_METRIC_DESCRIPTION_H

#include "hpcprof/metrics/metric-table.h"

/* "The parallel runtime itself. In seconds, by CPUTIME. A lower bound: ..." The caller frees. */
char *metric_description(const struct metric_table *table, const struct metric *metric);

#endif

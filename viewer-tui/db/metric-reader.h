/* Reads the descriptions of metrics in meta.db. */
#ifndef VIEWER_METRIC_READER_H
#define VIEWER_METRIC_READER_H

#include "viewer-tui/db/v4-map.h"
#include "viewer-tui/metrics/metric.h"

/* Reads the metrics in the order of meta.db. Only statistics that are plain sums are used. False,
 * with the problem noted, if the section is damaged. The caller frees with metrics_free. */
bool metrics_read(struct metrics *metrics, const struct v4_map *meta);

#endif

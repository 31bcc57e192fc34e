/* Parts of the printers of time lines. */
#ifndef VIEWER_PRINT_TIMELINE_H
#define VIEWER_PRINT_TIMELINE_H

#include "viewer-tui/output/print.h"
#include "viewer-tui/timeline/time-chart.h"

/* "work", "nobody working": as in data formats. */
const char *trace_state_key(enum trace_state state);

#endif

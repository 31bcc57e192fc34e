/* What run.json would say of pieces of the time of its run, as far as the time line knows it: metrics, and processes
 * and threads with their times and samples. All that reads run.json is about these if it gets this. */
#ifndef VIEWER_RUN_SLICE_H
#define VIEWER_RUN_SLICE_H

#include "viewer-tui/db/record-sums.h"

#include <jansson.h>

/* The caller releases it with json_decref. What differs from run.json:
 *
 *   range        an object: "from" and "to" (seconds since the time line's begin), the number of "records", and "step",
 *                the samples for a record; of several pieces also their number, "pieces", and their "length" together
 *   metrics      those that have no records are "not measurable"
 *   events       of the traced one "increment": sum of the squares of its records divided by their sum. Shares are as
 *                precise as if all had this size
 *   processes    those with threads that lived then; walls, CPU time, time without a CPU and samples of that time
 *   regions      none
 *
 * Without wall-clock samples, the time without a CPU is assumed to be spread evenly over a thread's CPU time. */
json_t *run_slice(const json_t *run, const struct timeline *timeline, const time_ranges *ranges);

#endif

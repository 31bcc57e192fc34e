/* Pieces of the time of a run. */
#ifndef VIEWER_TIME_RANGES_H
#define VIEWER_TIME_RANGES_H

#include "lib/alloc.h"

#include <stdint.h>

/* Nanoseconds since the time line's begin: what is after `from`, up to `to`. From 0 on, it is all up to `to`. */
struct time_range {
    uint64_t from, to;
};

/* Ascending, and none touches the next. The owner frees it with vec_free. */
typedef VEC(struct time_range) time_ranges;

/* Makes that of any ranges: sorts them, and joins those that overlap or touch. Empty ones are left out. */
void time_ranges_join(time_ranges *ranges);

/* Leaves out what is not in a range. */
void time_ranges_cut(time_ranges *ranges, struct time_range range);

time_ranges time_ranges_copy(const time_ranges *ranges);

/* From the first to the last; there must be one. */
struct time_range time_ranges_span(const time_ranges *ranges);

/* The sum of their lengths, seconds. */
double time_ranges_seconds(const time_ranges *ranges);

#endif

/* When a thread is at work: from one record of work, or of a thread that is ready, to the next if the gap between them
 * is short.
 *
 * By CPUTIME a thread has no records while it has no CPU or waits. A short gap may be either: other programs have the
 * CPU for some ms at a time, at most 34 to 40 ms with 5 to 7 busy threads for each of 2 CPUs (27 November 2026). A gap
 * that a thread has often is part of what it does all the time. A thread is also at work from the begin of the run to
 * its first record, and from its last one to the end, if that gap is short. */
#ifndef VIEWER_AT_WORK_H
#define VIEWER_AT_WORK_H

#include "viewer-tui/db/time-ranges.h"
#include "viewer-tui/db/timeline.h"

/* A thread often has a gap if it has this many of that length or longer. */
#define OFTEN 10

struct at_work {
    uint64_t gap;   /* longest gap that counts as short, ns */
    double spacing; /* ns from one record to the next: a mean interval plus the longest gap that the thread often has */
};

/* The rule for a thread. `interval`: mean interval of its records, ns. Gaps up to `least` ns are short in any case. */
struct at_work at_work_of(const struct timeline *timeline, const struct timeline_thread *thread, double interval,
                          double least);

/* Adds the stretches in which the thread is at work that reach into a piece of time. What lies outside of it may be
 * cut. */
void at_work_stretches(const struct timeline *timeline, const struct timeline_thread *thread, uint64_t gap,
                       struct time_range range, time_ranges *stretches);

#endif

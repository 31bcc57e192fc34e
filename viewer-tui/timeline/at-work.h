/* When a thread is at work: from one record of work, or of a thread that is ready, to the next if the gap between them
 * is short.
 *
 * By CPUTIME a thread has no records while it has no CPU or waits. Which of both it was is not known of short gaps:
 * other programs have the CPU for some ms at a time, here 34 to 40 ms at the most where 5 to 7 threads wanted each CPU.
 * A gap that a thread has often is part of what it does all the time. Short gaps to the begin and the end of the run
 * count, too. */
#ifndef VIEWER_AT_WORK_H
#define VIEWER_AT_WORK_H

#include "viewer-tui/db/time-ranges.h"
#include "viewer-tui/db/timeline.h"

/* A thread has a gap often if it has so many that are as long. */
#define OFTEN 10

struct at_work {
    uint64_t gap;   /* the longest one that is short, ns */
    double spacing; /* from one record to the next, ns: a mean interval, and a gap that the thread has often */
};

/* Of a thread. Gaps of `least` ns are short in any case. `interval` is the mean one of records, ns. */
struct at_work at_work_of(const struct timeline *timeline, const struct timeline_thread *thread, double interval,
                          double least);

/* Adds the stretches in which the thread is at work that reach into a piece of time. What lies outside of it may be
 * cut. */
void at_work_stretches(const struct timeline *timeline, const struct timeline_thread *thread, uint64_t gap,
                       struct time_range range, time_ranges *stretches);

#endif

/* Measures strands. A strand is the code that a worker executes between two events of its scheduler;
 * it takes from nanoseconds to seconds.
 *
 * A strand is measured by the time stamp counter. If it seems long, the thread may have lost its
 * CPU meanwhile; then the thread's CPU clock decides, which costs a system call.
 *
 * Time between strands is that of the observer or of the scheduler, and belongs to no strand.
 * Reading the counter costs as much as the rest of a short event. So a short event reads it once,
 * and the strand behind it is shortened by what such an event costs, as measured at the beginning.
 *
 * The unit is 2^-10 ns, as that of times in the tree. */
#ifndef HPCRUN_SPAN_STRAND_CLOCK_H
#define HPCRUN_SPAN_STRAND_CLOCK_H

#include <stdint.h>

#define STRAND_SHIFT 10 /* of the unit: 2^-STRAND_SHIFT ns */

/* One thread's clock. Zeroed memory is a clock that has not begun. */
struct strand_clock {
    uint64_t begin;      /* ticks: of the current strand, or of the short event before it */
    uint64_t end;        /* ticks: of the last strand */
    uint64_t anchor;     /* ticks, when the CPU clock was last read */
    uint64_t anchor_cpu; /* ns */
    uint64_t excess;     /* ticks of the current strand that are not its own */
};

/* Measures the counter's rate: 2 ms, once, in normal context. */
void strand_clock_calibrate(void);

/* The cost of a short event, in ticks; 0 at first. */
void strand_clock_set_event_cost(uint64_t ticks);

/* Begins a strand of the calling thread; the last thing that a long event does. */
void strand_begin(struct strand_clock *clock);

/* Begins one of another thread of the process, which waits for the calling one. */
void strand_begin_in(struct strand_clock *clock, int thread);

/* Ends it and returns its time; the first thing that a long event does. */
uint64_t strand_end(struct strand_clock *clock);

/* The time since the current strand of another thread has begun, if that has had its CPU. */
uint64_t strand_passed(const struct strand_clock *clock);

/* Both at once; the first thing that a short event does. */
uint64_t strand_next(struct strand_clock *clock);

#endif

/* Measures strands. A strand is the code that a worker executes between two events of its scheduler;
 * it takes from nanoseconds to seconds. Time in events is in no strand.
 *
 * A strand is measured by the time stamp counter. If it seems long, the thread may have lost its
 * CPU meanwhile; then the thread's CPU clock decides, which costs a system call.
 *
 * UNCERTAINTY. The processor executes the end of a strand while it reads the counter, and the event
 * while it executes the strand. So what an event adds to a strand depends on the strand: from
 * -20 to +16 ns here, for four kinds of strands of up to 45 ns. They are measured at the beginning, on
 * each machine; every strand is shortened by the middle of that range, and is uncertain by half of
 * it.
 *
 * The unit is 2^-10 ns, as that of times in the tree. */
#ifndef HPCRUN_SPAN_STRAND_CLOCK_H
#define HPCRUN_SPAN_STRAND_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define STRAND_SHIFT 10 /* of the unit: 2^-STRAND_SHIFT ns */

/* One thread's clock. Zeroed memory is a clock that has not begun. */
struct strand_clock {
    uint64_t begin;      /* ticks: of the current strand */
    uint64_t end;        /* ticks: of the last strand; also of the current one if it has stopped */
    bool is_stopped;
    uint64_t paused; /* what the thread had paused, in the unit, when the current strand began */
    uint64_t anchor;     /* ticks, when the CPU clock was last read */
    uint64_t anchor_cpu; /* ns */
};

/* Measures the counter's rate, and what an event adds to a strand: 3 ms, once, in normal context. */
void strand_clock_calibrate(void);

/* The time of a strand is right within this. */
uint64_t strand_uncertainty(void);

/* What the calling thread does between these two is no strand's time: a sample, or the creation of a
 * thread. `may_wait`: it may lose the CPU meanwhile, which costs two system calls; not in the signal
 * handler. Signal handler otherwise. */
struct strand_pause {
    uint64_t begin, paused;
    bool may_wait;
};
struct strand_pause strand_pause(bool may_wait);
void strand_go_on(const struct strand_pause *pause);

/* Begins a strand of the calling thread; the last thing that an event does. */
void strand_begin(struct strand_clock *clock);

/* Begins one of another thread of the process, which waits for the calling one. */
void strand_begin_in(struct strand_clock *clock, int thread);

/* What the thread does from here to strand_end is not the strand's. */
void strand_stop(struct strand_clock *clock);

/* Ends it and returns its time; the first thing that an event does. */
uint64_t strand_end(struct strand_clock *clock);

/* The time since the current strand of another thread has begun, if that has had its CPU. */
uint64_t strand_passed(const struct strand_clock *clock);

/* The same for a thread that has no event meanwhile; then its strand begins again. 0, with nothing
 * changed, if it may have lost its CPU. */
uint64_t strand_cut(struct strand_clock *clock);

#endif

/* Signal handler: everything here runs there.
 *
 * The time line of a thread: each sample of the traced event leaves records of what it found
 * (lib/trace-format.h), which are thinned when there are too many. lib/arena-format.h has the states of the
 * trace while it changes: a killed process leaves one of them.
 *
 * Caches are cold at every sample, so what most samples do here is short, and lies in the handler. What a
 * sample finds goes to its place at once: its line of memory arrives while the sample is unwound. */
#ifndef HPCRUN_SAMPLE_SAMPLE_TRACE_H
#define HPCRUN_SAMPLE_SAMPLE_TRACE_H

#include "hpcrun/source/increment.h"
#include "hpcrun/thread/thread.h"

/* Records of a sample at most: time on the CPU, off it, and without one. */
#define TRACE_PARTS 3

/* Where a sample stores what it finds: the next recent record, which does not count yet. Always in room. */
static inline struct trace_record *sample_trace_place(const struct thread *thread)
{
    return &thread->image->trace_recent[thread->image->trace_recent_count];
}

/* Makes recent records count. */
static inline void sample_trace_publish(struct thread *thread, uint64_t count)
{
    __atomic_store_n(&thread->image->trace_recent_count, count, __ATOMIC_RELEASE);
    __asm__ volatile("" ::: "memory");
}

/* Moves the recent records to the array. Without memory for more, the trace is thinned. */
void sample_trace_move(struct thread *thread);

/* Records a sample that may have several parts, or no time. */
void sample_trace_parts(struct thread *thread, const struct increment *increment);

/* Records the sample that is at sample_trace_place, after its node was published. */
static inline void sample_trace(struct thread *thread, const struct thread_event *event,
                                const struct increment *increment)
{
    if (event != thread->traced)
        return;
    uint64_t count = thread->image->trace_recent_count;
    if (increment->off_cpu || increment->ready || !increment->amount ||
        count + 2 * TRACE_PARTS > ARENA_RECENT) {
        sample_trace_parts(thread, increment);
        return;
    }
    thread->image->trace_recent[count].amount |= increment->amount << TRACE_FLAG_BITS;
    sample_trace_publish(thread, count + 1);
}

#endif

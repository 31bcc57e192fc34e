/* Signal handler: kernel_frames_read runs there.
 *
 * The kernel's frames that a sample of a perf event interrupted. When the event overflows, the kernel writes a record
 * with its own call chain into a ring, a page that is mapped for the event, and then sends the signal. The thread gets
 * that before it is back in its own code. It has one signal outstanding (source-perf.h), and its handler empties the
 * ring, so the last record there is that of its sample.
 *
 * The ring takes two pages of locked memory. Ordinary users have kernel.perf_event_mlock_kb for each CPU (516 KB), and
 * RLIMIT_MEMLOCK. */
#ifndef HPCRUN_SOURCE_KERNEL_FRAMES_H
#define HPCRUN_SOURCE_KERNEL_FRAMES_H

#include "hpcrun/source/increment.h"
#include "hpcrun/thread/thread.h"

#include <linux/perf_event.h>

/* Maps the ring of an open event. Without one the event's samples have no kernel frames; that is counted. */
void kernel_frames_open(struct thread_event *event);
void kernel_frames_close(struct thread_event *event);

/* Number of threads so far that could not map their ring; of this process image. */
uint32_t kernel_frames_refused(void);
void kernel_frames_after_fork(void);

/* Empties the ring. Gives the increment the frames of the last record, if the event has any. */
void kernel_frames_read(struct thread *thread, const struct thread_event *event, struct increment *increment);

/* The frames in a record's chain of `n` words: marks (PERF_CONTEXT_KERNEL) are among them. Returns how many, from
 * *frames on. */
static inline uint64_t kernel_frames_in(const uint64_t *chain, uint64_t n, const uint64_t **frames)
{
    uint64_t first = 0, end;
    while (first < n && chain[first] >= (uint64_t)PERF_CONTEXT_MAX)
        first++;
    for (end = first; end < n && chain[end] < (uint64_t)PERF_CONTEXT_MAX;)
        end++;
    *frames = chain + first;
    return end - first;
}

#endif

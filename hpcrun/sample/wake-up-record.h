/* Normal context, in a wrapper. Wake-ups on the time line: which thread ended a wait of the calling one, and when.
 *
 *     uint64_t since = ticks_now();
 *     struct wait wait = wait_begin(own_slot, NULL, NULL);
 *     result = REAL(pthread_cond_wait)(condition, mutex);
 *     wait_end(&wait);
 *     wake_up(condition, since, result == 0);
 *
 * Waits that are too short to matter leave nothing. A thread keeps at most MAX_WAKE_UPS. When it has as many, all wake-ups
 * stay in every second window of time (WAKE_UP_WINDOW, counted from the process's begin, so that those of all threads are
 * the same), in others only those of waits as long as two windows; next in every fourth window, and so on. So some
 * stretches of the run are always known completely, and long waits everywhere. */
#ifndef HPCRUN_SAMPLE_WAKE_UP_RECORD_H
#define HPCRUN_SAMPLE_WAKE_UP_RECORD_H

#include "hpcrun/process/process.h"
#include "lib/arena-format.h"

#include <stdbool.h>

/* The shortest wait that leaves a wake-up, in ticks: 20 to 100 microseconds. To record it takes two system calls. */
#define WAKE_UP_TICKS 100000

/* Adds one of the calling thread. errno stays. */
void wake_up_add(const struct arena_wake_up *wake_up);

/* Adds that of a wait for an object (logical/last-wakers.h), from `since` to `now`. False: nobody is known to have ended it. */
bool wake_up_by_last(const volatile void *object, uint64_t since, uint64_t now);

/* The calling thread has waited for an object since `since`. `is_woken`: not if the wait has timed out or failed. */
static inline void wake_up(const volatile void *object, uint64_t since, bool is_woken)
{
    uint64_t now = is_woken ? ticks_now() : since;
    if (__builtin_expect(now - since >= WAKE_UP_TICKS, 0))
        wake_up_by_last(object, since, now);
}

#endif

/* Normal context, in a wrapper. Wake-ups on the time line: which thread ended a wait of the calling one, and when.
 *
 *     uint64_t since = ticks_now();
 *     struct wait wait = wait_begin(own_slot, NULL, NULL);
 *     result = REAL(pthread_cond_wait)(condition, mutex);
 *     wait_end(&wait);
 *     wake_up(condition, since, result == 0);
 *
 * Waits that are too short to matter leave nothing. A thread keeps at most MAX_WAKE_UPS: when it has as many, those of
 * the shorter waits go, and from then on only longer ones come. So the longest waits stay, and the image says how
 * long they are at least. */
#ifndef HPCRUN_SAMPLE_WAKE_UP_RECORD_H
#define HPCRUN_SAMPLE_WAKE_UP_RECORD_H

#include "hpcrun/process/process.h"

#include <stdbool.h>

/* The shortest wait that leaves a wake-up, in ticks: 20 to 100 microseconds. To record it takes two system calls. */
#define WAKE_UP_TICKS 100000

/* The calling thread's wait ended now. `released`: when the thread with this index ended it. errno stays. */
void wake_up_add(uint64_t since, uint64_t released, uint32_t waker);

/* The same for a wait for an object (logical/last-wakers.h). */
void wake_up_by_last(const volatile void *object, uint64_t since);

/* The calling thread has waited for an object since `since`. `is_woken`: not if the wait has timed out or failed. */
static inline void wake_up(const volatile void *object, uint64_t since, bool is_woken)
{
    if (__builtin_expect(is_woken && ticks_now() - since >= WAKE_UP_TICKS, 0))
        wake_up_by_last(object, since);
}

#endif

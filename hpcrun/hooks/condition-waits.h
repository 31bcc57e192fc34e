/* What hooks on waits have in common: unlocks, and the system call futex when the program makes it by syscall. */
#ifndef HPCRUN_HOOKS_CONDITION_WAITS_H
#define HPCRUN_HOOKS_CONDITION_WAITS_H

#include "hpcrun/logical/last-wakers.h"

#include <linux/futex.h>
#include <pthread.h>

/* Of pthread_mutex_t.__data.__lock. Robust mutexes and those with priority inheritance have the holder's tid there. */
enum { HAS_WAITERS = 2, CEILING_SHIFT = 19 };

/* The calling thread is about to unlock a mutex. glibc's is 1 if no thread has waited since it was taken. */
static inline void note_unlock(const pthread_mutex_t *mutex)
{
    unsigned lock = __atomic_load_n((const unsigned *)&mutex->__data.__lock, __ATOMIC_RELAXED);
    bool is_free_or_taken = __builtin_expect(lock <= 1, 1);
    if (!is_free_or_taken && (lock % (1u << CEILING_SHIFT) == HAS_WAITERS || lock & FUTEX_WAITERS))
        waker_note(mutex, WAKES_NEXT_HOLDER);
}

/* Whether this futex operation may wait, in a thread that has a slot. */
bool futex_waits(int operation);

/* Replaces syscall(SYS_futex, ...) for an operation that may wait. */
long futex_wait(long number, long a, long b, long c, long d, long e, long f);

#endif

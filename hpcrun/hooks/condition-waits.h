/* What hooks on waits have in common: unlocks, and the system call futex when the program makes it by syscall. */
#ifndef HPCRUN_HOOKS_CONDITION_WAITS_H
#define HPCRUN_HOOKS_CONDITION_WAITS_H

#include "hpcrun/logical/last-wakers.h"

#include <pthread.h>

/* The calling thread is about to unlock a mutex. glibc's is 1 if no thread has waited since it was taken. */
static inline void note_unlock(const pthread_mutex_t *mutex)
{
    if (__builtin_expect((unsigned)__atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED) > 1, 0))
        waker_note(mutex);
}

/* Whether this futex operation may wait, in a thread that has a slot. */
bool futex_waits(int operation);

/* Replaces syscall(SYS_futex, ...) for an operation that may wait. */
long futex_wait(long number, long a, long b, long c, long d, long e, long f);

#endif

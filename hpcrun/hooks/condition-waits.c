/* Hooks on calls that wait for other threads, apart from locks and joins: condition variables,
 * barriers, yields of the CPU, and futexes by way of syscall, as C++20's atomic waits, latches and
 * semaphores make them. While the thread waits, its slot says so (logical/wait-slots.h).
 *
 * A thread that yields lets others run, or waits for what they do: spin loops do little else. */
#include "hpcrun/hooks/condition-waits.h"

#include "hpcrun/base/hook.h"
#include "hpcrun/logical/agent-locks.h"
#include "hpcrun/logical/last-wakers.h"
#include "hpcrun/logical/wait-slots.h"
#include "hpcrun/restart/ended-calls.h"
#include "hpcrun/sample/lock-wait-record.h"
#include "hpcrun/sample/wake-up-record.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

REAL_VERSION(pthread_cond_wait, "GLIBC_2.3.2")
REAL_VERSION(pthread_cond_timedwait, "GLIBC_2.3.2")
REAL_FUNCTION(pthread_cond_clockwait)
REAL_FUNCTION(cnd_wait)
REAL_FUNCTION(cnd_timedwait)
REAL_VERSION(pthread_cond_signal, "GLIBC_2.3.2")
REAL_VERSION(pthread_cond_broadcast, "GLIBC_2.3.2")
REAL_FUNCTION(cnd_signal)
REAL_FUNCTION(cnd_broadcast)
REAL_FUNCTION(pthread_barrier_wait)
REAL_FUNCTION(sched_yield)
REAL_FUNCTION(thrd_yield)
REAL_FUNCTION(syscall)

/* Makes the real call while the slot says that the thread waits. If it returns 0, another thread has woken it up. */
#define WAIT_FOR(object, call)                                                                     \
    uint64_t since = ticks_now();                                                                  \
    struct wait wait = wait_begin(own_slot, NULL, NULL);                                           \
    int result = (call);                                                                           \
    wait_end(&wait);                                                                               \
    wake_up(object, since, result == 0);                                                           \
    return result

/* ---- conditions ----
 *
 * To wait for a condition is to unlock its mutex. */

HOOK int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    note_unlock(mutex);
    WAIT_FOR(condition, REAL(pthread_cond_wait)(condition, mutex));
}

/* When the calling thread's wait for an interpreter's lock began. CPython's threads wait for 5 ms at a time, ask the
 * holder for the lock, and wait again: the holder soon lets it go, and the last of these calls alone is too short to be
 * recorded. `turn`: agent_lock.turns. */
static uint64_t begin_of_lock_wait(struct agent_slot *slot, uint64_t turn)
{
    if (!slot)
        return ticks_now();
    if (!slot->lock_since || slot->lock_turn != turn)
        slot->lock_since = ticks_now();
    slot->lock_turn = turn;
    return slot->lock_since;
}

/* A wait for an interpreter's lock. */
static __attribute__((noinline)) int wait_for_lock(const struct agent_lock *lock,
                                                   pthread_cond_t *condition,
                                                   pthread_mutex_t *mutex,
                                                   const struct timespec *until)
{
    const void *holder = (const void *)(AGENT_HOLDER_OF_LOCK | (uint64_t)(uintptr_t)lock);
    const _Atomic uint64_t *turns = (const _Atomic uint64_t *)(uintptr_t)lock->turns; /* next to the condition */
    uint64_t since = begin_of_lock_wait(own_slot, atomic_load_explicit(turns, memory_order_relaxed));
    struct wait wait = wait_begin(own_slot, condition, holder);
    int result = REAL(pthread_cond_timedwait)(condition, mutex, until);
    wait_end(&wait);
    wake_up(condition, since, result == 0);
    if (own_slot && result == 0)
        own_slot->lock_since = 0;
    if (wait.slot && atomic_load_explicit(&wait.slot->is_charged, memory_order_relaxed))
        lock_wait_record(wait.slot, condition);
    return result;
}

HOOK int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                const struct timespec *until)
{
    const struct agent_lock *lock = agent_lock_at(condition);
    note_unlock(mutex);
    if (lock)
        return wait_for_lock(lock, condition, mutex, until);
    WAIT_FOR(condition, REAL(pthread_cond_timedwait)(condition, mutex, until));
}

HOOK int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
                                const struct timespec *until)
{
    note_unlock(mutex);
    WAIT_FOR(condition, REAL(pthread_cond_clockwait)(condition, mutex, clock, until));
}

HOOK int cnd_wait(cnd_t *condition, mtx_t *mutex)
{
    note_unlock((pthread_mutex_t *)mutex);
    WAIT_FOR(condition, REAL(cnd_wait)(condition, mutex));
}

HOOK int cnd_timedwait(cnd_t *restrict condition, mtx_t *restrict mutex,
                       const struct timespec *restrict until)
{
    note_unlock((pthread_mutex_t *)mutex);
    WAIT_FOR(condition, REAL(cnd_timedwait)(condition, mutex, until));
}

/* glibc counts those who wait in the bits from 3 on. */
static inline void note_signal(const pthread_cond_t *condition, enum wakes wakes)
{
    if (__atomic_load_n(&condition->__data.__wrefs, __ATOMIC_RELAXED) >> 3)
        waker_note(condition, wakes);
}

HOOK int pthread_cond_signal(pthread_cond_t *condition)
{
    note_signal(condition, WAKES_ONE);
    return REAL(pthread_cond_signal)(condition);
}

HOOK int pthread_cond_broadcast(pthread_cond_t *condition)
{
    note_signal(condition, WAKES_ALL);
    return REAL(pthread_cond_broadcast)(condition);
}

_Static_assert(sizeof(cnd_t) == sizeof(pthread_cond_t), "C11 conditions are POSIX conditions");

HOOK int cnd_signal(cnd_t *condition)
{
    note_signal((const pthread_cond_t *)condition, WAKES_ONE);
    return REAL(cnd_signal)(condition);
}

HOOK int cnd_broadcast(cnd_t *condition)
{
    note_signal((const pthread_cond_t *)condition, WAKES_ALL);
    return REAL(cnd_broadcast)(condition);
}

/* ---- barriers, yields, futexes ---- */

/* What glibc keeps in a pthread_barrier_t, since version 2.24. `in`: threads that have arrived, in all rounds. */
struct barrier {
    unsigned in, round, count;
};

/* Two threads that arrive at the same time are not known to be the last. */
static bool is_last_to_arrive(const struct barrier *barrier)
{
    return barrier->count && (__atomic_load_n(&barrier->in, __ATOMIC_RELAXED) + 1) % barrier->count == 0;
}

/* The last thread to arrive ends the waits of the others. glibc's call returns 0 to these. */
HOOK int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    if (is_last_to_arrive((const struct barrier *)(const void *)barrier))
        waker_note(barrier, WAKES_ALL);
    WAIT_FOR(barrier, REAL(pthread_barrier_wait)(barrier));
}

HOOK int sched_yield(void)
{
    struct wait wait = wait_begin(own_slot, NULL, NULL);
    int result = REAL(sched_yield)();
    wait_end(&wait);
    return result;
}

HOOK void thrd_yield(void)
{
    struct wait wait = wait_begin(own_slot, NULL, NULL);
    REAL(thrd_yield)();
    wait_end(&wait);
}

bool futex_waits(int operation)
{
    int command = operation & FUTEX_CMD_MASK;
    return own_slot && (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET ||
                        command == FUTEX_LOCK_PI || command == FUTEX_WAIT_REQUEUE_PI);
}

long futex_wait(long number, long a, long b, long c, long d, long e, long f)
{
    (void)number; /* as a constant, it is known to restart/call-number.h */
    struct call_start outer = call_begins(__builtin_frame_address(0), __builtin_return_address(0));
    uint64_t since = ticks_now();
    struct wait wait = wait_begin(own_slot, NULL, NULL);
    long result = REAL(syscall)(SYS_futex, a, b, c, d, e, f);
    wait_end(&wait);
    call_ends(outer);
    wake_up((const void *)(uintptr_t)a, since, result == 0);
    return result;
}

/* Hooks on calls that wait for a lock: mutexes, read-write locks, spin locks. While the thread
 * waits, its slot says so (logical/wait-slots.h), with the lock and where glibc keeps the holder's
 * tid.
 *
 * A lock that is free costs one load more: the hook looks whether the call will have to wait, and
 * if not, jumps to the real function, which does all the locking. An unlock looks whether threads wait, and if so
 * notes who wakes them up (logical/last-wakers.h). So every kind of lock (recursive,
 * robust, with priority inheritance, shared between processes, ...) behaves as without hpcrun. A
 * lock that another thread takes between the look and the call counts as work.
 *
 * Spin locks, and rwlocks taken for reading, do not know who has them: the hook notes it in the thread's slot once the
 * real function has returned.
 *
 * The layouts of pthread_mutex_t and pthread_rwlock_t are part of glibc's ABI: static initializers
 * in programs depend on them. */
#include "hpcrun/base/hook.h"
#include "hpcrun/hooks/condition-waits.h"
#include "hpcrun/logical/last-wakers.h"
#include "hpcrun/sample/lock-wait-record.h"
#include "hpcrun/sample/wake-up-record.h"

#include <pthread.h>
#include <threads.h>

REAL_FUNCTION(pthread_mutex_lock)
REAL_FUNCTION(pthread_mutex_timedlock)
REAL_FUNCTION(pthread_mutex_clocklock)
REAL_FUNCTION(mtx_lock)
REAL_FUNCTION(mtx_timedlock)
REAL_FUNCTION(pthread_rwlock_rdlock)
REAL_FUNCTION(pthread_rwlock_tryrdlock)
REAL_FUNCTION(pthread_rwlock_timedrdlock)
REAL_FUNCTION(pthread_rwlock_clockrdlock)
REAL_FUNCTION(pthread_rwlock_wrlock)
REAL_FUNCTION(pthread_rwlock_timedwrlock)
REAL_FUNCTION(pthread_rwlock_clockwrlock)
REAL_FUNCTION(pthread_rwlock_destroy)
REAL_FUNCTION(pthread_spin_lock)
REAL_FUNCTION(pthread_spin_trylock)
REAL_FUNCTION(pthread_spin_unlock)
REAL_FUNCTION(pthread_spin_destroy)
REAL_FUNCTION(pthread_mutex_unlock)
REAL_FUNCTION(mtx_unlock)
REAL_FUNCTION(pthread_rwlock_unlock)

#define LOOK(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)

/* ---- locks that do not know their holders ---- */

/* The thread has got the lock if `result` is 0. With more than AGENT_MAX_HELD of them, it is not known to have it. */
static inline int note_held(const volatile void *lock, int result)
{
    if (result == 0)
        held_note(own_slot, lock);
    return result;
}

/* A lock ends that threads may not have released. Another one may begin at its address. The lock is not read: libc does
 * not, either, so it may be unmapped already. */
static void forget_in_all_threads(const volatile void *lock)
{
    uint32_t end = atomic_load_explicit(&slots.end, memory_order_acquire);
    for (uint32_t i = 0; i < end; i++)
        for (unsigned k = 0; k < AGENT_MAX_HELD; k++) {
            _Atomic uint64_t *note = &agent_slot_at(&slots, i)->held[k];
            uint64_t its = (uint64_t)(uintptr_t)lock;
            if (atomic_load_explicit(note, memory_order_relaxed) == its)
                atomic_compare_exchange_strong(note, &its, 0);
        }
}

/* Makes the real call while the slot says that the thread waits. `lock` is a variable. */
#define WAIT_FOR(lock, holder, call)                                                               \
    uint64_t since = ticks_now();                                                                  \
    struct wait wait = wait_begin(own_slot, lock, holder);                                         \
    int result = (call);                                                                           \
    wait_end(&wait);                                                                               \
    wake_up(lock, since, result == 0);                                                             \
    if (wait.slot && atomic_load_explicit(&wait.slot->is_charged, memory_order_relaxed))           \
        lock_wait_record(wait.slot, lock);                                                         \
    return result

/* ---- mutexes ---- */

/* A holder that locks its own mutex again does not wait, or forever. */
static inline bool must_wait_for_mutex(const pthread_mutex_t *mutex)
{
    return __builtin_expect(LOOK(mutex->__data.__lock) != 0, 0) && own_slot &&
           LOOK(mutex->__data.__owner) != own_slot->tid;
}

static __attribute__((noinline)) int wait_for_mutex(pthread_mutex_t *mutex)
{
    WAIT_FOR(mutex, &mutex->__data.__owner, REAL(pthread_mutex_lock)(mutex));
}

HOOK int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    return must_wait_for_mutex(mutex) ? wait_for_mutex(mutex) : REAL(pthread_mutex_lock)(mutex);
}

HOOK int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
{
    if (!must_wait_for_mutex(mutex))
        return REAL(pthread_mutex_timedlock)(mutex, until);
    WAIT_FOR(mutex, &mutex->__data.__owner, REAL(pthread_mutex_timedlock)(mutex, until));
}

HOOK int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
                                 const struct timespec *until)
{
    if (!must_wait_for_mutex(mutex))
        return REAL(pthread_mutex_clocklock)(mutex, clock, until);
    WAIT_FOR(mutex, &mutex->__data.__owner, REAL(pthread_mutex_clocklock)(mutex, clock, until));
}

HOOK int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    note_unlock(mutex);
    return REAL(pthread_mutex_unlock)(mutex);
}

HOOK int mtx_unlock(mtx_t *mutex)
{
    note_unlock((pthread_mutex_t *)mutex);
    return REAL(mtx_unlock)(mutex);
}

/* glibc's mtx_t is a pthread_mutex_t. */
_Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t), "C11 mutexes are POSIX mutexes");

static __attribute__((noinline)) int wait_for_mtx(mtx_t *mutex)
{
    WAIT_FOR(mutex, &((pthread_mutex_t *)mutex)->__data.__owner, REAL(mtx_lock)(mutex));
}

HOOK int mtx_lock(mtx_t *mutex)
{
    return must_wait_for_mutex((pthread_mutex_t *)mutex) ? wait_for_mtx(mutex)
                                                         : REAL(mtx_lock)(mutex);
}

HOOK int mtx_timedlock(mtx_t *restrict mutex, const struct timespec *restrict until)
{
    if (!must_wait_for_mutex((pthread_mutex_t *)mutex))
        return REAL(mtx_timedlock)(mutex, until);
    WAIT_FOR(mutex, &((pthread_mutex_t *)mutex)->__data.__owner,
             REAL(mtx_timedlock)(mutex, until));
}

/* ---- read-write locks ---- */

/* Bits of __readers; the number of readers is above them. */
enum { WRITERS_TURN = 1, HAS_WRITER = 2, READER_SHIFT = 3 };

/* Readers wait for a writer that holds the lock or, by the lock's kind, for one that waits. */
static inline bool must_wait_to_read(const pthread_rwlock_t *lock)
{
    return __builtin_expect(LOOK(lock->__data.__readers) & (WRITERS_TURN | HAS_WRITER), 0) &&
           own_slot && LOOK(lock->__data.__cur_writer) != own_slot->tid;
}

static inline bool must_wait_to_write(const pthread_rwlock_t *lock)
{
    unsigned readers = LOOK(lock->__data.__readers);
    return __builtin_expect(readers >> READER_SHIFT || readers & HAS_WRITER, 0) && own_slot &&
           LOOK(lock->__data.__cur_writer) != own_slot->tid;
}

static __attribute__((noinline)) int wait_to_read(pthread_rwlock_t *lock)
{
    WAIT_FOR(lock, &lock->__data.__cur_writer, REAL(pthread_rwlock_rdlock)(lock));
}

static __attribute__((noinline)) int wait_to_write(pthread_rwlock_t *lock)
{
    WAIT_FOR(lock, &lock->__data.__cur_writer, REAL(pthread_rwlock_wrlock)(lock));
}

HOOK int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    return note_held(lock, must_wait_to_read(lock) ? wait_to_read(lock) : REAL(pthread_rwlock_rdlock)(lock));
}

HOOK int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
{
    return note_held(lock, REAL(pthread_rwlock_tryrdlock)(lock));
}

HOOK int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    return must_wait_to_write(lock) ? wait_to_write(lock) : REAL(pthread_rwlock_wrlock)(lock);
}

static __attribute__((noinline)) int wait_to_read_until(pthread_rwlock_t *lock, const struct timespec *until)
{
    WAIT_FOR(lock, &lock->__data.__cur_writer, REAL(pthread_rwlock_timedrdlock)(lock, until));
}

HOOK int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *until)
{
    return note_held(lock, must_wait_to_read(lock) ? wait_to_read_until(lock, until)
                                                   : REAL(pthread_rwlock_timedrdlock)(lock, until));
}

HOOK int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *until)
{
    if (!must_wait_to_write(lock))
        return REAL(pthread_rwlock_timedwrlock)(lock, until);
    WAIT_FOR(lock, &lock->__data.__cur_writer, REAL(pthread_rwlock_timedwrlock)(lock, until));
}

static __attribute__((noinline)) int wait_to_read_on_clock(pthread_rwlock_t *lock, clockid_t clock,
                                                           const struct timespec *until)
{
    WAIT_FOR(lock, &lock->__data.__cur_writer,
             REAL(pthread_rwlock_clockrdlock)(lock, clock, until));
}

HOOK int pthread_rwlock_clockrdlock(pthread_rwlock_t *lock, clockid_t clock,
                                    const struct timespec *until)
{
    return note_held(lock, must_wait_to_read(lock) ? wait_to_read_on_clock(lock, clock, until)
                                                   : REAL(pthread_rwlock_clockrdlock)(lock, clock, until));
}

HOOK int pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock,
                                    const struct timespec *until)
{
    if (!must_wait_to_write(lock))
        return REAL(pthread_rwlock_clockwrlock)(lock, clock, until);
    WAIT_FOR(lock, &lock->__data.__cur_writer,
             REAL(pthread_rwlock_clockwrlock)(lock, clock, until));
}

/* In __writers_futex, while a writer has the lock: others wait for it, too. */
enum { FUTEX_USED = 2 };

/* Whether others wait until the calling thread unlocks. While readers have the lock, only writers do. */
static inline bool others_wait(const pthread_rwlock_t *lock)
{
    unsigned readers = LOOK(lock->__data.__readers);
    bool is_alone = readers == (WRITERS_TURN | HAS_WRITER) && !(LOOK(lock->__data.__writers_futex) & FUTEX_USED);
    return readers & HAS_WRITER && !is_alone;
}

HOOK int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
    if (others_wait(lock))
        waker_note(lock, WAKES_NEXT_HOLDER);
    held_forget(own_slot, lock);
    return REAL(pthread_rwlock_unlock)(lock);
}

HOOK int pthread_rwlock_destroy(pthread_rwlock_t *lock)
{
    forget_in_all_threads(lock);
    return REAL(pthread_rwlock_destroy)(lock);
}

/* ---- spin locks ---- */

static pthread_spinlock_t free_spin_lock; /* what an unlocked spin lock contains */

__attribute__((constructor(HOOKS_FIRST))) static void learn_free_spin_lock(void)
{
    pthread_spin_init(&free_spin_lock, PTHREAD_PROCESS_PRIVATE);
}

static __attribute__((noinline)) int wait_for_spin_lock(pthread_spinlock_t *lock)
{
    WAIT_FOR(lock, NULL, REAL(pthread_spin_lock)(lock));
}

HOOK int pthread_spin_lock(pthread_spinlock_t *lock)
{
    bool is_free = __builtin_expect(LOOK(*lock) == free_spin_lock, 1);
    return note_held(lock, is_free ? REAL(pthread_spin_lock)(lock) : wait_for_spin_lock(lock));
}

HOOK int pthread_spin_trylock(pthread_spinlock_t *lock)
{
    return note_held(lock, REAL(pthread_spin_trylock)(lock));
}

HOOK int pthread_spin_unlock(pthread_spinlock_t *lock)
{
    held_forget(own_slot, lock);
    return REAL(pthread_spin_unlock)(lock);
}

HOOK int pthread_spin_destroy(pthread_spinlock_t *lock)
{
    forget_in_all_threads(lock);
    return REAL(pthread_spin_destroy)(lock);
}

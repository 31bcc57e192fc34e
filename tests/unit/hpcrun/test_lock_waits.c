/* Hooks on locks: whether unlocks note who wakes others up, and which locks a thread is known to have. The real
 * functions are made up here. */
#define HOOKS_FIRST 200

#include "tests/unit/hpcrun/made_up_functions.h"

#include "hpcrun/hooks/lock-waits.c"

#include <errno.h>

struct process process;
struct sampling sampling;
struct agent_slots slots;
__thread struct agent_slot *own_slot;

static const volatile void *noted;
static int result; /* of all real functions */

/* ---- stubs ---- */

static int made_up(void)
{
    return result;
}

static void *volatile any_function = (void *)made_up;

uint64_t waker_note(const volatile void *object, enum wakes wakes)
{
    assert_int_equal(wakes, WAKES_NEXT_HOLDER);
    noted = object;
    return 0;
}

bool wake_up_by_last(const volatile void *object, uint64_t since, uint64_t now)
{
    return true;
}

void lock_wait_record(struct agent_slot *of, const volatile void *lock)
{
}

/* ---- which unlocks leave a note ---- */

static void check_mutex(unsigned word, bool is_noted)
{
    pthread_mutex_t mutex = {.__data.__lock = (int)word};
    noted = NULL;
    pthread_mutex_unlock(&mutex);
    assert_ptr_equal(noted, is_noted ? &mutex : NULL);
}

TEST(an_unlock_is_noted_if_threads_wait_for_the_mutex)
{
    const unsigned ceiling = 50u << 19, tid = 1234567;
    check_mutex(1, false);
    check_mutex(2, true);
    check_mutex(ceiling | 1, false);
    check_mutex(ceiling | 2, true);
    check_mutex(tid, false);
    check_mutex(tid | FUTEX_WAITERS, true);
}

static void check_rwlock(unsigned readers, unsigned writers_futex, bool is_noted)
{
    pthread_rwlock_t lock = {.__data = {.__readers = readers, .__writers_futex = writers_futex}};
    noted = NULL;
    pthread_rwlock_unlock(&lock);
    assert_ptr_equal(noted, is_noted ? &lock : NULL);
}

TEST(an_unlock_is_noted_if_threads_wait_for_the_read_write_lock)
{
    const unsigned reader = 8, writer_waits = 2, writer_has_it = 3;
    check_rwlock(2 * reader, 0, false);
    check_rwlock(reader | writer_waits, 0, true);
    check_rwlock(writer_has_it, 1, false);
    check_rwlock(writer_has_it, 3, true);
    check_rwlock(writer_has_it | reader, 1, true);
}

/* ---- which locks a thread has ---- */

static const struct timespec never;
static struct agent_slot slot = {.tid = 1};

static unsigned held(const volatile void *lock)
{
    unsigned times = 0;
    for (unsigned i = 0; i < AGENT_MAX_HELD; i++)
        times += own_slot->held[i] == (uint64_t)(uintptr_t)lock;
    return times;
}

static void check_reading(int is_refused, int (*take)(pthread_rwlock_t *))
{
    pthread_rwlock_t lock = {.__data = {.__cur_writer = 0}};
    result = is_refused;
    take(&lock);
    assert_int_equal(held(&lock), !is_refused);
    pthread_rwlock_unlock(&lock);
    assert_int_equal(held(&lock), 0);
}

static int read_timed(pthread_rwlock_t *lock)
{
    return pthread_rwlock_timedrdlock(lock, &never);
}

static int read_on_clock(pthread_rwlock_t *lock)
{
    return pthread_rwlock_clockrdlock(lock, CLOCK_MONOTONIC, &never);
}

TEST(a_thread_has_the_locks_that_it_reads_under)
{
    own_slot = &slot;
    int (*const takes[])(pthread_rwlock_t *) = {pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, read_timed,
                                                read_on_clock};
    for (size_t i = 0; i < sizeof takes / sizeof *takes; i++) {
        check_reading(0, takes[i]);
        check_reading(EBUSY, takes[i]);
    }
}

/* The same lock may be taken twice, and one beyond those that there is room for is not known. */
TEST(locks_are_forgotten_in_any_order)
{
    pthread_rwlock_t locks[AGENT_MAX_HELD + 1] = {{.__data = {.__cur_writer = 0}}};
    own_slot = &slot;
    result = 0;
    for (unsigned i = 0; i < AGENT_MAX_HELD; i++)
        pthread_rwlock_rdlock(&locks[i ? i : 1]);
    pthread_rwlock_rdlock(&locks[0]);
    assert_int_equal(held(&locks[1]), 2);
    assert_int_equal(held(&locks[0]), 0);
    pthread_rwlock_unlock(&locks[0]);
    pthread_rwlock_unlock(&locks[1]);
    assert_int_equal(held(&locks[1]), 1);
    pthread_rwlock_rdlock(&locks[0]);
    assert_int_equal(held(&locks[0]), 1);
    for (unsigned i = 0; i < AGENT_MAX_HELD; i++)
        pthread_rwlock_unlock(&locks[i]);
    for (unsigned i = 0; i < AGENT_MAX_HELD; i++)
        assert_int_equal(slot.held[i], 0);
}

TEST(a_thread_has_the_spin_locks_that_it_took)
{
    pthread_spinlock_t lock = free_spin_lock;
    own_slot = &slot;
    result = EBUSY;
    pthread_spin_trylock(&lock);
    assert_int_equal(held(&lock), 0);
    result = 0;
    pthread_spin_trylock(&lock);
    assert_int_equal(held(&lock), 1);
    pthread_spin_unlock(&lock);
    assert_int_equal(held(&lock), 0);
    pthread_spin_lock(&lock);
    assert_int_equal(held(&lock), 1);
    pthread_spin_unlock(&lock);
    own_slot = NULL;
    pthread_spin_lock(&lock);
    pthread_spin_unlock(&lock);
    assert_int_equal(slot.held[0], 0);
}

/* Its memory may have another lock next. */
TEST(who_destroys_a_lock_makes_all_threads_forget_it)
{
    static struct agent_slot all[2];
    pthread_rwlock_t lock = {.__data = {.__readers = 2 << READER_SHIFT}}, other = lock;
    pthread_spinlock_t spin_lock = !free_spin_lock;
    slots.chunk[0] = all;
    slots.end = 2;
    own_slot = &all[0];
    result = 0;
    pthread_rwlock_rdlock(&lock);
    pthread_spin_trylock(&spin_lock);
    own_slot = &all[1];
    pthread_rwlock_rdlock(&other);
    pthread_rwlock_rdlock(&lock);
    pthread_rwlock_destroy(&lock);
    pthread_spin_destroy(&spin_lock);
    assert_int_equal(held(&lock), 0);
    assert_int_equal(held(&other), 1);
    own_slot = &all[0];
    assert_int_equal(held(&lock) + held(&spin_lock), 0);
}

EACH_TEST(NULL, NULL);

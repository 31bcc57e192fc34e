/* Hooks on unlocks: whether they note who wakes others up. The real functions are made up here. */
#define HPCRUN_BASE_HOOK_H

static int made_up(void);

/* volatile: the compiler would refuse to call a function that it knows as one of another type. */
static void *volatile any_function = (void *)made_up;

#define HOOK
#define HOOKS_FIRST 200
#define REAL_FUNCTION(name)
#define REAL(name) ((__typeof__(&name))any_function)

#include "tests/unit/cmocka_suite.h"

#include "hpcrun/hooks/lock-waits.c"

struct process process;
struct sampling sampling;
__thread struct agent_slot *own_slot;

static const volatile void *noted;

/* ---- stubs ---- */

static int made_up(void)
{
    return 0;
}

void waker_note(const volatile void *object)
{
    noted = object;
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

EACH_TEST(NULL, NULL);

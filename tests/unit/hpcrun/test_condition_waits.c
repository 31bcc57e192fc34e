/* Hooks on conditions and barriers: which calls leave a note of who wakes others up, and since when a thread waits for
 * an interpreter's lock. The real functions are made up here. */
#include "tests/unit/hpcrun/made_up_functions.h"

#include "hpcrun/hooks/condition-waits.c"

#include <errno.h>

struct process process;
struct sampling sampling;
struct agent_slots slots;
_Atomic(const struct agent_lock *) agent_lock;
__thread struct agent_slot *own_slot;

static struct agent_slot slot;
static const volatile void *noted, *asked;
static enum wakes noted_wakes;
static uint64_t asked_since;
static int result; /* of all real functions */
static uint64_t waits_until; /* they take until then */

/* ---- stubs ---- */

static int made_up(void)
{
    while (ticks_now() < waits_until) {
    }
    return result;
}

static void *volatile any_function = (void *)made_up;

uint64_t waker_note(const volatile void *object, enum wakes wakes)
{
    noted = object;
    noted_wakes = wakes;
    return 0;
}

bool wake_up_by_last(const volatile void *object, uint64_t since, uint64_t now)
{
    asked = object;
    asked_since = since;
    return true;
}

void lock_wait_record(struct agent_slot *of, const volatile void *lock)
{
}

struct call_start call_begins(void *frame, void *caller)
{
    return (struct call_start){.at = 0};
}

void call_ends(struct call_start before)
{
}

STEP(begin)
{
    noted = asked = NULL;
    result = 0;
    waits_until = 0;
    memset(&slot, 0, sizeof slot);
    own_slot = &slot;
}

/* ---- who wakes others up ---- */

static void check_noted(const void *object, enum wakes wakes)
{
    assert_ptr_equal(noted, object);
    assert_true(!object || noted_wakes == wakes);
    noted = NULL;
}

TEST(a_signal_wakes_one_and_a_broadcast_all_if_threads_wait)
{
    for (unsigned waiting = 0; waiting < 2; waiting++) {
        pthread_cond_t condition = {.__data.__wrefs = waiting << 3};
        const void *object = waiting ? &condition : NULL;
        pthread_cond_signal(&condition);
        check_noted(object, WAKES_ONE);
        pthread_cond_broadcast(&condition);
        check_noted(object, WAKES_ALL);
        cnd_signal((cnd_t *)&condition);
        check_noted(object, WAKES_ONE);
        cnd_broadcast((cnd_t *)&condition);
        check_noted(object, WAKES_ALL);
    }
}

/* glibc's own barrier: of rounds of three, the third, the sixth ... arrival ends a round. */
TEST(the_last_to_arrive_at_a_barrier_wakes_all)
{
    pthread_barrier_t barrier;
    memset(&barrier, 0, sizeof barrier);
    pthread_barrier_wait(&barrier);
    check_noted(NULL, WAKES_ALL); /* destroyed */
    assert_int_equal(pthread_barrier_init(&barrier, NULL, 3), 0);
    unsigned *arrived = (unsigned *)&barrier;
    for (; *arrived < 9; ++*arrived) {
        pthread_barrier_wait(&barrier);
        check_noted(*arrived % 3 == 2 ? &barrier : NULL, WAKES_ALL);
    }
}

/* ---- an interpreter's lock ---- */

static struct {
    pthread_cond_t condition;
    uint64_t turns;
} lock;
static pthread_mutex_t mutex;
static const struct timespec never;

/* The time at which the wait began that the hook tells of; 0: of none. Such a wait is long enough to be recorded. */
static uint64_t wait_with(int returned, bool is_long)
{
    asked = NULL;
    result = returned;
    waits_until = is_long ? ticks_now() + 2 * WAKE_UP_TICKS : 0;
    pthread_cond_timedwait(&lock.condition, &mutex, &never);
    return asked ? asked_since : 0;
}

TEST(waits_for_a_lock_that_time_out_are_parts_of_one_wait)
{
    struct agent_lock of = {.condition = (uint64_t)(uintptr_t)&lock.condition,
                            .turns = (uint64_t)(uintptr_t)&lock.turns};
    uint64_t first = ticks_now(), second;
    atomic_store(&agent_lock, &of);
    assert_int_equal(wait_with(ETIMEDOUT, true), 0);
    second = ticks_now();
    assert_in_range(wait_with(0, false), first, second); /* short, after a long one */
    second = ticks_now();
    assert_true(wait_with(0, true) >= second); /* another wait */
    wait_with(ETIMEDOUT, true);
    lock.turns++; /* another thread has had it */
    second = ticks_now();
    assert_true(wait_with(0, true) >= second);
    own_slot = NULL; /* a thread that is not measured */
    wait_with(0, false);
    assert_null(asked);
    atomic_store(&agent_lock, NULL);
}

EACH_TEST(begin, NULL);

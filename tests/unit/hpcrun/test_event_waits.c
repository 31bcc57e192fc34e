/* Hooks on calls that wait: what the real functions get, and what the program gets. The real functions are
 * made up here. */
#define HPCRUN_BASE_SYSTEM_CALL_H

static long sys6(long number, long a, long b, long c, long d, long e, long f);

#include "tests/unit/hpcrun/made_up_functions.h"

#include "agents/semaphore-holders.h"
#include "hpcrun/hooks/event-waits.c"

#define SAMPLES SIGRTMIN /* the sampling signal */

struct process process;
struct sampling sampling;
_Atomic(const struct agent_lock *) agent_lock;
__thread struct agent_slot *own_slot;

/* What the real function does, and what it saw. */
static struct {
    long result;
    int error;
    struct timespec rest; /* stored where `rest_at` says */
    int rest_at,
        set_at; /* index of the argument that points to a rest, or a signal set; -1: none */
    long argument[6];
    uint64_t set;
    bool has_start, waits;
    uint64_t lock, holder; /* of the slot */
    bool charges;          /* a holder's sample comes meanwhile */
    uint64_t ticks; /* that it takes */
} sim;

static bool has_start;
static struct agent_slot slot;

static long made_up(long a, long b, long c, long d, long e, long f)
{
    memcpy(sim.argument, (long[]){a, b, c, d, e, f}, sizeof sim.argument);
    sim.has_start = has_start;
    sim.waits = atomic_load(&slot.state) == AGENT_SLOT_WAITING;
    sim.lock = slot.lock;
    sim.holder = slot.holder;
    if (sim.charges)
        slot.is_charged = 1;
    if (sim.rest_at >= 0)
        *(struct timespec *)sim.argument[sim.rest_at] = sim.rest;
    if (sim.set_at >= 0)
        sim.set = *(const uint64_t *)sim.argument[sim.set_at];
    if (sim.error)
        errno = sim.error;
    for (uint64_t begin = ticks_now(); ticks_now() - begin < sim.ticks;)
        ;
    return sim.result;
}

static void *volatile any_function = (void *)made_up;

static long sys6(long number, long a, long b, long c, long d, long e, long f)
{
    assert_int_equal(number, SYS_io_getevents);
    return made_up(a, b, c, d, e, f);
}

struct call_start call_begins(void *frame, void *caller)
{
    assert_ptr_equal(((void **)frame)[1], caller); /* by which the sample recognizes the hook */
    has_start = true;
    return (struct call_start){.at = 0};
}

void call_ends(struct call_start before)
{
    assert_int_equal(before.at, 0);
    has_start = false;
}

static const volatile void *noted, *asked;

uint64_t waker_note(const volatile void *object, enum wakes wakes)
{
    assert_int_equal(wakes, WAKES_ONE);
    noted = object;
    return 0;
}

static const volatile void *recorded;

static bool recorded_semaphore;

void semaphore_wait_record(struct agent_slot *its, const volatile void *lock, bool is_semaphore)
{
    assert_ptr_equal(its, &slot);
    recorded = lock;
    recorded_semaphore = is_semaphore;
}

bool wake_up_by_last(const volatile void *object, uint64_t since, uint64_t time)
{
    asked = object;
    return true;
}

STEP(begin)
{
    noted = asked = recorded = NULL;
    agent_lock = NULL;
    memset(&sim, 0, sizeof sim);
    memset(&slot, 0, sizeof slot);
    sim.rest_at = sim.set_at = -1;
    atomic_store(&slot.state, AGENT_SLOT_WORKING);
    own_slot = &slot;
    process.active = true;
    process.signal = SAMPLES;
    errno = 0;
}

static const struct timespec wanted = {.tv_sec = 2}, rest = {.tv_sec = 1, .tv_nsec = 5};
static struct epoll_event event;

static int sleep_by_clock(struct timespec *left)
{
    sim.rest_at = 3;
    return clock_nanosleep(CLOCK_MONOTONIC, 0, &wanted, left);
}

static int sleep_by_nanosleep(struct timespec *left)
{
    sim.rest_at = 1;
    return nanosleep(&wanted, left);
}

static int sleep_by_thread(struct timespec *left)
{
    sim.rest_at = 1;
    return thrd_sleep(&wanted, left);
}

/* The kernel stores the rest at each sample. Only the rest at a handler of the program counts. */
TEST(only_an_interrupted_sleep_says_what_is_left)
{
    int (*const sleeps[])(struct timespec *) = {sleep_by_clock, sleep_by_nanosleep,
                                                sleep_by_thread};
    for (int i = 0; i < 3; i++) {
        struct timespec left = {.tv_sec = 77};
        begin(state);
        sim.rest = rest;
        assert_int_equal(sleeps[i](&left), 0);
        assert_int_equal(left.tv_sec, 77);
        sim.result = i == 0 ? EINTR : -1;
        sim.error = EINTR;
        assert_int_equal(sleeps[i](&left), sim.result);
        assert_int_equal(left.tv_sec, 1);
        assert_int_equal(left.tv_nsec, 5);
        assert_int_equal(sleeps[i](NULL), sim.result);
    }
}

TEST(a_sleep_until_a_time_has_no_rest)
{
    struct timespec left = {.tv_sec = 77};
    sim.result = EINTR;
    assert_int_equal(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &wanted, &left), EINTR);
    assert_int_equal(sim.argument[1], TIMER_ABSTIME);
    assert_int_equal(left.tv_sec, 77);
}

TEST(a_mask_never_has_the_sampling_signal)
{
    sigset_t all;
    int number;
    sigfillset(&all);
    for (int i = 0; i < 8; i++) {
        begin(state);
        sim.set_at = (const int[]){3, 5, 4, 4, 0, 0, 0, 0}[i];
        switch (i) {
        case 0: ppoll(NULL, 0, NULL, &all); break;
        case 1: pselect(0, NULL, NULL, NULL, NULL, &all); break;
        case 2: epoll_pwait(1, &event, 0, 0, &all); break;
        case 3: epoll_pwait2(1, &event, 0, NULL, &all); break;
        case 4: sigsuspend(&all); break;
        case 5: sigwait(&all, &number); break;
        case 6: sigwaitinfo(&all, NULL); break;
        default: sigtimedwait(&all, NULL, NULL);
        }
        assert_true(sim.set & sys_mask_bit(SIGUSR1));
        assert_false(sim.set & sys_mask_bit(SAMPLES));
    }
    assert_true(sigismember(&all, SAMPLES));
}

/* The kernel does not say how much of these times is left. */
TEST(the_begin_of_timed_calls_is_noted)
{
    struct aiocb *const requests[1] = {NULL};
    struct gaicb *const addresses[1] = {NULL};
    for (int i = 0; i < 10; i++) {
        begin(state);
        switch (i) {
        case 0: poll(NULL, 0, 10); break;
        case 1: epoll_wait(0, &event, 0, 10); break;
        case 2: epoll_pwait(0, &event, 0, 10, NULL); break;
        case 3: epoll_pwait2(0, &event, 0, &wanted, NULL); break;
        case 4: semtimedop(0, NULL, 0, &wanted); break;
        case 5: sigtimedwait(&(sigset_t){0}, NULL, &wanted); break;
        case 6: usleep(10); break;
        case 7: io_getevents(NULL, 0, 0, NULL, NULL); break;
        case 8: aio_suspend((const struct aiocb *const *)requests, 1, &wanted); break;
        default: gai_suspend((const struct gaicb *const *)addresses, 1, &wanted);
        }
        assert_true(sim.has_start && sim.waits);
        assert_false(has_start);
        assert_int_equal(atomic_load(&slot.state), AGENT_SLOT_WORKING);
    }
}

TEST(results_and_errors_stay)
{
    struct timeval timeout = {.tv_sec = 3};
    sim.result = -1;
    sim.error = EBADF;
    assert_int_equal(select(5, NULL, NULL, NULL, &timeout), -1);
    assert_int_equal(errno, EBADF);
    assert_int_equal(sim.argument[0], 5);
    assert_ptr_equal(sim.argument[4], &timeout);
    sim.result = 4;
    assert_int_equal(sleep(9), 4);
    assert_int_equal(sim.argument[0], 9);
    assert_int_equal(__poll_chk(NULL, 0, 77, 0), 4);
    assert_int_equal(sim.argument[2], 77);
}

EACH_TEST(begin, NULL);

/* glibc's semaphore: its value, and the number of those who wait. */
TEST(a_long_wait_for_a_semaphore_asks_for_the_waker)
{
    union {
        uint64_t word;
        sem_t semaphore;
    } at = {.word = 1};
    sim.ticks = 2 * WAKE_UP_TICKS;
    sem_post(&at.semaphore);
    sem_wait(&at.semaphore); /* is free */
    assert_null(asked);
    assert_null(noted);
    at.word = UINT64_C(3) << 32;
    sim.result = -1;
    sem_wait(&at.semaphore);
    assert_null(asked);
    sim.result = 0;
    sem_wait(&at.semaphore);
    assert_ptr_equal(asked, &at.semaphore);
    sem_post(&at.semaphore);
    assert_ptr_equal(noted, &at.semaphore);
    asked = NULL;
    sim.ticks = 0;
    sem_wait(&at.semaphore);
    assert_null(asked);
}

/* ---- locks of an interpreter ---- */

static const struct agent_lock all_code = {.code_size = UINT64_MAX};

static int wait_timed(sem_t *semaphore)
{
    return sem_timedwait(semaphore, &wanted);
}

static int wait_on_clock(sem_t *semaphore)
{
    return sem_clockwait(semaphore, CLOCK_MONOTONIC, &wanted);
}

static int (*const waits[])(sem_t *) = {sem_wait, wait_timed, wait_on_clock};

/* Makes a lock of a new semaphore, and has another thread take it. */
static void have_other_take(sem_t *semaphore)
{
    struct agent_slot other = {.tid = 8};
    slot.tid = 7;
    sim.result = 0;
    sem_init(semaphore, 0, 1);
    own_slot = &other;
    sem_trywait(semaphore);
    sem_post(semaphore);
    sem_trywait(semaphore);
    own_slot = &slot;
}

/* Whether another thread that waits for the semaphore finds a note of it. */
static bool is_noted(const sem_t *semaphore)
{
    struct agent_slot other = {.tid = 8};
    own_slot = &other;
    bool has_note = semaphore_holder(semaphore);
    own_slot = &slot;
    return has_note;
}

TEST(a_thread_waits_for_a_lock_of_the_interpreter)
{
    for (int i = 0; i < 3; i++) {
        sem_t semaphore;
        begin(state);
        agent_lock = &all_code;
        have_other_take(&semaphore);
        waits[i](&semaphore);
        assert_true(sim.waits);
        assert_int_equal(sim.lock, &semaphore);
        assert_true(sim.holder & AGENT_HOLDER_OF_SEMAPHORE);
        assert_null(recorded);
        const uint64_t *word = (const void *)(sim.holder & ~AGENT_HOLDER_OF_SEMAPHORE);
        assert_int_equal(*word, semaphore_held_by((uint64_t)&semaphore, 7));
        assert_int_equal(slot.lock + slot.holder, 0);
    }
}

TEST(what_a_holder_has_charged_is_recorded)
{
    for (int i = 0; i < 3; i++) {
        sem_t semaphore;
        begin(state);
        agent_lock = &all_code;
        have_other_take(&semaphore);
        sim.charges = true;
        waits[i](&semaphore);
        assert_ptr_equal(recorded, &semaphore);
        assert_true(recorded_semaphore);
    }
}

TEST(who_did_not_get_a_lock_does_not_hold_it)
{
    for (int i = 0; i < 3; i++) {
        sem_t semaphore;
        begin(state);
        agent_lock = &all_code;
        have_other_take(&semaphore);
        sim.result = -1;
        waits[i](&semaphore);
        const uint64_t *word = (const void *)(sim.holder & ~AGENT_HOLDER_OF_SEMAPHORE);
        sem_trywait(&semaphore);
        assert_int_equal(*word, semaphore_held_by((uint64_t)&semaphore, 8));
    }
}

TEST(semaphores_of_other_code_are_no_locks)
{
    const struct agent_lock code_before = {.code_size = 4096};
    for (int i = 0; i < 6; i++) {
        sem_t semaphore;
        begin(state);
        agent_lock = &all_code;
        sem_init(&semaphore, 0, 1); /* what an earlier test has left at this address is forgotten */
        agent_lock = i < 3 ? NULL : &code_before;
        have_other_take(&semaphore);
        sim.charges = true;
        waits[i % 3](&semaphore);
        assert_int_equal(sim.lock + sim.holder, 0);
        assert_null(recorded);
        assert_false(is_noted(&semaphore));
        agent_lock = &all_code;
        waits[i % 3](&semaphore);
        assert_true(is_noted(&semaphore));
    }
}

/* ---- locks of objects, for which a thread waits by a semaphore on its stack ---- */

static const struct agent_lock objects = {.code_size = UINT64_MAX, .byte_name = "<lock of an object>"};

struct entry {
    const void *waiter;
    const uint8_t *lock;
    sem_t semaphore;
    char after; /* further out on the stack */
};

static void wait_by(struct entry *entry, const struct agent_lock *kind)
{
    agent_lock = kind;
    recorded = NULL;
    sim.charges = true;
    sem_init(&entry->semaphore, 0, 0);
    sem_wait(&entry->semaphore);
    slot.is_charged = 0;
}

TEST(a_thread_waits_for_the_lock_of_an_object)
{
    uint8_t lock = BYTE_IS_WAITED_FOR;
    struct entry entry = {.lock = &lock};
    entry.waiter = &entry.after;
    slot.stack_low = (uint64_t)&entry;
    slot.stack_high = (uint64_t)(&entry + 1);
    slot.tid = 7;
    wait_by(&entry, &objects);
    assert_int_equal(sim.lock, &lock);
    assert_int_equal(sim.holder, AGENT_HOLDER_OF_BYTE | (uint64_t)&objects);
    assert_ptr_equal(recorded, &lock);
    assert_false(recorded_semaphore);
    assert_false(is_noted(&entry.semaphore)); /* the semaphore is nobody's */
}

TEST(other_waits_on_the_stack_are_for_no_object)
{
    uint8_t lock = BYTE_IS_WAITED_FOR, other = 2;
    struct entry entry;
    for (int i = 0; i < 7; i++) {
        entry = (struct entry){.waiter = &entry.after, .lock = &lock};
        slot.stack_low = (uint64_t)&entry + (i == 0 ? 8 : 0);
        slot.stack_high = i == 1 ? (uint64_t)&entry.semaphore : (uint64_t)(&entry + 1);
        if (i == 2)
            entry.waiter = NULL;
        if (i == 3)
            entry.waiter = &entry + 1;
        if (i == 4)
            entry.lock = NULL;
        if (i == 5)
            entry.lock = &other;
        wait_by(&entry, i == 6 ? &all_code : &objects);
        assert_int_equal(sim.lock + sim.holder, 0);
        assert_null(recorded);
    }
}

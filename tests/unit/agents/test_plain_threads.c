/* agents/pthread/agent.c: whom it serves, whom it counts, and whom it charges. */
#include "tests/unit/agents/own_slot.h"
#include "tests/unit/cmocka_suite.h"

#include "agents/common/thread-slots.h"
#include "agents/semaphore-holders.h"

enum { OWN_TID = 7, OTHER_TID = 8 };

extern const struct agent agent_for_threads;

static struct agent_slot chunk[AGENT_SLOTS];
static struct agent_slots slots = {.chunk = {chunk}};
static struct agent_cursor cursor = {.tid = OWN_TID};
static const char *refused; /* NULL: not */
static uint64_t claimed;    /* start of a module that another agent serves */
static int own_tid = OWN_TID, other_tid = OTHER_TID;
static unsigned reads;

static bool is_claimed(uint64_t pc)
{
    return pc == claimed;
}

static void refuse(const struct agent *agent, const char *why)
{
    assert_ptr_equal(agent, &agent_for_threads);
    refused = why;
}

static bool read_memory(const struct agent_cursor *its, uint64_t address, void *to, size_t size)
{
    assert_ptr_equal(its, &cursor);
    reads++;
    memcpy(to, (const void *)address, size);
    return true;
}

static struct agent_slot *add(enum agent_slot_state state)
{
    struct agent_slot *slot = &chunk[slots.end++];
    *slot = (struct agent_slot){.state = state};
    return slot;
}

/* A thread that waits for a lock whose holder has the tid that is there. */
static struct agent_slot *add_waiter(const int *holder)
{
    struct agent_slot *slot = add(AGENT_SLOT_WAITING);
    slot->lock = slot->holder = (uint64_t)holder;
    return slot;
}

static int begin(void **state)
{
    static const struct agent_host host = {
        .is_claimed = is_claimed, .refuse = refuse, .read = read_memory, .slots = &slots};
    slots.end = slots.sampled_waits = 0;
    own_slot = add(AGENT_SLOT_WORKING);
    refused = NULL;
    claimed = 0;
    return agent_for_threads.start(&host) ? 0 : -1;
}

static struct agent_module module(const char *path, uint64_t start)
{
    return (struct agent_module){.path = path, .start = start, .end = start + 1};
}

static void expect_service(bool is_served)
{
    assert_int_equal(refused == NULL, is_served);
    assert_int_equal(agent_for_threads.unwind_begin(&cursor),
                     is_served ? AGENT_WORKING : AGENT_FOREIGN);
}

/* While a runtime is there that no agent serves, its threads would count as working. */
TEST(other_runtimes_end_it_until_the_last_one_is_unloaded)
{
    const struct agent_module of_gcc = module("/lib/libgomp.so.1", 10),
                              its_copy = module("/copy/libgomp.so.1", 11),
                              of_llvm = module("/lib/libomp.so.5", 20),
                              unrelated = module("/lib/libgomp.so/libz.so.1", 30),
                              served = module("/copy/libgomp.so.1", 40);
    claimed = served.start;
    agent_for_threads.module_added(&unrelated);
    agent_for_threads.module_added(&served);
    expect_service(true);
    agent_for_threads.module_added(&of_gcc);
    expect_service(false);
    assert_non_null(strstr(refused, "GCC"));
    agent_for_threads.module_added(&its_copy);
    agent_for_threads.module_added(&of_llvm);
    agent_for_threads.module_removed(&unrelated);
    agent_for_threads.module_removed(&served);
    expect_service(false);
    agent_for_threads.module_removed(&of_gcc);
    expect_service(false);
    agent_for_threads.module_removed(&of_llvm);
    expect_service(false);
    agent_for_threads.module_removed(&its_copy);
    expect_service(true);
}

TEST(workers_are_the_threads_of_no_runtime)
{
    add(AGENT_SLOT_FREE);
    add(AGENT_SLOT_CALLING);
    add_waiter(&other_tid);
    add(AGENT_SLOT_WORKING)->pool = RUNTIME_TBB;
    struct agent_slot *caller = add(AGENT_SLOT_WORKING);
    caller->runtimes = RUNTIME_GOMP;
    struct agent_worker_counts counts = agent_for_threads.worker_counts(&cursor);
    assert_int_equal(counts.workers, 3);
    assert_int_equal(counts.working, 2);
    assert_int_equal(counts.waiting_for_this, 0);
    own_slot->state = AGENT_SLOT_WAITING;
    assert_int_equal(agent_for_threads.unwind_begin(&cursor), AGENT_WAITING);
    own_slot = caller;
    assert_int_equal(agent_for_threads.unwind_begin(&cursor), AGENT_FOREIGN);
    own_slot = NULL;
    assert_int_equal(agent_for_threads.unwind_begin(&cursor), AGENT_FOREIGN);
}

/* Each waiter in turn gets the amount for all. A thread of a runtime waits for locks like others. */
TEST(the_holder_charges_those_who_wait_for_it)
{
    struct agent_slot *first = add_waiter(&own_tid), *other = add_waiter(&other_tid),
                      *second = add_waiter(&own_tid);
    second->runtimes = RUNTIME_GOMP;
    add(AGENT_SLOT_WORKING)->holder = (uint64_t)&own_tid; /* it has the lock by now */
    assert_int_equal(agent_for_threads.worker_counts(&cursor).waiting_for_this, 2);
    for (int i = 0; i < 2; i++)
        assert_int_equal(agent_for_threads.charge_waiters(&cursor, 2, 1, 100), 2);
    assert_int_equal(first->delay[1], 200);
    assert_int_equal(second->delay[1], 200);
    assert_true(first->is_charged && second->is_charged);
    assert_false(other->is_charged);
    assert_int_equal(first->delay[0] + other->delay[1], 0);
}

/* Of three readers that have the lock, each pays for every third of its samples. */
TEST(readers_share_what_a_writer_waits)
{
    pthread_rwlock_t lock = {.__data = {.__readers = 3 << 3 | 2}}, other = {.__data = {.__readers = 1 << 3}};
    struct agent_slot *writer = add_waiter((int *)&lock.__data.__cur_writer);
    writer->lock = (uint64_t)&lock;
    assert_int_equal(agent_for_threads.worker_counts(&cursor).waiting_for_this, 0);
    own_slot->held[0] = (uint64_t)&other;
    assert_int_equal(agent_for_threads.worker_counts(&cursor).waiting_for_this, 0);
    own_slot->held[AGENT_MAX_HELD - 1] = (uint64_t)&lock;
    assert_int_equal(agent_for_threads.worker_counts(&cursor).waiting_for_this, 1);
    uint32_t paid = 0;
    for (int i = 0; i < 30; i++)
        paid += agent_for_threads.charge_waiters(&cursor, 1, 0, 100);
    assert_int_equal(paid, 10);
    assert_int_equal(writer->delay[0], 1000);
    lock.__data.__readers = 1 << 3 | 2;
    assert_int_equal(agent_for_threads.charge_waiters(&cursor, 1, 0, 100), 1);
    assert_int_equal(agent_for_threads.charge_waiters(&cursor, 1, 0, 100), 1);
}

/* A thread has freed a lock that it had for reading, without a word. Now another lock is at that address. */
TEST(a_writer_has_a_lock_alone)
{
    pthread_rwlock_t lock = {.__data = {.__readers = 3 << 3 | 3, .__cur_writer = cursor.tid + 1}};
    struct agent_slot *reader = add_waiter((int *)&lock.__data.__cur_writer);
    reader->lock = (uint64_t)&lock;
    own_slot->held[0] = (uint64_t)&lock;
    assert_int_equal(agent_for_threads.worker_counts(&cursor).waiting_for_this, 0);
    lock.__data.__cur_writer = cursor.tid;
    assert_int_equal(agent_for_threads.worker_counts(&cursor).waiting_for_this, 1);
    for (int i = 0; i < 3; i++)
        assert_int_equal(agent_for_threads.charge_waiters(&cursor, 1, 0, 100), 1);
}

TEST(a_spin_lock_has_one_holder)
{
    int lock[] = {0xffff};
    struct agent_slot *waiter = add_waiter(NULL);
    waiter->lock = (uint64_t)lock;
    own_slot->held[0] = (uint64_t)lock;
    assert_int_equal(agent_for_threads.worker_counts(&cursor).waiting_for_this, 1);
    for (int i = 0; i < 4; i++)
        assert_int_equal(agent_for_threads.charge_waiters(&cursor, 1, 0, 100), 1);
    assert_int_equal(waiter->delay[0], 400);
}

/* Other words: the semaphore is not known to be a lock, another thread has it, or it is another semaphore. */
TEST(a_semaphore_that_is_a_lock_has_a_holder)
{
    const uint64_t lock = 0x7f0000123450, held = semaphore_held_by(lock, OWN_TID);
    uint64_t word = held;
    struct agent_slot *waiter = add(AGENT_SLOT_WAITING);
    waiter->lock = lock;
    waiter->holder = AGENT_HOLDER_OF_SEMAPHORE | (uint64_t)&word;
    assert_int_equal(agent_for_threads.worker_counts(&cursor).waiting_for_this, 1);
    assert_int_equal(agent_for_threads.charge_waiters(&cursor, 1, 0, 100), 1);
    assert_int_equal(waiter->delay[0], 100);
    const uint64_t others[] = {held & ~SEMAPHORE_IS_LOCK, held | SEMAPHORE_IS_SIGNAL, semaphore_held_by(lock, OTHER_TID),
                               semaphore_held_by(lock, 0), semaphore_held_by(lock + 16, OWN_TID), 0};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        word = others[i];
        assert_int_equal(agent_for_threads.worker_counts(&cursor).waiting_for_this, 0);
    }
    word = held;
    own_slot->lock = lock;
    own_slot->state = AGENT_SLOT_WAITING;
    assert_int_equal(agent_for_threads.worker_counts(&cursor).waiting_for_this, 0);
}

/* An interpreter says which sections of code a thread is in, and each section which locks of objects it has. */
struct section {
    uint64_t around;
    const void *locks[2];
};

static struct {
    uint64_t tid, sections;
} interpreted;

static const struct agent_lock objects = {.tid = 0, .sections = 8};

static uint32_t waiters_for_byte(const uint8_t *lock)
{
    struct agent_slot *waiter = add(AGENT_SLOT_WAITING);
    waiter->lock = (uint64_t)lock;
    waiter->holder = AGENT_HOLDER_OF_BYTE | (uint64_t)&objects;
    uint32_t count = agent_for_threads.worker_counts(&cursor).waiting_for_this;
    slots.end--;
    return count;
}

TEST(a_thread_has_the_locks_of_the_sections_that_it_is_in)
{
    static const uint8_t locks[4];
    struct section outer = {0, {&locks[0]}}, inner = {(uint64_t)&outer, {&locks[1], &locks[2]}};
    interpreted.tid = OWN_TID;
    interpreted.sections = (uint64_t)&inner | SECTION_HAS_TWO;
    assert_int_equal(waiters_for_byte(&locks[0]), 0);
    own_slot->interpreted = (uint64_t)&interpreted;
    const uint32_t expected[] = {1, 1, 1, 0};
    for (int i = 0; i < 4; i++)
        assert_int_equal(waiters_for_byte(&locks[i]), expected[i]);
    interpreted.sections = (uint64_t)&inner;
    assert_int_equal(waiters_for_byte(&locks[2]), 0);
    inner.around |= SECTION_IS_LEFT;
    assert_int_equal(waiters_for_byte(&locks[0]), 0);
    assert_int_equal(waiters_for_byte(&locks[1]), 1);
    interpreted.sections |= SECTION_IS_LEFT;
    assert_int_equal(waiters_for_byte(&locks[1]), 0);
}

/* The thread's structure may be freed, and its memory be another thread's. */
TEST(sections_of_another_thread_are_not_looked_at)
{
    static const uint8_t lock;
    struct section section = {0, {&lock}};
    own_slot->interpreted = (uint64_t)&interpreted;
    interpreted.tid = OTHER_TID;
    interpreted.sections = (uint64_t)&section;
    assert_int_equal(waiters_for_byte(&lock), 0);
    interpreted.tid = OWN_TID;
    assert_int_equal(waiters_for_byte(&lock), 1);
    section.around = (uint64_t)&section; /* not a list */
    assert_int_equal(waiters_for_byte(&lock + 1), 0);
}

/* By an event whose samples come while threads wait, too: a holder with too many of them pays no more than its waiters
 * have waited by their own, but for eight. */
TEST(a_waiter_is_paid_for_what_it_has_waited)
{
    struct agent_slot *first = add_waiter(&own_tid), *second = add_waiter(&own_tid);
    slots.sampled_waits = 1u << 1;
    first->unpaid[1] = 500;
    uint32_t paid = 0;
    for (int i = 0; i < 30; i++)
        paid += agent_for_threads.charge_waiters(&cursor, 2, 1, 100);
    assert_int_equal(paid, 5 + 8 + 8);
    assert_int_equal(first->unpaid[1], -800);
    assert_int_equal(first->delay[1] + second->delay[1], paid * 100);
    second->unpaid[1] += 100;
    assert_int_equal(agent_for_threads.charge_waiters(&cursor, 2, 1, 100), 1);
    for (int i = 0; i < 30; i++)
        assert_int_equal(agent_for_threads.charge_waiters(&cursor, 2, 0, 100), 2);
}

/* By an event that does not sample waits, only the one that gets the amount is looked for. */
TEST(waiters_are_not_counted_again)
{
    enum { WAITERS = 20, CALLS = 10 * WAITERS };
    for (int i = 0; i < WAITERS; i++)
        add_waiter(&own_tid);
    reads = 0;
    for (int i = 0; i < CALLS; i++)
        assert_int_equal(agent_for_threads.charge_waiters(&cursor, WAITERS, 0, 100), WAITERS);
    assert_in_range(reads, CALLS, CALLS * (WAITERS + 1) / 2);
}

/* Of who has the lock, a waiter may know an older state. */
TEST(who_waits_for_a_lock_does_not_hold_it)
{
    struct agent_slot *waiter = add_waiter(&own_tid);
    own_slot->lock = waiter->lock;
    assert_int_equal(agent_for_threads.worker_counts(&cursor).waiting_for_this, 1);
    own_slot->state = AGENT_SLOT_WAITING;
    assert_int_equal(agent_for_threads.worker_counts(&cursor).waiting_for_this, 0);
    own_slot->lock++;
    assert_int_equal(agent_for_threads.worker_counts(&cursor).waiting_for_this, 1);
}

TEST(the_turn_is_that_of_an_interpreters_lock)
{
    uint64_t turns = 40;
    uint32_t locked = 1;
    const int *holder = &own_tid;
    const struct agent_lock lock = {
        .locked = (uint64_t)&locked, .holder = (uint64_t)&holder, .turns = (uint64_t)&turns};
    add_waiter(&own_tid);
    assert_int_equal(agent_for_threads.worker_counts(&cursor).turn, 0);
    add(AGENT_SLOT_WAITING)->holder = AGENT_HOLDER_OF_LOCK | (uint64_t)&lock;
    assert_int_equal(agent_for_threads.worker_counts(&cursor).turn, 41);
    holder = &other_tid;
    assert_int_equal(agent_for_threads.worker_counts(&cursor).turn, 0);
}

TEST(a_waiter_that_has_gone_is_not_charged)
{
    add_waiter(&other_tid);
    assert_int_equal(agent_for_threads.charge_waiters(&cursor, 1, 0, 100), 0);
}

EACH_TEST(begin, NULL);

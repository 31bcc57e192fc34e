/* hpcrun/logical/lock-waiters.c: who waits for locks of the sampled thread, and who is charged. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/logical/lock-waiters.h"
#include "hpcrun/logical/wait-slots.h"

#include <pthread.h>
#include <string.h>

enum { OWN_TID = 7, OTHER_TID = 8, GOMP = 1 };

struct agent_slots slots;
__thread struct agent_slot *own_slot;

static struct agent_slot chunk[AGENT_SLOTS];
static struct memory memory;
static unsigned loads;
_Alignas(8) static int own_tid = OWN_TID;
_Alignas(8) static int other_tid = OTHER_TID;

bool memory_load_guarded(struct memory *its, uint64_t address, uint64_t *value)
{
    assert_ptr_equal(its, &memory);
    assert_int_equal(address % sizeof *value, 0);
    loads++;
    memcpy(value, (const void *)address, sizeof *value);
    return true;
}

static struct agent_query query;
static const struct agent agents_of[2];

unsigned agents_index(const struct agent *agent)
{
    return (unsigned)(agent - agents_of);
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

static uint32_t charge(unsigned event)
{
    return lock_waiters_charge(&memory, OWN_TID, &query, event, 100).count;
}

/* Those that are charged by an event that does not sample waits. */
static uint32_t waiters(void)
{
    return lock_waiters_charge(&memory, OWN_TID, &query, 0, 0).count;
}

static int begin(void **state)
{
    slots = (struct agent_slots){.chunk = {chunk}};
    own_slot = add(AGENT_SLOT_WORKING);
    query.cursor[1].host_private = NULL;
    return 0;
}

/* Each waiter in turn gets the amount for all. A thread of a runtime waits for locks like others. */
TEST(the_holder_charges_those_who_wait_for_it)
{
    struct agent_slot *first = add_waiter(&own_tid), *other = add_waiter(&other_tid),
                      *second = add_waiter(&own_tid);
    second->runtimes = GOMP;
    add(AGENT_SLOT_WORKING)->holder = (uint64_t)&own_tid; /* it has the lock by now */
    assert_int_equal(waiters(), 2);
    for (int i = 0; i < 2; i++)
        assert_int_equal(charge(1), 2);
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
    assert_int_equal(waiters(), 0);
    own_slot->held[0] = (uint64_t)&other;
    assert_int_equal(waiters(), 0);
    own_slot->held[AGENT_MAX_HELD - 1] = (uint64_t)&lock;
    assert_int_equal(waiters(), 1);
    uint32_t paid = 0;
    for (int i = 0; i < 30; i++)
        paid += charge(0);
    assert_int_equal(paid, 10);
    assert_int_equal(writer->delay[0], 1000);
    lock.__data.__readers = 1 << 3 | 2;
    assert_int_equal(charge(0), 1);
    assert_int_equal(charge(0), 1);
}

/* A thread has freed a lock that it had for reading, without a word. Now another lock is at that address. */
TEST(a_writer_has_a_lock_alone)
{
    pthread_rwlock_t lock = {.__data = {.__readers = 3 << 3 | 3, .__cur_writer = OWN_TID + 1}};
    struct agent_slot *reader = add_waiter((int *)&lock.__data.__cur_writer);
    reader->lock = (uint64_t)&lock;
    own_slot->held[0] = (uint64_t)&lock;
    assert_int_equal(waiters(), 0);
    lock.__data.__cur_writer = OWN_TID;
    assert_int_equal(waiters(), 1);
    for (int i = 0; i < 3; i++)
        assert_int_equal(charge(0), 1);
}

TEST(a_spin_lock_has_one_holder)
{
    int lock[] = {0xffff};
    struct agent_slot *waiter = add_waiter(NULL);
    waiter->lock = (uint64_t)lock;
    own_slot->held[0] = (uint64_t)lock;
    assert_int_equal(waiters(), 1);
    for (int i = 0; i < 4; i++)
        assert_int_equal(charge(0), 1);
    assert_int_equal(waiter->delay[0], 400);
}

/* A thread waits in a runtime, or there in libc. Runtimes have other waits, too. */
TEST(a_lock_of_a_runtime_has_a_holder)
{
    const int lock = 0;
    struct agent_slot *waiter = add(AGENT_SLOT_IDLE);
    own_slot->held[1] = (uint64_t)&lock;
    assert_int_equal(waiters(), 0);
    waiter->lock = (uint64_t)&lock;
    assert_int_equal(waiters(), 1);
    waiter->state = AGENT_SLOT_ASLEEP;
    assert_int_equal(waiters(), 1);
    waiter->state = AGENT_SLOT_WORKING;
    assert_int_equal(waiters(), 0);
}

/* Other words: the semaphore is not known to be a lock, another thread has it, or it is another semaphore. */
TEST(a_semaphore_that_is_a_lock_has_a_holder)
{
    const uint64_t lock = 0x7f0000123450, held = semaphore_held_by(lock, OWN_TID);
    uint64_t word = held;
    struct agent_slot *waiter = add(AGENT_SLOT_WAITING);
    waiter->lock = lock;
    waiter->holder = AGENT_HOLDER_OF_SEMAPHORE | (uint64_t)&word;
    assert_int_equal(waiters(), 1);
    assert_int_equal(charge(0), 1);
    assert_int_equal(waiter->delay[0], 100);
    const uint64_t others[] = {held & ~SEMAPHORE_IS_LOCK, held | SEMAPHORE_IS_SIGNAL, semaphore_held_by(lock, OTHER_TID),
                               semaphore_held_by(lock, 0), semaphore_held_by(lock + 16, OWN_TID), 0};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        word = others[i];
        assert_int_equal(waiters(), 0);
    }
    word = held;
    own_slot->lock = lock;
    own_slot->state = AGENT_SLOT_WAITING;
    assert_int_equal(waiters(), 0);
}

/* An agent says whether the thread has it. Another agent's locks are not looked for, nor is one without data. */
static const struct agent_cursor *asked_for;
static uint64_t asked_lock;
static bool has_byte;

static bool is_holder(const struct agent_cursor *cursor, uint64_t lock)
{
    asked_for = cursor;
    asked_lock = lock;
    return has_byte;
}

TEST(an_agent_knows_the_holder_of_a_byte)
{
    const struct agent_lock kind = {.agent = &agents_of[1], .has_byte = is_holder};
    struct agent_slot *waiter = add(AGENT_SLOT_WAITING);
    waiter->lock = 4711;
    waiter->holder = AGENT_HOLDER_OF_BYTE | (uint64_t)&kind;
    has_byte = true;
    assert_int_equal(waiters(), 0);
    assert_null(asked_for);
    query.cursor[1].host_private = &query;
    assert_int_equal(waiters(), 1);
    assert_ptr_equal(asked_for, &query.cursor[1]);
    assert_int_equal(asked_lock, 4711);
    own_slot->lock = waiter->lock;
    own_slot->state = AGENT_SLOT_WAITING;
    assert_int_equal(waiters(), 0);
    own_slot->lock = 1;
    assert_int_equal(waiters(), 1);
    has_byte = false;
    assert_int_equal(waiters(), 0);
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
        paid += charge(1);
    assert_int_equal(paid, 5 + 8 + 8);
    assert_int_equal(first->unpaid[1], -800);
    assert_int_equal(first->delay[1] + second->delay[1], paid * 100);
    second->unpaid[1] += 100;
    assert_int_equal(charge(1), 1);
    for (int i = 0; i < 30; i++)
        assert_int_equal(charge(0), 2);
}

/* By an event that does not sample waits, waiters are counted, and only the one that gets the amount is looked for. */
TEST(waiters_are_not_counted_again)
{
    enum { WAITERS = 20, CALLS = 10 * WAITERS };
    for (int i = 0; i < WAITERS; i++)
        add_waiter(&own_tid);
    loads = 0;
    for (int i = 0; i < CALLS; i++)
        assert_int_equal(charge(0), WAITERS);
    assert_in_range(loads, CALLS * (WAITERS + 1), CALLS * WAITERS + CALLS * (WAITERS + 1) / 2);
}

/* Of who has the lock, a waiter may know an older state. */
TEST(who_waits_for_a_lock_does_not_hold_it)
{
    struct agent_slot *waiter = add_waiter(&own_tid);
    own_slot->lock = waiter->lock;
    assert_int_equal(waiters(), 1);
    own_slot->state = AGENT_SLOT_WAITING;
    assert_int_equal(waiters(), 0);
    own_slot->lock++;
    assert_int_equal(waiters(), 1);
}

TEST(the_turn_is_that_of_an_interpreters_lock)
{
    uint64_t turns = 40;
    uint32_t locked = 1;
    const int *holder = &own_tid;
    const struct agent_lock lock = {
        .locked = (uint64_t)&locked, .holder = (uint64_t)&holder, .turns = (uint64_t)&turns};
    add_waiter(&own_tid);
    assert_int_equal(lock_waiters_charge(&memory, OWN_TID, &query, 0, 0).turn, 0);
    add(AGENT_SLOT_WAITING)->holder = AGENT_HOLDER_OF_LOCK | (uint64_t)&lock;
    assert_int_equal(lock_waiters_charge(&memory, OWN_TID, &query, 0, 0).turn, 41);
    holder = &other_tid;
    assert_int_equal(lock_waiters_charge(&memory, OWN_TID, &query, 0, 0).turn, 0);
}

TEST(a_waiter_that_has_gone_is_not_charged)
{
    add_waiter(&other_tid);
    assert_int_equal(charge(0), 0);
}

EACH_TEST(begin, NULL);

/* hpcrun/logical/semaphore-locks.c: which semaphores are locks, and who holds them. */
#include "hpcrun/logical/semaphore-locks.h"

#include "tests/unit/cmocka_suite.h"

#include "agents/semaphore-holders.h"

#include "hpcrun/logical/wait-slots.h"

#include <semaphore.h>

__thread struct agent_slot *own_slot;

enum { FIRST = 7, SECOND = (1 << 22) - 1 };

static struct agent_slot first = {.tid = FIRST}, second = {.tid = SECOND};
static sem_t *semaphore, *same_word; /* another semaphore with the same index */

/* Semaphores of malloc are 16 bytes apart at least. They are not read, so there need be none. */
static sem_t *other_with_index_of(const sem_t *of)
{
    uint64_t at = (uint64_t)of;
    do
        at += 16;
    while (semaphore_index(at) != semaphore_index((uint64_t)of));
    return (sem_t *)at;
}

STEP(begin)
{
    static uint64_t next = 0x7f0000001000;
    semaphore = (sem_t *)(next += 0x100000010);
    same_word = other_with_index_of(semaphore);
    own_slot = &first;
}

/* The word that a waiting thread finds; 0: the semaphore is no lock. */
static uint64_t word_of(const sem_t *its)
{
    struct agent_slot *before = own_slot, waiter = {.tid = 99};
    own_slot = &waiter;
    uint64_t holder = (uint64_t)semaphore_holder(its);
    own_slot = before;
    assert_true(!holder || holder & AGENT_HOLDER_OF_SEMAPHORE);
    return holder ? *(const uint64_t *)(holder & ~AGENT_HOLDER_OF_SEMAPHORE) : 0;
}

static bool is_held_by(const sem_t *its, int tid)
{
    return word_of(its) == semaphore_held_by((uint64_t)its, tid);
}

static void take(struct agent_slot *by, const sem_t *its)
{
    own_slot = by;
    semaphore_taken(its);
}

static void release(struct agent_slot *by, const sem_t *its)
{
    own_slot = by;
    semaphore_released(its);
}

TEST(the_thread_that_took_a_lock_holds_it)
{
    take(&first, semaphore);
    release(&first, semaphore);
    assert_true(semaphore_is_lock(word_of(semaphore), (uint64_t)semaphore));
    assert_false(is_held_by(semaphore, FIRST));
    take(&second, semaphore);
    assert_true(is_held_by(semaphore, SECOND));
    assert_false(is_held_by(semaphore, FIRST));
    release(&second, semaphore);
    assert_false(is_held_by(semaphore, SECOND));
}

/* 3.11's join waits for one that the other thread takes when it begins, and releases when it ends. */
TEST(one_that_nobody_has_released_is_no_lock_yet)
{
    take(&first, semaphore);
    assert_int_equal(word_of(semaphore) & SEMAPHORE_TID, FIRST);
    assert_false(semaphore_is_lock(word_of(semaphore), (uint64_t)semaphore));
    assert_false(is_held_by(semaphore, FIRST));
}

TEST(one_that_another_thread_releases_is_a_signal)
{
    take(&first, semaphore);
    release(&first, semaphore);
    take(&first, semaphore);
    release(&second, semaphore);
    take(&second, semaphore);
    assert_int_equal(word_of(semaphore), 0);
    release(&second, semaphore);
    take(&second, semaphore);
    assert_int_equal(word_of(semaphore), 0);
}

/* A thread without a slot has no tid here. */
TEST(one_that_an_unknown_thread_releases_is_a_signal)
{
    take(&first, semaphore);
    release(NULL, semaphore);
    take(&first, semaphore);
    assert_int_equal(word_of(semaphore), 0);
}

TEST(an_unknown_thread_leaves_nothing)
{
    take(&first, semaphore);
    release(&first, semaphore);
    take(NULL, semaphore);
    assert_int_equal(word_of(semaphore) & SEMAPHORE_TID, 0);
    release(NULL, semaphore);
    take(&second, semaphore);
    assert_true(is_held_by(semaphore, SECOND));
}

/* Condition.wait takes a new lock and waits for it. */
TEST(one_that_a_thread_waits_for_while_it_has_it_is_a_signal)
{
    take(&first, semaphore);
    release(&first, semaphore);
    take(&first, semaphore);
    assert_null(semaphore_holder(semaphore));
    release(&first, semaphore);
    take(&first, semaphore);
    assert_int_equal(word_of(semaphore), 0);
}

TEST(a_new_semaphore_at_an_address_begins_anew)
{
    take(&first, semaphore);
    release(&second, semaphore);
    semaphore_begins(semaphore);
    take(&first, semaphore);
    release(&first, semaphore);
    take(&first, semaphore);
    assert_true(is_held_by(semaphore, FIRST));
    semaphore_begins(same_word);
    assert_true(is_held_by(semaphore, FIRST));
}

TEST(of_two_with_one_word_a_held_one_stays)
{
    take(&first, semaphore);
    release(&first, semaphore);
    take(&first, semaphore);
    take(&second, same_word);
    assert_int_equal(word_of(same_word), 0);
    release(&second, same_word);
    assert_true(is_held_by(semaphore, FIRST));
    release(&first, semaphore);
    take(&second, same_word);
    release(&second, same_word);
    take(&second, same_word);
    assert_true(is_held_by(same_word, SECOND));
    assert_int_equal(word_of(semaphore), 0);
    release(&first, semaphore);
    assert_true(is_held_by(same_word, SECOND));
}

/* The index and the tag tell all user addresses apart. */
TEST(addresses_differ_in_index_or_tag)
{
    for (uint64_t bit = 1; bit < UINT64_C(1) << SEMAPHORE_ADDRESS_BITS; bit <<= 1) {
        uint64_t at = 0x7f1234567890, with = at ^ bit;
        assert_true(semaphore_index(at) != semaphore_index(with) || semaphore_tag(at) != semaphore_tag(with));
        assert_in_range(semaphore_index(with), 0, (1 << SEMAPHORE_INDEX_BITS) - 1);
        assert_int_equal(semaphore_tag(with) & (SEMAPHORE_TID | SEMAPHORE_IS_LOCK | SEMAPHORE_IS_SIGNAL), 0);
    }
}

EACH_TEST(begin, NULL);

/* hpcrun/logical/stack-owner.h: the thread on whose stack an address is. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/logical/stack-owner.h"
#include "hpcrun/logical/wait-slots.h"

#include <pthread.h>

enum { INITIAL = 1, OTHER, THIRD }; /* tids; indices are 10 times as high */

/* Gives a new thread a slot. */
static struct agent_slot *begin_thread(int tid, uint64_t low, uint64_t high)
{
    slot_take(tid, 10 * (uint32_t)tid, low, high);
    assert_non_null(own_slot);
    return own_slot;
}

static void end_thread(struct agent_slot *slot)
{
    own_slot = slot;
    slot_release();
}

/* The thread on whose stack the address is; 0: none. */
static int owner_at(uint64_t address)
{
    struct stack_owner owner = stack_owner_of(address);
    assert_int_equal(stack_owner_holds(&owner, address), owner.slot != NULL);
    assert_int_equal(owner.thread != 0, owner.slot != NULL);
    return owner.slot ? owner.slot->tid : 0;
}

TEST(each_address_is_on_one_stack)
{
    assert_int_equal(owner_at(0x1000), 0);
    struct agent_slot *initial = begin_thread(INITIAL, 0x8000, 0x9000);
    struct agent_slot *other = begin_thread(OTHER, 0x1000, 0x2000);
    struct agent_slot *unknown = begin_thread(THIRD, 0, 0);
    assert_int_equal(owner_at(0x1000), OTHER);
    assert_int_equal(owner_at(0x1fff), OTHER);
    assert_int_equal(owner_at(0x2000), 0);
    assert_int_equal(owner_at(0x8fff), INITIAL);
    assert_int_equal(owner_at(0), 0);
    end_thread(unknown);
    end_thread(other);
    end_thread(initial);
}

/* The program has given the other thread an array on the first one's stack. */
TEST(a_stack_on_another_one)
{
    struct agent_slot *initial = begin_thread(INITIAL, 0x8000, 0x9000);
    struct agent_slot *other = begin_thread(OTHER, 0x8400, 0x8600);
    struct agent_slot *third = begin_thread(THIRD, 0x8000, 0xa000);
    assert_int_equal(owner_at(0x8500), OTHER);
    assert_int_equal(owner_at(0x8600), INITIAL);
    assert_int_equal(owner_at(0x9000), THIRD);
    end_thread(other);
    assert_int_equal(owner_at(0x8500), INITIAL);
    end_thread(third);
    end_thread(initial);
}

TEST(a_stack_that_another_thread_gets)
{
    struct agent_slot *slot = begin_thread(OTHER, 0x1000, 0x2000);
    struct stack_owner before = stack_owner_of(0x1800);
    end_thread(slot);
    assert_int_equal(owner_at(0x1800), 0);
    assert_false(stack_owner_holds(&before, 0x1800));
    assert_int_equal(slot->stack_low, 0x1000); /* for a reader that has read stack_high before */
    assert_ptr_equal(begin_thread(THIRD, 0x1000, 0x2000), slot);
    assert_int_equal(owner_at(0x1800), THIRD);
    assert_false(stack_owner_holds(&before, 0x1800));
    assert_int_not_equal(stack_owner_of(0x1800).thread, before.thread);
    end_thread(slot);
}

TEST(a_fork_keeps_the_own_stack)
{
    struct agent_slot *other = begin_thread(OTHER, 0x1000, 0x2000);
    struct agent_slot *own = begin_thread(INITIAL, 0x8000, 0x9000);
    struct stack_owner before = stack_owner_of(0x8000);
    slots_after_fork(THIRD, 0);
    assert_int_equal(other->state, AGENT_SLOT_FREE);
    assert_int_equal(owner_at(0x1000), 0);
    assert_int_equal(owner_at(0x8000), THIRD);
    assert_false(stack_owner_holds(&before, 0x8000));
    end_thread(own);
}

TEST(the_note_of_a_thread)
{
    struct lnote first, second;
    struct agent_slot *slot = begin_thread(INITIAL, 0x8000, 0x9000);
    assert_true(stack_owner_note(slot->thread, &first));
    slots_after_fork(OTHER, 20);
    assert_true(stack_owner_note(slot->thread, &second));
    assert_int_equal(second.value - first.value, 20 - 10 * INITIAL);
    assert_false(stack_owner_note(0, &first));
    end_thread(slot);
}

/* Threads with stacks at different places use one slot in turn, while a reader asks. */
enum { ROUNDS = 200000, PLACES = 2 };
static const uint64_t places[PLACES] = {0x1000, 0x5000};
static _Atomic bool is_over;

static void *change_hands(void *unused)
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        slot_take(1, i, places[i % PLACES], places[i % PLACES] + 0x1000);
        slot_release();
    }
    is_over = true;
    return unused;
}

TEST(a_slot_that_changes_hands_has_one_stack)
{
    pthread_t writer;
    assert_int_equal(pthread_create(&writer, NULL, change_hands, NULL), 0);
    while (!is_over) {
        assert_null(stack_owner_of(0x3000).slot); /* between the two */
        for (int i = 0; i < PLACES; i++) {
            struct stack_owner owner = stack_owner_of(places[i]);
            uint32_t index;
            if (owner.thread && slot_thread_index(owner.thread, &index))
                assert_int_equal(index % PLACES, i);
        }
    }
    pthread_join(writer, NULL);
}

/* hpcrun/logical/wait-slots.h: slots of threads, and the state of a thread that waits. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/logical/long-calls.h"

struct process process = {.active = true};
struct sampling sampling;

static enum agent_slot_state state_now(void)
{
    return atomic_load(&own_slot->state);
}

static int begin(void **state)
{
    slot_take(1, 10, 0, 0);
    return own_slot ? 0 : -1;
}

static int end(void **state)
{
    slot_release();
    return own_slot ? -1 : 0;
}

TEST(a_wait_ends_as_it_began)
{
    struct wait wait = wait_begin(own_slot, NULL, NULL);
    assert_int_equal(state_now(), AGENT_SLOT_WAITING);
    wait_end(&wait);
    assert_int_equal(state_now(), AGENT_SLOT_WORKING);
}

TEST(each_call_has_a_number)
{
    assert_int_equal(slot_call(NULL), 0);
    assert_int_equal(slot_call(own_slot), 0);
    struct wait wait = wait_begin(own_slot, NULL, NULL);
    uint32_t first = slot_call(own_slot);
    wait_end(&wait);
    assert_int_equal(slot_call(own_slot), 0);
    struct long_call call = long_call_begin(own_slot, 0);
    uint32_t second = slot_call(own_slot);
    long_call_end(&call);
    atomic_store(&own_slot->state, AGENT_SLOT_IDLE);
    wait = wait_begin(own_slot, NULL, NULL);
    uint32_t third = slot_call(own_slot);
    wait_end(&wait);
    assert_true(first && second && third && first != second && second != third);
}

/* A runtime waits by libc, too, and a handler of the program may wait meanwhile. */
TEST(an_idle_thread_does_not_wait_for_the_program)
{
    atomic_store(&own_slot->state, AGENT_SLOT_IDLE);
    struct wait wait = wait_begin(own_slot, NULL, NULL);
    assert_int_equal(state_now(), AGENT_SLOT_ASLEEP);
    struct wait inner = wait_begin(own_slot, NULL, NULL);
    assert_int_equal(state_now(), AGENT_SLOT_ASLEEP);
    wait_end(&inner);
    assert_int_equal(state_now(), AGENT_SLOT_ASLEEP);
    wait_end(&wait);
    assert_int_equal(state_now(), AGENT_SLOT_IDLE);
    atomic_store(&own_slot->state, AGENT_SLOT_STARTING);
    wait = wait_begin(own_slot, NULL, NULL);
    assert_int_equal(state_now(), AGENT_SLOT_ASLEEP);
    wait_end(&wait);
    assert_int_equal(state_now(), AGENT_SLOT_STARTING);
}

/* libomp yields the CPU while a thread waits for a lock of OpenMP. */
TEST(a_runtime_waits_for_its_lock_by_libc)
{
    const int lock = 0, other = 0;
    atomic_store(&own_slot->state, AGENT_SLOT_IDLE);
    atomic_store(&own_slot->lock, (uint64_t)&lock);
    struct wait wait = wait_begin(own_slot, &other, &other);
    assert_int_equal(own_slot->lock, (uint64_t)&lock);
    assert_int_equal(own_slot->holder, 0);
    wait_end(&wait);
    assert_int_equal(own_slot->lock, (uint64_t)&lock);
    atomic_store(&own_slot->lock, 0);
    atomic_store(&own_slot->state, AGENT_SLOT_WORKING);
    wait = wait_begin(own_slot, &other, &other);
    assert_int_equal(own_slot->lock, (uint64_t)&other);
    wait_end(&wait);
}

/* That wait has no frame below which a later one could be. */
TEST(an_idle_thread_has_left_no_wait)
{
    own_slot->frame = 1; /* of a wait that was left by a jump */
    atomic_store(&own_slot->state, AGENT_SLOT_IDLE);
    struct wait wait = wait_begin(own_slot, NULL, NULL);
    assert_int_equal(state_now(), AGENT_SLOT_ASLEEP);
    wait_end(&wait);
    assert_int_equal(state_now(), AGENT_SLOT_IDLE);
}

TEST(a_wait_that_was_left_is_over_at_the_next_one)
{
    own_slot->frame = 1;
    atomic_store(&own_slot->state, AGENT_SLOT_WAITING);
    struct wait wait = wait_begin(own_slot, NULL, NULL);
    assert_int_equal(state_now(), AGENT_SLOT_WAITING);
    wait_end(&wait);
    assert_int_equal(state_now(), AGENT_SLOT_WORKING);
}

/* Half of the ticks that a byte may take are left for the test itself. */
TEST(a_call_waits_if_it_takes_too_long_for_its_bytes)
{
    const size_t bytes = (size_t)1 << 40;
    uint64_t begun = ticks_now();
    struct long_call call = long_call_begin(own_slot, bytes);
    slots_find_long_calls(begun + LONG_CALL_TICKS_PER_BYTE * bytes);
    assert_int_equal(state_now(), AGENT_SLOT_CALLING);
    slots_find_long_calls(begun + 2 * LONG_CALL_TICKS_PER_BYTE * bytes);
    assert_int_equal(state_now(), AGENT_SLOT_WAITING);
    long_call_end(&call);
    assert_int_equal(state_now(), AGENT_SLOT_WORKING);
    slots_find_long_calls(UINT64_MAX);
    assert_int_equal(state_now(), AGENT_SLOT_WORKING);
}

TEST(an_idle_thread_stays_asleep_in_a_call)
{
    atomic_store(&own_slot->state, AGENT_SLOT_IDLE);
    struct long_call call = long_call_begin(own_slot, 0);
    slots_find_long_calls(UINT64_MAX);
    assert_int_equal(state_now(), AGENT_SLOT_ASLEEP);
    long_call_end(&call);
    assert_int_equal(state_now(), AGENT_SLOT_IDLE);
}

TEST(a_call_that_was_left_is_over_at_the_next_one)
{
    own_slot->frame = 1;
    atomic_store(&own_slot->state, AGENT_SLOT_CALLING);
    struct long_call call = long_call_begin(own_slot, 0);
    long_call_end(&call);
    assert_int_equal(state_now(), AGENT_SLOT_WORKING);
}

/* A program that forbids its threads to read the counter, or that is not measured. */
TEST(without_a_clock_a_call_says_nothing)
{
    atomic_store(&sampling.no_ticks, true);
    assert_null(long_call_begin(own_slot, 0).slot);
    atomic_store(&sampling.no_ticks, false);
    process.active = false;
    assert_null(long_call_begin(own_slot, 0).slot);
    process.active = true;
    assert_int_equal(state_now(), AGENT_SLOT_WORKING);
}

static void use(struct agent_slot_part *part)
{
    *part = (struct agent_slot_part){.link = part, .own = part, .records = part, .kept = part};
}

static void check_part(const struct agent_slot_part *part, const void *kept)
{
    assert_null(part->link);
    assert_null(part->own);
    assert_ptr_equal(part->records, kept);
    assert_ptr_equal(part->kept, kept);
}

/* The next thread gets what agents keep for it, and no more. */
TEST(a_slot_that_is_taken_again)
{
    struct agent_slot *slot = own_slot;
    slot->pool = 1;
    slot->runtimes = 1;
    use(&slot->gomp);
    use(&slot->ompt);
    use(&slot->tbb);
    slot_release();
    assert_int_equal(slot->state, AGENT_SLOT_FREE);
    slot_take(2, 11, 0, 0);
    assert_ptr_equal(own_slot, slot);
    assert_int_equal(slot->state, AGENT_SLOT_WORKING);
    assert_int_equal(slot->tid, 2);
    assert_int_equal(slot->pool | slot->runtimes, 0);
    check_part(&slot->gomp, &slot->gomp);
    check_part(&slot->ompt, &slot->ompt);
    check_part(&slot->tbb, &slot->tbb);
}

static void check_index(uint64_t thread, uint32_t expected)
{
    uint32_t index;
    assert_true(slot_thread_index(thread, &index));
    assert_int_equal(index, expected);
}

/* Agents keep it beyond the thread's end. */
TEST(a_thread_keeps_its_index)
{
    uint64_t ended = own_slot->thread;
    uint32_t index;
    slot_release();
    slot_take(2, 11, 0, 0);
    check_index(ended, 10);
    check_index(own_slot->thread, 11);
    assert_false(slot_thread_index(0, &index));
}

/* In the child of a fork, indices begin at 0 again. */
TEST(a_thread_of_the_forking_process_has_no_index)
{
    uint64_t before = own_slot->thread, between;
    uint32_t index;
    slots_after_fork(3, 0);
    between = own_slot->thread;
    assert_false(slot_thread_index(before, &index));
    check_index(between, 0);
    slots_after_fork(4, 0);
    assert_false(slot_thread_index(between, &index));
    check_index(own_slot->thread, 0);
}

/* Another thread may have been changing its lists. */
TEST(after_a_fork_only_the_own_slot_is_left)
{
    struct agent_slot *own = own_slot, *other;
    use(&own->gomp);
    slot_take(2, 11, 0, 0);
    other = own_slot;
    use(&other->gomp);
    own_slot = own;
    slots_after_fork(3, 0);
    assert_int_equal(own->tid, 3);
    assert_int_equal(own->state, AGENT_SLOT_WORKING);
    assert_non_null(own->gomp.records);
    assert_int_equal(other->state, AGENT_SLOT_FREE);
    check_part(&other->gomp, NULL);
}

EACH_TEST(begin, end);

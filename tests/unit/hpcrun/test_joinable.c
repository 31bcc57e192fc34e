/* The records of threads that can be joined, whatever order their creators, they themselves and
 * those who join or detach them come in. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/thread/joinable.h"

#define ID 0x7f0000001000u

static struct joinable *created(uint64_t id, uint32_t creator, uint32_t thread)
{
    struct joinable *joinable = joinable_new(creator, 3);
    joinable_created(joinable, &id);
    joinable_begin(joinable, id, thread);
    return joinable;
}

static void check_join(uint64_t id, uint32_t creator, uint32_t thread)
{
    uint64_t serial = joinable_await(id);
    assert_int_not_equal(serial, 0);
    struct joinable *joined = joinable_joined(id, serial);
    assert_non_null(joined);
    assert_int_equal(joined->creator, creator);
    assert_int_equal(joined->thread, thread);
    joinable_release(joined);
    assert_int_equal(joinable_await(id), 0);
}

TEST(test_join)
{
    created(ID, 1, 2);
    created(ID + 4096, 1, 3);
    check_join(ID, 1, 2);
    check_join(ID + 4096, 1, 3);
}

/* The new thread is faster than its creator: the stored id is not read. */
TEST(test_thread_first)
{
    struct joinable *joinable = joinable_new(1, 3);
    joinable_begin(joinable, ID, 7);
    joinable_created(joinable, NULL);
    check_join(ID, 1, 7);
}

TEST(test_detached)
{
    uint64_t id = ID;
    struct joinable *joinable = joinable_new(1, 3);
    joinable_created(joinable, &id);
    joinable_detach(ID);
    joinable_begin(joinable, ID, 7); /* after its creator has detached it */
    assert_int_equal(joinable_await(ID), 0);
    joinable = joinable_new(1, 3);
    joinable_begin(joinable, ID, 8);
    joinable_detach(ID); /* it detached itself */
    joinable_created(joinable, NULL);
    assert_int_equal(joinable_await(ID), 0);
}

/* After a successful join, another thread gets the id before joinable_joined is called. */
TEST(test_id_used_again)
{
    created(ID, 1, 2);
    uint64_t serial = joinable_await(ID);
    created(ID, 5, 6);
    struct joinable *joined = joinable_joined(ID, serial);
    assert_int_equal(joined->thread, 2);
    joinable_release(joined);
    check_join(ID, 5, 6);
}

/* A thread whose end was not noticed is not mistaken for the next one with its id. */
TEST(test_stale)
{
    created(ID, 1, 2);
    joinable_begin(NULL, ID, 3);
    assert_int_equal(joinable_await(ID), 0);
    created(ID, 1, 4);
    created(ID, 1, 5);
    check_join(ID, 1, 5);
}

/* Records are used again, of each size. */
TEST(test_reuse)
{
    static const uint32_t frames[] = {0, 16, 17, 64, 65, JOINABLE_FRAMES};
    for (unsigned i = 0; i < sizeof frames / sizeof *frames; i++) {
        struct joinable *first = joinable_new(1, frames[i]);
        assert_true(first->room >= frames[i]);
        joinable_cancel(first);
        for (int round = 0; round < 1000; round++) {
            struct joinable *again = joinable_new(2, frames[i]);
            uint64_t id = ID;
            assert_ptr_equal(again, first);
            joinable_created(again, &id);
            joinable_begin(again, ID, 9);
            check_join(ID, 2, 9);
        }
    }
}

TEST(test_many)
{
    for (uint32_t i = 0; i < 20000; i++)
        created(ID + 8192 * (uint64_t)i, i, i + 1);
    for (uint32_t i = 0; i < 20000; i++)
        check_join(ID + 8192 * (uint64_t)i, i, i + 1);
}

TEST(test_child_of_a_fork)
{
    created(ID, 1, 2);
    joinable_lock_for_fork();
    joinable_unlock_after_fork();
    joinable_clear();
    assert_int_equal(joinable_await(ID), 0);
    created(ID, 3, 4);
    check_join(ID, 3, 4);
}

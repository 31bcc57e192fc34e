#include "tests/unit/cmocka_suite.h"

#include "lib/parallel.h"

#include <sched.h>
#include <stdatomic.h>

#define COUNT   10000
#define WORKERS 7

struct calls {
    atomic_uint of_index[COUNT];
    atomic_uint busy[WORKERS];
    atomic_bool overlapped, stranger;
};

static void count_call(void *context, unsigned worker, size_t index)
{
    struct calls *calls = context;
    if (worker >= WORKERS) {
        calls->stranger = true;
        return;
    }
    if (atomic_fetch_add(&calls->busy[worker], 1) != 0)
        calls->overlapped = true;
    atomic_fetch_add(&calls->of_index[index], 1);
    atomic_fetch_sub(&calls->busy[worker], 1);
}

typedef void loop(size_t count, unsigned workers, parallel_task *task, void *context);

static void check_visits(loop *run)
{
    static const size_t counts[] = {0, 1, 2, WORKERS, COUNT};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        for (unsigned workers = 1; workers <= WORKERS; workers += 3) {
            static struct calls calls;
            calls = (struct calls){0};
            run(counts[k], workers, count_call, &calls);
            for (size_t i = 0; i < COUNT; i++)
                assert_int_equal(calls.of_index[i], i < counts[k]);
            assert_false(calls.overlapped);
            assert_false(calls.stranger);
        }
}

TEST(every_index_is_visited_once)
{
    check_visits(parallel_for);
    check_visits(parallel_for_many);
}

/* Each task of an even index lasts until the next one, which another worker does, has begun. */
static void begin_and_wait(void *context, unsigned worker, size_t index)
{
    struct calls *calls = context;
    calls->of_index[index]++;
    while (index % 2 == 0 && !calls->of_index[index + 1])
        sched_yield();
}

TEST(neighbors_run_at_the_same_time)
{
    static struct calls calls;
    parallel_for(COUNT, 2, begin_and_wait, &calls);
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(calls.of_index[i], 1);
}

/* ---- in order ---- */

struct ordered {
    atomic_uint of_index[COUNT];
    atomic_size_t most_ahead; /* tasks begun but not finished */
    size_t finished;          /* number of calls of `finish` */
    atomic_bool is_finishing, overlapped, disordered;
};

static void do_task(void *context, unsigned worker, size_t index)
{
    struct ordered *ordered = context;
    size_t ahead = index - __atomic_load_n(&ordered->finished, __ATOMIC_RELAXED);
    if (worker >= WORKERS)
        ordered->disordered = true;
    for (size_t most = ordered->most_ahead; (ptrdiff_t)ahead > (ptrdiff_t)most;)
        if (atomic_compare_exchange_weak(&ordered->most_ahead, &most, ahead))
            break;
    ordered->of_index[index]++;
}

static void finish_task(void *context, size_t index)
{
    struct ordered *ordered = context;
    if (atomic_exchange(&ordered->is_finishing, true))
        ordered->overlapped = true;
    if (ordered->of_index[index] != 1 || ordered->finished != index)
        ordered->disordered = true;
    __atomic_store_n(&ordered->finished, index + 1, __ATOMIC_RELAXED);
    ordered->is_finishing = false;
}

TEST(tasks_are_finished_in_order)
{
    static const size_t counts[] = {0, 1, 2, WORKERS, COUNT};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        for (unsigned workers = 1; workers <= WORKERS; workers += 3) {
            static struct ordered ordered;
            ordered = (struct ordered){0};
            parallel_in_order(counts[k], workers, do_task, finish_task, &ordered);
            assert_int_equal(ordered.finished, counts[k]);
            for (size_t i = 0; i < COUNT; i++)
                assert_int_equal(ordered.of_index[i], i < counts[k]);
            assert_false(ordered.overlapped);
            assert_false(ordered.disordered);
            assert_true(ordered.most_ahead <= 8 * workers);
        }
}

/* All tasks but the first last until `finish` is called for that. This call lasts until the other
 * worker, which has done a task meanwhile, has begun another one. */
struct slow_finish {
    atomic_uint begun, finishing;
    atomic_bool has_begun, overlapped;
};

static void begin_task(void *context, unsigned worker, size_t index)
{
    struct slow_finish *slow = context;
    atomic_fetch_add(&slow->begun, 1);
    while (index > 0 && !slow->has_begun)
        sched_yield();
}

static void finish_slowly(void *context, size_t index)
{
    struct slow_finish *slow = context;
    if (atomic_fetch_add(&slow->finishing, 1) > 0)
        slow->overlapped = true;
    slow->has_begun = true;
    while (index == 0 && slow->begun < 3 && !slow->overlapped)
        sched_yield();
    atomic_fetch_sub(&slow->finishing, 1);
}

TEST(one_thread_finishes_at_a_time)
{
    struct slow_finish slow = {0};
    parallel_in_order(4, 2, begin_task, finish_slowly, &slow);
    assert_false(slow.overlapped);
    assert_int_equal(slow.begun, 4);
}

/* The first task lasts until the other worker has begun as many as it may. It would wait forever if the other
 * worker waited for it. */
#define MOST_AHEAD 16 /* of two workers */

struct slow_first {
    atomic_uint begun;
    atomic_bool has_ended, too_far, disordered;
    atomic_size_t finished;
};

static void begin_first(void *context, unsigned worker, size_t index)
{
    struct slow_first *slow = context;
    atomic_fetch_add(&slow->begun, 1);
    if (index > 0)
        return;
    while (slow->begun < MOST_AHEAD)
        sched_yield();
    /* A while, in which the other worker could begin one too many. */
    for (int i = 0; slow->begun == MOST_AHEAD && i < 10000; i++)
        sched_yield();
    slow->too_far = slow->begun > MOST_AHEAD;
    slow->has_ended = true;
}

static void finish_after_slow_one(void *context, size_t index)
{
    struct slow_first *slow = context;
    if (!slow->has_ended || slow->finished++ != index)
        slow->disordered = true;
}

TEST(others_go_on_behind_a_slow_one)
{
    struct slow_first slow = {0};
    parallel_in_order(COUNT, 2, begin_first, finish_after_slow_one, &slow);
    assert_int_equal(slow.finished, COUNT);
    assert_false(slow.too_far);
    assert_false(slow.disordered);
}

/* ---- turns ---- */

struct taken_turns {
    struct parallel_turns turns;
    size_t at[COUNT]; /* indices in the order of turns */
    size_t n;
    atomic_uint begun;
};

/* The first task waits a while for all other workers to begin one. */
static void take_turn(void *context, unsigned worker, size_t index)
{
    struct taken_turns *taken = context;
    atomic_fetch_add(&taken->begun, 1);
    for (int i = 0; index == 0 && taken->begun < WORKERS && i < 100000; i++)
        sched_yield();
    parallel_turn_wait(&taken->turns, index);
    taken->at[taken->n++] = index;
    parallel_turn_pass(&taken->turns);
}

TEST(turns_come_in_order)
{
    static struct taken_turns taken;
    taken = (struct taken_turns){.n = 0};
    parallel_turns_start(&taken.turns);
    parallel_for(COUNT, WORKERS, take_turn, &taken);
    parallel_turns_end(&taken.turns);
    assert_int_equal(taken.n, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(taken.at[i], i);
}

TEST(there_is_a_default)
{
    assert_true(parallel_default_workers() >= 1);
}

#include "tests/unit/cmocka_suite.h"

#include "lib/parallel.h"

#include <stdatomic.h>
#include <stdbool.h>

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

static void every_index_is_visited_once(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 2, WORKERS, COUNT};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        for (unsigned workers = 1; workers <= WORKERS; workers += 3) {
            static struct calls calls;
            calls = (struct calls){0};
            parallel_for(counts[k], workers, count_call, &calls);
            for (size_t i = 0; i < COUNT; i++)
                assert_int_equal(calls.of_index[i], i < counts[k]);
            assert_false(calls.overlapped);
            assert_false(calls.stranger);
        }
}

static void there_is_a_default(void **state)
{
    (void)state;
    assert_true(parallel_default_workers() >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_index_is_visited_once),
        cmocka_unit_test(there_is_a_default),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The agent for Cilk-5: which threads are workers, which of these work, which belong to the
 * runtime. */
#include "tests/unit/agents/simulated_cilk5.h"

#include <string.h>

static char libc_code[16];

TEST(a_worker_without_a_running_closure_is_idle)
{
    assert_int_equal(class_of(1), AGENT_IDLE);
    set_worker(1, 3, 3);
    const uint32_t not_running[] = {SUSPENDED, READY};
    for (unsigned i = 0; i < 2; i++) {
        image.closures[3].status = not_running[i];
        assert_int_equal(class_of(1), AGENT_IDLE);
    }
}

/* The closure is in the deque, but the slow clone was not called yet. */
TEST(between_the_deque_and_the_call)
{
    set_worker(1, 3, 3);
    set_path((uint64_t[]){LIBC, CHILD, SCHEDULER, 0});
    assert_int_equal(class_of(1), AGENT_IDLE);
    set_path((uint64_t[]){LIBC, CHILD, SCHEDULER, RUNTIME, LIBC, 0});
    assert_int_equal(class_of(1), AGENT_IDLE);
    set_worker(0, 0, 0);
    set_path((uint64_t[]){LIBC, CHILD, SCHEDULER, ROOT, 0});
    assert_int_equal(class_of(0), AGENT_IDLE);
    set_path((uint64_t[]){LIBC, CHILD, SCHEDULER, ROOT, IMPORT, 0});
    assert_int_equal(class_of(0), AGENT_IDLE);
    set_path((uint64_t[]){LIBC, CHILD, SCHEDULER, ROOT, IMPORT, LINKER, 0});
    assert_int_equal(class_of(0), AGENT_IDLE);
    set_path((uint64_t[]){LIBC, CHILD, SCHEDULER, ROOT, IMPORT, USER, 0});
    assert_int_equal(class_of(0), AGENT_WORKING);
    set_path((uint64_t[]){LIBC, CHILD, SCHEDULER, ROOT, USER, 0}); /* cilk_main in its import */
    assert_int_equal(class_of(0), AGENT_WORKING);
    set_path((uint64_t[]){LIBC, CHILD, SCHEDULER, ROOT, RUNTIME, LIBC, 0});
    assert_int_equal(class_of(0), AGENT_IDLE);
    set_path((uint64_t[]){LIBC, CHILD, SCHEDULER, ROOT, LINKER, LINKER, 0});
    assert_int_equal(class_of(0), AGENT_IDLE);
}

TEST(workers_with_a_running_closure_are_counted)
{
    struct agent_worker_counts counts = counts_in(0);
    assert_int_equal(counts.workers, WORKERS);
    assert_int_equal(counts.working, 0);
    set_worker(1, 3, 3);
    set_worker(2, 4, 4);
    assert_int_equal(counts_in(0).working, 2);
    assert_int_equal(counts_in(1).working, 2);
    assert_int_equal(counts_in(WORKERS).working, 2);
    image.closures[3].status = RETURNING;
    assert_int_equal(counts_in(1).working, 2);
    image.closures[3].status = SUSPENDED;
    assert_int_equal(counts_in(1).working, 1);
    end_thread(0);
    assert_int_equal(counts_in(WORKERS).workers, 0);
}

TEST(worker_0_is_counted)
{
    set_worker(0, 1, 1);
    assert_int_equal(counts_in(0).working, 1);
}

TEST(other_threads_are_owned_in_the_runtime_only)
{
    set_path((uint64_t[]){LIBC, USER, RUNTIME, LIBC, 0});
    assert_int_equal(class_of(WORKERS), AGENT_RUNTIME_OWNED);
    set_path((uint64_t[]){LIBC, USER, LIBC, 0});
    assert_int_equal(class_of(WORKERS), AGENT_FOREIGN);
}

TEST(threads_that_do_not_start_as_workers_are_none)
{
    begin_thread(0, (struct agent_start_routine){address(libc_code), 0});
    set_path((uint64_t[]){LIBC, USER, 0});
    assert_int_equal(class_of(0), AGENT_FOREIGN);
}

/* Structures with another layout: from then on paths are native, and at the end there is one
 * line. */
TEST(structures_that_disagree)
{
    set_worker(1, 3, 3);
    set_worker(2, 4, 4);
    image.workers[1].self = 2;
    image.workers[2].context = 0;
    assert_int_equal(class_of(1), AGENT_FOREIGN);
    image.workers[1].self = 1;
    assert_int_equal(class_of(1), AGENT_FOREIGN);
    assert_int_equal(class_of(2), AGENT_FOREIGN);
    assert_int_equal(log_lines, 0);
    end_thread(1);
    end_thread(2);
    assert_int_equal(log_lines, 1);
    assert_non_null(strstr(last_line, "Cilk-5.4.6"));
}

TEST(without_the_runtime_all_is_native)
{
    const struct agent_module module = this_module();
    const struct agent_module other = {.path = "/lib/other.so", .start = 1, .end = 2};
    set_worker(1, 3, 3);
    hpcrun_agent.module_removed(&other);
    assert_int_equal(class_of(1), AGENT_WORKING);
    hpcrun_agent.module_removed(&module);
    assert_int_equal(class_of(1), AGENT_FOREIGN);
    assert_int_equal(class_of(WORKERS), AGENT_FOREIGN);
}

ALL_TESTS(recognize_runtime, NULL);
EACH_TEST(set_up, NULL);

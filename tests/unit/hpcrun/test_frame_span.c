/* libhpctoolkit-cilktool.so: hooks called as by compiled programs, against the definition of work and
 * span (program_graph.h). */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/cilktool/csi-hooks.h"
#include "hpcrun/cilktool/probe-output.h"
#include "hpcrun/span/frame-span.h"
#include "hpcrun/span/strand-clock.h"
#include "tests/unit/hpcrun/simulated_cilk.h"
#include "tests/unit/hpcrun/simulated_clock.h"
#include "tests/unit/random_numbers.h"

TEST(test_random_programs)
{
    struct sim_frame frames[MAX_FRAMES];
    uint64_t steals = 0;
    for (int round = 0; round < 300; round++) {
        unsigned workers = 1 + (unsigned)round % MAX_WORKERS;
        struct body *root = make_root();
        uint64_t serial = random_below(1 << 20);
        expect_cilk(root, serial);
        steals += execute(root, serial, frames, workers, 1 + random_below(5));
        free_body(root);
        assert_null(frame_span_problem());
        compare_results(span_totals_so_far());
    }
    assert_true(steals > 1000);
    assert_true(span_totals_so_far().steals > 500);
}

/* ---- single cases: frames of one program, with strands of a given time ---- */

enum { MAY_SPAWN = 1 << 8, SPAWNED = 1, UNWINDS = 1 };

static struct sim_frame stack[8];

static void hook(unsigned worker, int frame, uint64_t time, void (*function)(void), uint64_t b,
                 uint64_t c, uint64_t d)
{
    strand_time = time;
    call_hook(worker, 0, &stack[frame], function, 0, b, c, d);
    strand_time = 0;
}

static void enter(unsigned worker, int frame, uint64_t time)
{
    hook(worker, frame, time, HOOK_OF(__csi_func_entry), MAY_SPAWN, 0, 0);
}

static void leave(unsigned worker, int frame, uint64_t time)
{
    hook(worker, frame, time, HOOK_OF(__csi_func_exit), 0, SPAWNED, 0);
}

static void spawn(unsigned worker, int frame, int task, uint64_t time)
{
    hook(worker, frame, time, HOOK_OF(__csi_detach), 0, 0, 0);
    hook(worker, task, 0, HOOK_OF(__csi_task), 0, 0, 0);
}

static void end_task(unsigned worker, int frame, uint64_t time)
{
    hook(worker, frame, time, HOOK_OF(__csi_task_exit), 0, 0, 0);
}

static void go_on(unsigned worker, int frame, uint64_t properties)
{
    hook(worker, frame, 0, HOOK_OF(__csi_detach_continue), 0, 0, properties);
}

static void sync(unsigned before, unsigned after, int frame, uint64_t time)
{
    hook(before, frame, time, HOOK_OF(__csi_before_sync), 0, 0, 0);
    hook(after, frame, 0, HOOK_OF(__csi_after_sync), 0, 0, 0);
}

static struct span_totals last;

/* What the program has grown by since the last look; the burdened span by some burdens and the rest. */
static void grew_by(uint64_t work, uint64_t span, uint64_t burdens, uint64_t rest)
{
    struct span_totals totals = span_totals_so_far();
    assert_int_equal(totals.work.time - last.work.time, work);
    assert_int_equal(totals.span.time - last.span.time, span);
    assert_int_equal(totals.burdened_span.time - last.burdened_span.time,
                     rest + burdens * (SPAN_BURDEN_NS << STRAND_SHIFT));
    last = totals;
}

/* All tasks have ended where the exception of one goes on, and no continuation was stolen. */
TEST(test_exception)
{
    last = span_totals_so_far();
    enter(0, 0, 0);
    spawn(0, 0, 1, 100);
    end_task(0, 1, 500);
    go_on(0, 0, 0);
    spawn(0, 0, 1, 30);
    end_task(0, 1, 20);
    go_on(0, 0, UNWINDS);
    leave(0, 0, 7);
    grew_by(657, 607, 1, 157);
}

/* The runtime may execute a computation in another thread than the one that calls it. */
TEST(test_another_thread)
{
    last = span_totals_so_far();
    enter(0, 0, 0);
    spawn(1, 0, 1, 0);
    end_task(1, 1, 500);
    go_on(2, 0, 0);
    sync(2, 3, 0, 300);
    leave(3, 0, 7);
    grew_by(807, 507, 1, 307);
    assert_null(frame_span_problem());
    enter(0, 0, 40);
    leave(0, 0, 2);
    grew_by(42, 42, 0, 42);
}

/* A procedure that was inlined into another one when the program was linked has its frame. */
TEST(test_inlined)
{
    last = span_totals_so_far();
    enter(0, 0, 0);
    spawn(0, 0, 1, 1);
    end_task(0, 1, 1000);
    go_on(0, 0, 0);
    enter(0, 0, 2);
    spawn(0, 0, 2, 4);
    go_on(1, 0, 0);
    end_task(0, 2, 500);
    sync(1, 0, 0, 100);
    leave(0, 0, 8);
    sync(0, 1, 0, 16);
    leave(1, 0, 32);
    grew_by(1663, 1033, 2, 163);
}

/* A region would begin in one task and end in others. */
TEST(test_no_region_in_a_task)
{
    struct span_totals totals;
    last = span_totals_so_far();
    assert_true(frame_span_now_in_series(&totals));
    enter(0, 0, 0);
    assert_true(frame_span_now_in_series(&totals));
    spawn(0, 0, 1, 0);
    enter(0, 1, 0);
    assert_false(frame_span_now_in_series(&totals));
    leave(0, 1, 0);
    end_task(0, 1, 0);
    assert_false(frame_span_now_in_series(&totals));
    go_on(0, 0, 0);
    leave(0, 0, 0);
    grew_by(0, 0, 1, 0);
}

static void restart(void)
{
    frame_span_init(SPAN_BURDEN_NS, NULL);
}

/* exit() in a task of main, whose other task has ended. */
TEST(test_end_of_the_process)
{
    last = span_totals_so_far();
    hook(0, 0, 0, HOOK_OF(__csi_func_entry), MAY_SPAWN, 0, 0);
    spawn(0, 0, 1, 1);
    end_task(0, 1, 1000);
    go_on(0, 0, 0);
    spawn(0, 0, 1, 2);
    enter(0, 2, 4);
    assert_null(frame_span_problem());
    strand_time = 8;
    frame_span_end();
    grew_by(1015, 1001, 1, 15);
    assert_null(frame_span_problem());
    leave(0, 2, 50);
    grew_by(0, 0, 0, 0);
    span_serial_begins();
    restart();
}

static void expect_problem(const char *part)
{
    const char *problem = frame_span_problem();
    assert_non_null(problem);
    assert_non_null(strstr(problem, part));
}

/* Other strands still run; each problem stays, and hides those before it. */
TEST(test_problems)
{
    enter(0, 0, 0);
    spawn(0, 0, 1, 0);
    go_on(1, 0, 0);
    expect_problem("ended in a Cilk computation");
    frame_span_end();
    expect_problem("ended in a Cilk computation");
    end_task(0, 1, 0);
    enter(1, 2, 0); /* left by longjmp */
    sync(1, 1, 0, 0);
    expect_problem("do not match");
    enter(2, 3, 0); /* by a thread that Cilk does not know */
    expect_problem("several threads");
}

STEP(init)
{
    setenv("CILKSCALE_OUT", "/dev/null", 1);
    __csi_init();
}

ALL_TESTS(init, NULL);

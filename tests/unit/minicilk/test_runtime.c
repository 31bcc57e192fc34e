/* minicilk's interface: results, numbers of workers, errors, computations one after another. */
#include <malloc.h>
#include <sched.h>
#include <unistd.h>

#include "tests/unit/cmocka_suite.h"

#include "runtime-patches/minicilk/minicilk.h"

/* Capture stderr between the two calls. */
static FILE *printed;
static int real_stderr;

static void begin_capture(void)
{
    printed = tmpfile();
    assert_non_null(printed);
    fflush(stderr);
    real_stderr = dup(STDERR_FILENO);
    dup2(fileno(printed), STDERR_FILENO);
}

/* Asserts that exactly this line was printed. */
static void expect_line(const char *line)
{
    char text[512] = "";
    fflush(stderr);
    dup2(real_stderr, STDERR_FILENO);
    close(real_stderr);
    rewind(printed);
    text[fread(text, 1, sizeof text - 1, printed)] = '\0';
    fclose(printed);
    assert_string_equal(text, line);
}

/* The call has this result, and prints this line. */
#define EXPECT_REFUSAL(call, status, line)        \
    do {                                          \
        begin_capture();                          \
        const int result_of_call = (call);        \
        expect_line(line);                        \
        assert_int_equal(result_of_call, status); \
    } while (0)

CILK_STATIC_PROC(fib, int n; long *result; long x; long y;);

CILK_BODY(fib)
{
    CILK_BEGIN(fib);
    if (f->n < 2) {
        *f->result = f->n;
        CILK_RETURN;
    }
    CILK_SPAWN(fib, a->n = f->n - 1; a->result = &f->x);
    CILK_SPAWN(fib, a->n = f->n - 2; a->result = &f->y);
    CILK_SYNC();
    *f->result = f->x + f->y;
    CILK_END;
}

static void expect_fib(int n, long value)
{
    long result = -1;
    assert_int_equal(CILK_RUN(fib, a->n = n; a->result = &result), 0);
    assert_int_equal(result, value);
}

/* ---- Waiting for children ---- */

CILK_STATIC_PROC(store_one, int *target;);

CILK_BODY(store_one)
{
    CILK_BEGIN(store_one);
    for (int i = 0; i < 100; i++)
        sched_yield();
    *f->target = 1;
    CILK_END;
}

enum { MANY = 40 };

/* Spawns as many children as its argument says, and returns without a sync. */
CILK_STATIC_PROC(store_many, int *targets; int i;);

CILK_BODY(store_many)
{
    CILK_BEGIN(store_many);
    for (f->i = 0; f->i < MANY; f->i++)
        CILK_SPAWN(store_one, a->target = &f->targets[f->i]);
    CILK_RETURN;
    CILK_END;
}

/* A root that returns without a sync: the computation ends when its children have ended. */
TEST(test_root_waits_for_children)
{
    assert_int_equal(minicilk_init(8), 0);
    for (int i = 0; i < 50; i++) {
        int targets[MANY] = {0};
        CILK_RUN(store_many, a->targets = targets);
        for (int j = 0; j < MANY; j++)
            assert_int_equal(targets[j], 1);
    }
    assert_int_equal(minicilk_shutdown(), 0);
}

CILK_STATIC_PROC(descend, int depth; int *deepest;);

CILK_BODY(descend)
{
    CILK_BEGIN(descend);
    if (f->depth > 0)
        CILK_SPAWN(descend, a->depth = f->depth - 1; a->deepest = f->deepest);
    else
        *f->deepest = 1;
    CILK_END;
}

TEST(test_deep_nesting)
{
    assert_int_equal(minicilk_init(2), 0);
    int reached = 0;
    CILK_RUN(descend, a->depth = 20000; a->deepest = &reached);
    assert_int_equal(reached, 1);
    assert_int_equal(minicilk_shutdown(), 0);
}

/* ---- Loops ---- */

struct marks {
    _Atomic unsigned char count[3000];
    long longest;
};

static void mark(long begin, long end, void *data)
{
    struct marks *marks = data;
    for (long i = begin; i < end; i++)
        marks->count[i]++;
    if (end - begin > marks->longest)
        marks->longest = end - begin;
}

CILK_STATIC_PROC(mark_all, long begin; long end; long grain; struct marks * marks;);

CILK_BODY(mark_all)
{
    CILK_BEGIN(mark_all);
    CILK_FOR(f->begin, f->end, f->grain, mark, f->marks);
    CILK_END;
}

/* Every iteration of the range is executed once, and no other. With one worker `longest` is
 * exact. */
static void expect_loop(long begin, long end, long grain, long longest)
{
    static struct marks marks;
    memset(&marks, 0, sizeof marks);
    CILK_RUN(mark_all, a->begin = begin; a->end = end; a->grain = grain; a->marks = &marks);
    for (long i = 0; i < 3000; i++)
        assert_int_equal(marks.count[i], i >= begin && i < end);
    assert_int_equal(marks.longest, longest);
}

TEST(test_loops)
{
    assert_int_equal(minicilk_init(1), 0);
    expect_loop(0, 0, 1, 0);
    expect_loop(10, 5, 1, 0);
    expect_loop(5, 6, 1, 1);
    expect_loop(0, 3000, 1, 1);
    expect_loop(7, 2047, 1020, 1020);
    expect_loop(0, 3000, 5000, 3000);
    /* Automatic: 3000 / (8 * 1 worker) = 375, which is what three halvings give; for 2999 it is
     * 374, the first half of the first half (1499, 749, 374). */
    expect_loop(0, 3000, 0, 375);
    expect_loop(0, 2999, 0, 374);
    assert_int_equal(minicilk_shutdown(), 0);
}

/* ---- Numbers of workers ---- */

TEST(test_workers_by_environment)
{
    setenv("MINICILK_WORKERS", "3", 1);
    assert_int_equal(minicilk_init(0), 0);
    assert_int_equal(minicilk_workers(), 3);
    assert_int_equal(minicilk_shutdown(), 0);
    /* The argument overrides it. */
    assert_int_equal(minicilk_init(2), 0);
    assert_int_equal(minicilk_workers(), 2);
    assert_int_equal(minicilk_shutdown(), 0);
    unsetenv("MINICILK_WORKERS");
}

TEST(test_workers_by_cpus)
{
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    setenv("MINICILK_WORKERS", "", 1);
    assert_int_equal(minicilk_init(0), 0);
    assert_int_equal(minicilk_workers(), CPU_COUNT(&before));
    assert_int_equal(minicilk_shutdown(), 0);
    unsetenv("MINICILK_WORKERS");

    CPU_ZERO(&one);
    for (int cpu = 0; CPU_COUNT(&one) == 0; cpu++) {
        if (CPU_ISSET(cpu, &before))
            CPU_SET(cpu, &one);
    }
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(minicilk_init(0), 0);
    assert_int_equal(minicilk_workers(), 1);
    assert_int_equal(minicilk_shutdown(), 0);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}

TEST(test_impossible_workers)
{
    const char *bad[] = {"0", "-1", "257", "two", "2x", "99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char line[128];
        snprintf(line, sizeof line, "minicilk: MINICILK_WORKERS=%s: must be 1 to 256\n", bad[i]);
        setenv("MINICILK_WORKERS", bad[i], 1);
        EXPECT_REFUSAL(minicilk_init(0), EINVAL, line);
    }
    unsetenv("MINICILK_WORKERS");
    EXPECT_REFUSAL(minicilk_init(257), EINVAL, "minicilk: 257 workers: must be 1 to 256, or 0 for the default\n");
    assert_int_equal(minicilk_workers(), 0);
}

/* ---- Misuse ---- */

TEST(test_out_of_order)
{
    long result = -1;
    EXPECT_REFUSAL(CILK_RUN(fib, a->n = 2; a->result = &result), EINVAL,
                   "minicilk: CILK_RUN(fib): minicilk_init was not called\n");
    assert_int_equal(result, -1);
    EXPECT_REFUSAL(minicilk_shutdown(), EINVAL, "minicilk: minicilk_shutdown: minicilk_init was not called\n");
    assert_int_equal(minicilk_init(2), 0);
    EXPECT_REFUSAL(minicilk_init(2), EALREADY, "minicilk: minicilk_init: already initialized\n");
    expect_fib(10, 55);
    assert_int_equal(minicilk_shutdown(), 0);
}

CILK_STATIC_PROC(meddle, int *run; int *down; long result;);

CILK_BODY(meddle)
{
    CILK_BEGIN(meddle);
    *f->run = CILK_RUN(fib, a->n = 2; a->result = &f->result);
    *f->down = minicilk_shutdown();
    CILK_END;
}

TEST(test_from_a_body)
{
    int run = 0, down = 0;
    assert_int_equal(minicilk_init(2), 0);
    begin_capture();
    CILK_RUN(meddle, a->run = &run; a->down = &down);
    expect_line("minicilk: CILK_RUN(fib): a computation runs already\n"
                "minicilk: minicilk_shutdown: a computation runs\n");
    assert_int_equal(run, EBUSY);
    assert_int_equal(down, EBUSY);
    expect_fib(10, 55);
    assert_int_equal(minicilk_shutdown(), 0);
}

TEST(test_other_version)
{
    EXPECT_REFUSAL(minicilk_init_abi(1, MINICILK_ABI + 0x100), ENOEXEC,
                   "minicilk: the program was compiled for version 400, the library is 300\n");
}

/* ---- Memory ---- */

TEST(test_memory_is_returned)
{
    /* Once before: what libc allocates for good at the first thread. */
    size_t used = 0;
    for (int i = 0; i < 3; i++) {
        used = mallinfo2().uordblks + mallinfo2().hblkhd;
        assert_int_equal(minicilk_init(8), 0);
        expect_fib(20, 6765);
        assert_int_equal(minicilk_shutdown(), 0);
    }
    assert_int_equal(mallinfo2().uordblks + mallinfo2().hblkhd, used);
}

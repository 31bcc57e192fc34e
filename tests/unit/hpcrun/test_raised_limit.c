/* hpcrun/base/own-fds.h: another thread of the program changes the limit of descriptors (RLIMIT_NOFILE)
 * while one of ours gets its number above it. The kernel is simulated: one process with a limit. */
#define HPCRUN_BASE_SYSTEM_CALL_H
long sys6(long number, long a, long b, long c, long d, long e, long f);

#include "tests/unit/cmocka_suite.h"

#include "hpcrun/base/own-fds.c"

#define FD 5

static struct rlimit limit;
static struct rlimit change; /* what the other thread sets while a descriptor is copied; 0: nothing */
static int opens_meanwhile;
static int self, opener; /* tids: of the caller, and of who opens meanwhile */
static bool others_finish; /* while the caller sleeps */
static long clock_ns;

static long copy(int first)
{
    int number = first < (int)limit.rlim_cur ? first : -EINVAL;
    if (change.rlim_cur)
        limit = change;
    int caller = self;
    self = opener;
    if (opens_meanwhile-- > 0)
        assert_int_equal(fds_adopt(FD), 48);
    self = caller;
    return number;
}

static long set_limit(const struct rlimit *new_limit, struct rlimit *old)
{
    struct rlimit before = limit;
    if (new_limit)
        limit = *new_limit;
    if (old)
        *old = before;
    return 0;
}

static long nap(const struct timespec *length)
{
    clock_ns += length->tv_nsec;
    if (others_finish)
        limit_restore();
    return 0;
}

long sys6(long number, long a, long b, long c, long d, long e, long f)
{
    switch (number) {
    case SYS_prlimit64: return set_limit((const struct rlimit *)c, (struct rlimit *)d);
    case SYS_fcntl: return copy((int)c);
    case SYS_gettid: return self;
    case SYS_nanosleep: return nap((const struct timespec *)a);
    case SYS_clock_gettime: *(struct timespec *)b = (struct timespec){.tv_nsec = clock_ns}; return 0;
    default: return 0;
    }
}

static void expect(rlim_t soft, rlim_t hard, int number)
{
    assert_int_equal(fds_adopt(FD), number);
    assert_int_equal(limit.rlim_cur, soft);
    assert_int_equal(limit.rlim_max, hard);
    fds_close(number);
}

STEP(begin)
{
    limit = (struct rlimit){.rlim_cur = 64, .rlim_max = 1024};
    change.rlim_cur = 0;
    opens_meanwhile = 0;
    self = opener = 1;
    others_finish = false;
    clock_ns = 0;
    fds_init();
}

TEST(the_limit_is_as_before)
{
    expect(64, 1024, 64);
}

TEST(what_the_program_sets_stays)
{
    change = (struct rlimit){.rlim_cur = 70, .rlim_max = 1024};
    expect(70, 1024, 64);
    change = (struct rlimit){.rlim_cur = 30, .rlim_max = 200};
    expect(30, 200, 70);
}

/* Else the limit would stay raised. */
TEST(a_handler_within_does_not_raise_it)
{
    opens_meanwhile = 1;
    expect(64, 1024, 64);
    assert_int_equal(clock_ns, 0);
}

TEST(another_thread_waits_but_not_for_ever)
{
    opens_meanwhile = 1;
    opener = 2;
    expect(64, 1024, 64);
    assert_true(clock_ns >= RAISE_WAIT_NS);
    assert_true(limit_raise());
    self = 2;
    others_finish = true;
    expect(64, 1024, 64);
}

TEST(a_child_has_the_limit_that_its_parent_had)
{
    assert_true(limit_raise());
    assert_int_not_equal(limit.rlim_cur, 64);
    self = 2;
    fds_after_fork();
    assert_int_equal(limit.rlim_cur, 64);
    expect(64, 1024, 64);
    assert_int_equal(clock_ns, 0);
}

EACH_TEST(begin, NULL);

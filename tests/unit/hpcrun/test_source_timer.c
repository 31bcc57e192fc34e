/* hpcrun/source/source-timer.h: which timers may be created, by the user's limit of queued signals. The
 * kernel is simulated: others have so many signals queued, and each timer takes one. */
#define HPCRUN_BASE_SYSTEM_CALL_H
long sys6(long number, long a, long b, long c, long d, long e, long f);

#include "tests/unit/cmocka_suite.h"

#include "hpcrun/source/source-timer.c"

static uint64_t limit, others, timers;
static bool status_is_readable;
static unsigned reads;

static long read_status(char *to, size_t room)
{
    struct text text = {.at = to, .room = room};
    text_add(&text, "Name:\tSigQ:\t7\nThreads:\t1\nSigQ:\t");
    text_add_number(&text, others + timers);
    text_add(&text, "/1000\nSigPnd:\t0\n");
    reads++;
    return (long)text.length;
}

long sys6(long number, long a, long b, long c, long d, long e, long f)
{
    switch (number) {
    case SYS_prlimit64: ((struct rlimit *)d)->rlim_cur = limit; return 0;
    case SYS_openat: return status_is_readable ? 3 : -ENOENT;
    case SYS_read: return read_status((char *)b, (size_t)c);
    case SYS_timer_create:
        if (others + timers >= limit)
            return -EAGAIN;
        *(int *)c = (int)timers++;
        return 0;
    case SYS_timer_delete: timers--; return 0;
    default: return 0;
    }
}

static void begin(uint64_t its_limit, uint64_t of_others)
{
    limit = its_limit;
    others = of_others;
    timers = reads = 0;
    status_is_readable = true;
    timers_after_fork();
}

/* How many timers of a kind can be created now. */
static uint64_t open_all(enum timer_need need)
{
    uint64_t before = timers;
    while (timers < 100000 && timer_open(need, CLOCK_MONOTONIC, SIGRTMIN, NULL) >= 0)
        continue;
    return timers - before;
}

TEST(needed_timers_leave_half)
{
    static const uint64_t limits[] = {256, 1000, 60000};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        for (uint64_t used = 0; used < 4; used++) {
            uint64_t left = limits[i] - limits[i] * used / 4;
            begin(limits[i], limits[i] * used / 4);
            assert_int_equal(open_all(TIMER_NEEDED), left / 2);
        }
    for (uint64_t few = 0; few < 64; few++) {
        begin(few, 0);
        assert_int_equal(open_all(TIMER_NEEDED) + open_all(TIMER_SPARE), 0);
    }
}

/* Whoever has the others. */
TEST(of_few_they_take_a_sixteenth)
{
    static const uint64_t limits[] = {64, 100, 255};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        begin(limits[i], limits[i] / 2);
        assert_int_equal(open_all(TIMER_NEEDED), limits[i] / 16);
    }
}

TEST(spare_timers_take_a_part)
{
    begin(1000, 100);
    assert_int_equal(open_all(TIMER_SPARE), 1000 / 64);
    assert_int_equal(open_all(TIMER_NEEDED), 450 - 1000 / 64);
    assert_int_equal(open_all(TIMER_SPARE), 0);
}

/* Reading the file takes longer than creating a timer. */
TEST(few_timers_need_no_look_at_others)
{
    begin(16000, 0);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(timer_open(TIMER_NEEDED, CLOCK_MONOTONIC, SIGRTMIN, NULL), i);
    assert_int_equal(reads, 0);
    assert_int_equal(timer_open(TIMER_NEEDED, CLOCK_MONOTONIC, SIGRTMIN, NULL), 1000);
    assert_int_equal(reads, 1);
}

TEST(a_timer_that_is_closed_makes_room)
{
    begin(400, 0);
    assert_int_equal(open_all(TIMER_NEEDED), 200);
    timer_close(0);
    assert_int_equal(open_all(TIMER_NEEDED), 1);
    timers_after_fork();
    timers = 0;
    assert_int_equal(open_all(TIMER_NEEDED), 200);
}

/* The program may have queued the rest. */
TEST(what_the_kernel_refuses_is_not_counted)
{
    begin(400, 400);
    status_is_readable = false;
    assert_int_equal(open_all(TIMER_NEEDED), 0);
    others = 200;
    assert_int_equal(open_all(TIMER_NEEDED), 200);
}

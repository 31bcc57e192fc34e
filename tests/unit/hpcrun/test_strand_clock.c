/* The clock of strands on a simulated machine, which takes the CPU from the thread at chosen points. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/process/process.h"

enum { READING = 10, SYSTEM_CALL = 100, AWAY = 10000000 };

static uint64_t wall, cpu;   /* ns */
static unsigned calls, lost; /* system calls so far; bits: those at whose end the CPU is lost */

static void run(uint64_t ns)
{
    wall += ns;
    cpu += ns;
}

/* Of strand-clock.c: what the dependent kind of strands computes. */
static volatile uint64_t carried;

static uint64_t tail;        /* ns that a reading takes longer after such a strand */
static uint64_t last_carried;

static uint64_t simulated_ticks(void)
{
    run(READING + (carried != last_carried ? tail : 0));
    last_carried = carried;
    return wall;
}

static uint64_t simulated_clock(clockid_t clock)
{
    run(SYSTEM_CALL);
    uint64_t now = clock == CLOCK_MONOTONIC ? wall : cpu;
    if (calls < 32 && lost >> calls & 1)
        wall += AWAY;
    calls++;
    return now;
}

#define ticks_now()      simulated_ticks()
#define sys_clock(clock) simulated_clock(clock)
#include "hpcrun/span/strand-clock.c"

/* The time of a strand that computes for `ns`, and is away from the CPU once. */
static uint64_t strand(struct strand_clock *clock, uint64_t ns)
{
    run(ns / 2);
    wall += AWAY;
    run(ns / 2);
    return strand_end(clock) >> STRAND_SHIFT;
}

/* The counter counts nanoseconds here. Of the eight readings at the begin the first `k` lose the CPU,
 * and then seven of those at the end. */
TEST(test_calibration_beside_load)
{
    for (unsigned k = 0; k < 8; k++) {
        calls = 0;
        lost = ~(UINT32_MAX << k) | 0x7fu << (8 + k % 2);
        strand_clock_calibrate();
        assert_in_range(in_units(1000000) >> STRAND_SHIFT, 999000, 1001000);
        assert_in_range(long_ticks, LONG_NS - LONG_NS / 1000, LONG_NS + LONG_NS / 1000);
    }
}

/* The first readings lose the CPU. */
TEST(both_clocks_are_read_at_the_same_time)
{
    for (unsigned k = 0; k < MOMENT_TRIES; k++) {
        calls = 0;
        lost = (1u << k) - 1;
        struct moment now = moment_now(NEAR_TICKS);
        assert_int_equal(calls, k + 1);
        assert_in_range(now.ticks, now.wall - SYSTEM_CALL, now.wall + SYSTEM_CALL);
    }
}

STEP(init)
{
    unit_per_tick = UINT64_C(1) << (32 + STRAND_SHIFT);
    long_ticks = LONG_NS;
    wall = 10 * AWAY;
}

/* What is lost before the strand begins is not subtracted from it. */
TEST(test_losses_at_the_begin)
{
    for (unsigned k = 0; k < 4; k++) {
        struct strand_clock clock = {0};
        calls = 0;
        lost = (1u << k) - 1;
        strand_begin(&clock);
        uint64_t time = strand(&clock, 1000000);
        assert_in_range(time, 1000000, 1000000 + SYSTEM_CALL + 4 * READING);
    }
}

/* A machine on which every system call takes longer than a time slice. */
TEST(test_no_endless_tries)
{
    struct strand_clock clock = {0};
    calls = 0;
    lost = UINT32_MAX;
    strand_begin(&clock);
    assert_in_range(calls, 1, ANCHOR_TRIES);
}

/* Samples, and threads that are created meanwhile, are no part of a strand, whether it is long or
 * short. A pause in a pause counts once. */
TEST(test_pauses)
{
    for (uint64_t ns = 1000; ns < 10000000; ns *= 1000) {
        struct strand_clock clock = {0};
        lost = 0;
        strand_begin(&clock);
        struct strand_pause handler = strand_pause(false);
        run(3000);
        strand_go_on(&handler);
        run(ns);
        struct strand_pause creation = strand_pause(true);
        run(500000);
        handler = strand_pause(false);
        run(3000);
        strand_go_on(&handler);
        wall += AWAY;
        strand_go_on(&creation);
        uint64_t time = strand_end(&clock) >> STRAND_SHIFT;
        assert_in_range(time, ns, ns + 4 * SYSTEM_CALL + 10 * READING);
    }
}

/* How long a handler took itself is not known if it lost its CPU. */
TEST(test_a_pause_without_a_cpu)
{
    struct strand_clock clock = {0};
    lost = 0;
    strand_begin(&clock);
    struct strand_pause handler = strand_pause(false);
    wall += AWAY;
    strand_go_on(&handler);
    run(1000000);
    uint64_t time = strand_end(&clock) >> STRAND_SHIFT;
    assert_in_range(time, 1000000, 1000000 + SYSTEM_CALL + 4 * READING);
}

/* The runtime's work after the strand, and what another thread has taken from it. */
TEST(test_stop_and_cut)
{
    struct strand_clock clock = {0};
    lost = 0;
    strand_begin(&clock);
    run(2000);
    uint64_t first = strand_cut(&clock) >> STRAND_SHIFT;
    assert_in_range(first, 2000, 2000 + 2 * READING);
    run(3000);
    strand_stop(&clock);
    run(1000);
    assert_in_range(strand_end(&clock) >> STRAND_SHIFT, 3000, 3000 + 2 * READING);
    strand_begin(&clock);
    run(1000000);
    assert_int_equal(strand_cut(&clock), 0);
    assert_in_range(strand_end(&clock) >> STRAND_SHIFT, 1000000,
                    1000000 + SYSTEM_CALL + 4 * READING);
}

/* What a reading adds to strands differs by their kind: the middle is subtracted, half of the range is
 * the error. */
TEST(test_uncertainty)
{
    lost = 0;
    strand_clock_calibrate();
    assert_in_range(excess, READING - 1, 2 * READING);
    assert_in_range(strand_uncertainty(), 0, 1 << STRAND_SHIFT);
    uint64_t alike = (uint64_t)excess;
    tail = 20;
    strand_clock_calibrate();
    assert_in_range(excess, alike + 9, alike + 11);
    assert_in_range(strand_uncertainty(), 9 << STRAND_SHIFT, 11 << STRAND_SHIFT);
    excess = 0;
    tail = 0;
}

ALL_TESTS(init, NULL);

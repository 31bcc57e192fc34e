/* The clock of strands on a simulated machine, which takes the CPU from the thread at chosen points. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/process/process.h"

enum { READING = 10, SYSTEM_CALL = 100, AWAY = 10000000, IN_HANDLER = 2000, OF_KERNEL = 10000 };

static uint64_t wall, cpu;   /* ns */
static unsigned calls, lost; /* system calls so far; bits: those at whose end the CPU is lost */

static void run(uint64_t ns)
{
    wall += ns;
    cpu += ns;
}

static bool loses_cpu; /* while a sample is in its handler */
static unsigned moment,
    sampled_at; /* at which a sample may strike: so far; that of the sample. 0: none */

static void sample(void);

static void may_sample(void)
{
    if (++moment == sampled_at)
        sample();
}

static uint64_t simulated_ticks(void)
{
    may_sample();
    run(READING);
    uint64_t now = wall;
    may_sample();
    return now;
}

static uint64_t simulated_cpu_clock(void)
{
    run(SYSTEM_CALL);
    uint64_t now = cpu;
    if (lost >> calls++ & 1)
        wall += AWAY;
    return now;
}

#define ticks_now()      simulated_ticks()
#define sys_clock(clock) ((void)(clock), simulated_cpu_clock())
#include "hpcrun/span/strand-clock.c"

static void sample(void)
{
    run(OF_KERNEL / 2);
    uint64_t began = wall;
    run(IN_HANDLER);
    wall += loses_cpu ? AWAY : 0;
    strand_clock_sampled(began);
    run(OF_KERNEL / 2);
}

/* The time of a strand that computes for `ns`, and is away from the CPU once. */
static uint64_t strand(struct strand_clock *clock, uint64_t ns)
{
    run(ns / 2);
    wall += AWAY;
    run(ns / 2);
    return strand_end(clock) >> STRAND_SHIFT;
}

static int init(void **state)
{
    (void)state;
    unit_per_tick = UINT64_C(1) << (32 + STRAND_SHIFT);
    long_ticks = LONG_NS;
    wall = 10 * AWAY;
    strand_clock_set_sample_cost(OF_KERNEL - READING);
    return 0;
}

/* What is lost before the strand begins is not subtracted from it. */
static void test_losses_at_the_begin(void **state)
{
    (void)state;
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
static void test_no_endless_tries(void **state)
{
    struct strand_clock clock = {0};
    (void)state;
    calls = 0;
    lost = UINT32_MAX;
    strand_begin(&clock);
    assert_in_range(calls, 1, ANCHOR_TRIES);
}

/* A sample at any moment of strands, short and long, does not make them longer, nor shorter. */
static void test_samples(void **state)
{
    (void)state;
    static const uint64_t lengths[] = {20000, 1000000};
    for (int i = 0; i < 2; i++) {
        for (sampled_at = 1; sampled_at <= 14; sampled_at++) {
            struct strand_clock clock = {0};
            calls = moment = lost = 0;
            strand_begin(&clock);
            for (int half = 0; half < 2; half++) {
                run(lengths[i] / 2);
                may_sample();
            }
            uint64_t first = strand_next(&clock) >> STRAND_SHIFT;
            run(lengths[i]);
            may_sample();
            uint64_t second = strand_end(&clock) >> STRAND_SHIFT;
            assert_in_range(first, lengths[i], lengths[i] + 2 * SYSTEM_CALL + 6 * READING);
            assert_in_range(second, lengths[i], lengths[i] + 2 * SYSTEM_CALL + 6 * READING);
            assert_true(sampled_at > moment || strand_sampled > 0);
        }
        assert_in_range(moment, 11, 13);
    }
    sampled_at = 0;
}

static void test_a_handler_that_loses_the_cpu(void **state)
{
    (void)state;
    struct strand_clock clock = {0};
    calls = lost = 0;
    sample();
    strand_begin(&clock);
    run(1000000);
    loses_cpu = true;
    sample();
    loses_cpu = false;
    uint64_t time = strand_end(&clock) >> STRAND_SHIFT;
    assert_in_range(time, 1000000, 1000000 + SYSTEM_CALL + 4 * READING);
}

/* Before samples are subtracted, and of a strand that another thread has begun. */
static void test_samples_that_are_not_subtracted(void **state)
{
    (void)state;
    struct strand_clock clock = {.end = wall};
    for (int is_remote = 0; is_remote < 2; is_remote++) {
        subtracts_samples = is_remote;
        if (is_remote)
            strand_begin_in(&clock, 1);
        else
            strand_begin(&clock);
        run(20000);
        sample();
        uint64_t time = strand_end(&clock) >> STRAND_SHIFT;
        assert_in_range(time, 20000 + OF_KERNEL + IN_HANDLER,
                        20000 + OF_KERNEL + IN_HANDLER + 4 * READING);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_losses_at_the_begin),
        cmocka_unit_test(test_no_endless_tries),
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_a_handler_that_loses_the_cpu),
        cmocka_unit_test(test_samples_that_are_not_subtracted),
    };
    return cmocka_run_group_tests(tests, init, NULL);
}

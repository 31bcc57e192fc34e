/* What the node of a sample pays, in which metrics. */
#include "tests/unit/hpcrun/made_sample.h"

#include "hpcrun/code/module-instances.h"

/* ---- time ---- */

TEST(time_off_the_cpu_is_told_apart)
{
    struct increment increment = {.fired = true, .amount = 1000, .off_cpu = 400};
    take_increment(&increment);
    assert_paid(1000, 0, 0);
    assert_int_equal(paid[NODE][OFF_CPU], 400);
}

/* Its time is no work, and all of it is blocked. */
TEST(a_thread_that_waits_pays_waiting)
{
    struct increment increment = {.fired = true, .amount = 1000, .off_cpu = 900};
    set_status(AGENT_WAITING, 4, 1);
    take_increment(&increment);
    assert_only_fate(FATE_RECORDED, 1000);
    assert_paid(0, 0, 0);
    assert_int_equal(paid[NODE][WAITING], 1000);
    assert_int_equal(paid[NODE][OFF_CPU], 0);
}

/* Time without a CPU is neither work nor idleness. */
TEST(time_without_a_cpu_is_ready)
{
    struct increment increment = {.fired = true, .amount = 1000, .off_cpu = 100, .ready = 600};
    for (unsigned i = 0; i < 2; i++) {
        begin_sample(state);
        set_status(i ? AGENT_WAITING : AGENT_WORKING, 4, 1);
        take_increment(&increment);
        assert_only_fate(FATE_RECORDED, 1000);
        assert_int_equal(paid[NODE][READY], 600);
        assert_int_equal(paid[NODE][i ? WAITING : WORK], 400);
        assert_int_equal(paid[NODE][OFF_CPU], i ? 0 : 100);
        assert_int_equal(paid[NODE][IDLENESS], i ? 0 : 1200);
        assert_int_equal(paid[NODE][LOCK_BLAME], 0);
        assert_int_equal(entered, 0);
        assert_int_equal(event->ready_node, NODE);
    }
}

/* ---- the clock ---- */

/* Threads that work at the same time share the clock. CPU time counts, of as many threads as can run. */
TEST(threads_that_work_share_the_clock)
{
    static const struct {
        enum agent_thread_status kind;
        uint32_t workers, working, running, cpus;
        uint64_t wall; /* for 1200, 300 of them without a CPU or off it */
    } cases[] = {
        {AGENT_WORKING, 4, 4, 9, 8, 225}, {AGENT_WORKING, 4, 1, 9, 8, 900},
        {AGENT_WORKING, 8, 8, 9, 2, 450}, {AGENT_WORKING, 4, 0, 9, 8, 900},
        {AGENT_FOREIGN, 0, 0, 3, 8, 300}, {AGENT_FOREIGN, 0, 0, 0, 8, 900},
        {AGENT_FOREIGN, 0, 0, 9, 2, 450}, {AGENT_WAITING, 4, 1, 9, 8, 0},
    };
    struct increment increment = {.fired = true, .amount = 1200, .off_cpu = 100, .ready = 200};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin_sample(state);
        process.usable_cpus = cases[i].cpus;
        running = cases[i].running;
        set_status(cases[i].kind, cases[i].workers, cases[i].working);
        take_increment(&increment);
        assert_int_equal(paid[NODE][WALL], cases[i].wall);
    }
}

TEST(an_event_without_time_has_no_clock)
{
    event->wall_time = NO_METRIC;
    take(1000);
    assert_paid(1000, 0, 0);
}

/* ---- blame for locks ---- */

/* A holder may itself wait. */
TEST(the_holder_of_a_lock_pays_for_each_thread_that_waits)
{
    for (unsigned i = 0; i < 2; i++) {
        begin_sample(state);
        set_status(i ? AGENT_WAITING : AGENT_WORKING, 4, 4);
        waiters.count = 3;
        take(1000);
        assert_int_equal(charged, 1000);
        assert_int_equal(paid[NODE][LOCK_BLAME], 3000);
    }
}

/* Others wait meanwhile, but not because of what the holder executes. The node below NODE is UNKNOWN. */
TEST(a_holder_without_a_cpu_pays_at_a_node_of_its_own)
{
    set_status(AGENT_WORKING, 4, 4);
    waiters.count = 3;
    take_increment(&(struct increment){.fired = true, .amount = 1000, .ready = 600});
    assert_int_equal(charged, 1000);
    assert_int_equal(entered, 1);
    assert_int_equal(entered_ips[0], ip_placeholder(PLACEHOLDER_LOCK_WITHOUT_CPU));
    assert_int_equal(paid[NODE][LOCK_BLAME], 3 * 400);
    assert_int_equal(paid[UNKNOWN][LOCK_BLAME], 3 * 600);
    assert_int_equal(paid[NODE][READY], 0);
    assert_int_equal(paid[UNKNOWN][READY], 600);
    assert_int_equal(event->ready_node, UNKNOWN);
    assert_int_equal(found.node, NODE);
}

/* 4 ms at a time: from the sixth sample of the same turn on, the thread has kept the lock for 20 ms. */
TEST(a_lock_that_is_kept_for_long_has_a_node_of_its_own)
{
    const uint64_t amount = (uint64_t)4000000 << TIME_SHIFT;
    waiters.count = 2;
    set_status(AGENT_WORKING, 3, 1);
    for (waiters.turn = 5; waiters.turn < 7; waiters.turn++) {
        memset(&paid, 0, sizeof paid);
        for (int i = 0; i < 8; i++)
            take(amount);
        assert_int_equal(paid[NODE][LOCK_BLAME], 6 * 2 * amount);
        assert_int_equal(paid[KEPT][LOCK_BLAME], 2 * 2 * amount);
        assert_int_equal(paid[KEPT][WORK], 0);
    }
    memset(&paid, 0, sizeof paid);
    waiters.turn = 0; /* a lock that is no interpreter's */
    for (int i = 0; i < 8; i++)
        take(amount);
    assert_int_equal(paid[NODE][LOCK_BLAME], 8 * 2 * amount);
}

/* ---- blame for idle workers ---- */

/* The time line has both in records of their own. */
TEST(time_off_the_cpu_pays_idleness_by_itself)
{
    struct increment increment = {.fired = true, .amount = 10, .off_cpu = 5};
    set_status(AGENT_WORKING, 3, 2);
    take_increment(&increment);
    assert_paid(10, 5 / 2 + 5 / 2, 5 / 2 + 5 / 2);
}

/* Expected values are those of the definition: amount x (n - n_w) / n_w, and amount / n_w, with n =
 * min(workers, CPUs or --cores) and 1 <= n_w <= n. */
TEST(a_working_worker_pays_its_share_of_idleness)
{
    static const struct {
        uint32_t workers, working, cpus, cores;
        uint64_t idleness, incomplete; /* for 1200 */
    } cases[] = {
        {4, 4, 8, 0, 0, 0},        {4, 1, 8, 0, 3600, 1200}, {4, 2, 8, 0, 1200, 600},
        {4, 3, 8, 0, 400, 400},    {4, 0, 8, 0, 3600, 1200}, /* at least the sampled one works */
        {4, 5, 8, 0, 0, 0},        {8, 2, 2, 0, 0, 0},       {8, 1, 2, 0, 1200, 1200},
        {8, 3, 2, 0, 0, 0},        {8, 2, 2, 4, 1200, 600},  {8, 2, 16, 4, 1200, 600},
        {2, 1, 16, 8, 1200, 1200},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin_sample(state);
        process.usable_cpus = cases[i].cpus;
        process.config.cores = cases[i].cores;
        set_status(AGENT_WORKING, cases[i].workers, cases[i].working);
        take(1200);
        assert_paid(1200, cases[i].idleness, cases[i].incomplete);
        assert_only_fate(FATE_RECORDED, 1200);
        uint32_t cpus = cases[i].cores ? cases[i].cores : cases[i].cpus;
        assert_int_equal(recorded_workers, cases[i].workers);
        assert_int_equal(recorded_n, cases[i].workers < cpus ? cases[i].workers : cpus);
    }
}

/* 2^55 is 9.5 hours in fixed point; times 1023 it has 65 bits. */
TEST(large_amounts_do_not_overflow)
{
    process.usable_cpus = 1024;
    set_status(AGENT_WORKING, 1024, 2);
    take((uint64_t)1 << 55);
    assert_paid((uint64_t)1 << 55, ((uint64_t)1 << 55) / 2 * 1022, (uint64_t)1 << 54);
}

TEST(a_foreign_thread_pays_no_idleness)
{
    status.counts = (struct agent_worker_counts){.workers = 4, .working = 1};
    take(1200);
    assert_paid(1200, 0, 0);
    assert_int_equal(recorded_n, 0);
}

TEST(an_event_without_idleness_pays_none)
{
    event->idleness = event->incomplete = NO_METRIC;
    set_status(AGENT_WORKING, 4, 1);
    take(1200);
    assert_paid(1200, 0, 0);
}

EACH_TEST(begin_sample, NULL);

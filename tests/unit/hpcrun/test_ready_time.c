/* Time without a CPU that a thread wanted, of threads and of samples, compared with the account of a
 * simulated kernel. */
#include "tests/unit/cmocka_suite.h"

#include "tests/unit/hpcrun/sampled_thread.h"

#include "hpcrun/thread/ready-time.h"

static void begin_by_wall_clock(unsigned seed)
{
    begin(seed % 4 < 2 ? BY_WALL_CLOCK : BY_ONE_WALL_TIMER, seed);
    set_place(IN_CODE);
    thread.began_waits = cpu_waits_of(thread.tid);
}

/* A thread that computes, and has no CPU half of the time: 1 ms with one, 1 ms without. Its time without
 * one is told apart to the nanosecond, whenever samples come. */
TEST(time_without_a_cpu_is_ready)
{
    for (unsigned seed = 1; seed <= 100; seed++) {
        struct paid paid = {0};
        begin_by_wall_clock(seed);
        for (unsigned i = 0; i < 200; i++) {
            run(MS, &paid);
            sim_wait_for_cpu(MS);
            take(&paid);
        }
        assert_true(paid.ready <= 200 * MS && paid.ready + 2 * PERIOD >= 200 * MS);
        assert_true(paid.off_cpu <= 2 * PERIOD);
        assert_int_equal(cpu_waits_since_begin(&thread).ready, 200 * MS);
    }
}

/* A thread that sleeps. A sample wakes it, and it waits 2 ms for a CPU: that is no wish of the program.
 * A thread that a sample finds in code did wish to run. */
TEST(the_wait_that_a_sample_causes_is_not_ready)
{
    for (enum place place = IN_CODE; place < PLACES; place++) {
        struct paid paid = {0};
        begin_by_wall_clock(2);
        set_place(place);
        for (unsigned i = 0; i < 100; i++) {
            sim_sleep(100 * MS);
            sim_wait_for_cpu(2 * MS);
            take(&paid);
        }
        uint64_t ready = place == IN_CODE ? 200 * MS : 0;
        assert_int_equal(paid.ready, ready);
        assert_int_equal(cpu_waits_since_begin(&thread).ready, ready);
        assert_int_equal(paid.amount, paid.off_cpu + paid.ready);
    }
}

/* It waits 0.2 ms for a CPU, then sleeps: only what comes after the sample is due is the sample's. */
TEST(an_earlier_wait_of_a_sleeper_is_ready)
{
    struct paid paid = {0};
    begin_by_wall_clock(2);
    set_place(AFTER_CALL);
    for (unsigned i = 0; i < 20; i++) {
        sim_wait_for_cpu(MS / 5);
        sim_sleep(100 * MS);
        sim_wait_for_cpu(MS);
        take(&paid);
    }
    assert_int_equal(paid.ready, 20 * MS / 5);
    assert_int_equal(cpu_waits_since_begin(&thread).timeslices, 40);
    assert_int_equal(cpu_waits_since_begin(&thread).ready, 20 * MS / 5);
}

TEST(without_accounts_nothing_is_ready)
{
    for (unsigned i = 0; i < 2; i++) {
        struct paid paid = {0};
        begin_by_wall_clock(1);
        sim.has_no_accounts = i == 0;
        is_restricted = i == 1;
        thread.began_waits = cpu_waits_of(thread.tid);
        run(20 * MS, &paid);
        sim_wait_for_cpu(500 * MS);
        take(&paid);
        assert_int_equal(cpu_waits_since_begin(&thread).ready, READY_UNKNOWN);
        assert_int_equal(paid.ready, 0);
        assert_true(paid.off_cpu + PERIOD > 500 * MS);
    }
}

/* ---- threads that need no reading ---- */

/* Another thread is known, and this one was created, and gets a CPU `late` ns after that. */
static void begin_new(uint64_t late)
{
    begin(BY_WALL_CLOCK, 1);
    cpu_waits_of(thread.tid);
    thread.created_wall = sim.wall;
    sim_wait_for_cpu(late);
    thread.began_wall = sim.wall;
    sim.waits = sim.preemptions = 0;
    sim.looks = 0;
    thread.began_waits = cpu_waits_at_begin(&thread);
}

/* It ends a few microseconds later: the kernel's account is never read, and says that it never waited. */
TEST(a_short_thread_is_not_looked_up)
{
    begin_new(START_NS - 1);
    assert_int_equal(sim.looks, 0);
    sim_run(20000);
    struct cpu_waits waits = own_cpu_waits_since_begin(&thread);
    assert_int_equal(waits.ready, 0);
    assert_int_equal(waits.timeslices, 0);
    assert_int_equal(sim.looks, 1); /* whether it has left its CPU */
}

/* The wait for the first CPU is a part of it, if that was as short as an idle CPU's. */
TEST(what_it_waits_later_counts)
{
    static const uint64_t late[] = {0, START_NS - 1, START_NS, 7 * MS};
    for (size_t i = 0; i < sizeof late / sizeof *late; i++) {
        begin_new(late[i]);
        assert_int_equal(own_cpu_waits_since_begin(&thread).ready, 0);
        sim_wait_for_cpu(3 * MS);
        uint64_t before = late[i] < START_NS ? late[i] : 0;
        assert_int_equal(own_cpu_waits_since_begin(&thread).ready, 3 * MS + before);
        assert_int_equal(cpu_waits_since_begin(&thread).ready, 3 * MS + before);
    }
}

TEST(without_accounts_a_short_thread_is_unknown)
{
    for (unsigned i = 0; i < 2; i++) {
        begin(BY_WALL_CLOCK, 1);
        sim.has_no_accounts = i == 0;
        cpu_waits_of(thread.tid);
        is_restricted = i == 1;
        thread.created_wall = thread.began_wall = sim.wall;
        sim.looks = 0;
        thread.began_waits = cpu_waits_at_begin(&thread);
        assert_int_equal(thread.began_waits.ready, READY_UNKNOWN);
        assert_int_equal(own_cpu_waits_since_begin(&thread).ready, READY_UNKNOWN);
        if (is_restricted)
            assert_int_equal(sim.looks, 0);
    }
}

/* A filter that comes later forbids even to ask whether it has left its CPU. */
TEST(a_thread_that_restricts_itself_is_unknown)
{
    begin_new(0);
    is_restricted = true;
    assert_int_equal(own_cpu_waits_since_begin(&thread).ready, READY_UNKNOWN);
    assert_int_equal(sim.looks, 0);
}

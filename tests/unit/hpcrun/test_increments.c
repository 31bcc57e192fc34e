/* Increments of the samples of each source, compared with the clocks of a simulated kernel.
 *
 * Bounds are 5 standard deviations of the checked mean, from the distribution named next to it. */
#include "tests/unit/cmocka_suite.h"

#include "tests/unit/hpcrun/sampled_thread.h"

#include "hpcrun/source/increment.h"
#include "hpcrun/source/sample-source.h"

#include <math.h>

/* Only the CPU clock times samples. */
static bool has_no_wall_timer(enum way way)
{
    return way == BY_PERF_ALONE || way == BY_CPU_TIMER;
}

/* A thread of length T <= P / 2 has a sample with probability T / P, which pays P: no bias. Longer
 * ones have one, by arithmetic: P / 12 too much at T = P, where a second sample may follow the
 * first one's full period; P / 24 too little from some periods on, as the tail behind the last
 * sample is E[d^2] / 2P = 13 P / 24 long on average and the first sample adds P / 2. */
TEST(threads_of_any_length_recover_their_time_on_average)
{
    static const uint64_t lengths[] = {PERIOD / 100, PERIOD / 10, PERIOD, 5 * PERIOD / 2,
                                       10 * PERIOD};
    const unsigned threads = 20000;
    for (enum way way = 0; way < WAYS; way++)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            struct paid paid = {0};
            double length = (double)lengths[i], period = PERIOD;
            for (unsigned n = 1; n <= threads; n++) {
                begin(way, n);
                run(lengths[i], &paid);
            }
            double sigma = length < period ? sqrt(length / period * (1 - length / period)) : 1;
            double mean = (double)paid.amount / threads;
            assert_true(fabs(mean - length) < 5 * sigma * period / sqrt(threads) +
                                                  (length > period / 2 ? period / 12 : 0));
        }
}

/* From its first sample to its last, a thread's samples pay what its clock went on, to the
 * nanosecond for CPU time. */
TEST(samples_pay_the_clock)
{
    for (enum way way = 0; way < WAYS; way++) {
        struct paid first = {0}, paid = {0};
        begin(way, 1);
        while (first.samples == 0)
            run(MS / 100, &first);
        uint64_t from = thread.events[0].last;
        run(1000 * MS, &paid);
        assert_int_equal(paid.amount, thread.events[0].last - from);
        assert_true(paid.amount > 1000 * MS - 3 * PERIOD / 2 - MS && paid.amount <= 1000 * MS + MS);
        /* Periods are uniform in half to one and a half times the mean. */
        double periods = 1000 * (double)MS / PERIOD;
        assert_true(fabs((double)paid.samples - periods) < 5 * sqrt(periods / 12) + 1);
    }
}

/* The event counts nanoseconds of CPU time, and its first period is 1: the search for the period of
 * 5 ms multiplies it by at most 11/4 per sample, so that it takes 16 samples or more, and fewer
 * than 200. From there on samples come as those of CPUTIME, but for the period's own spread: a
 * quarter of the last sample's is taken over, so that its standard deviation is 1/sqrt(12 x 7) of
 * the mean. */
TEST(a_counter_by_rate_finds_its_period)
{
    for (unsigned seed = 1; seed <= 100; seed++) {
        struct paid search = {0}, paid = {0};
        begin_counter(seed);
        run(100 * MS, &search);
        assert_true(search.samples >= 16 && search.samples < 200);
        uint64_t from = thread.events[0].last;
        run(1000 * MS, &paid);
        assert_int_equal(paid.amount, thread.events[0].last - from);
        assert_true(paid.amount > 1000 * MS - 4 * PERIOD && paid.amount < 1000 * MS + 4 * PERIOD);
        double periods = 1000 * (double)MS / PERIOD;
        assert_true(fabs((double)paid.samples - periods) <
                    5 * sqrt(periods * (1.0 / 12 + 1.0 / 84)) + 0.05 * periods);
    }
}

/* A new thread begins with the period that the previous thread has learned. */
TEST(a_counter_by_rate_searches_once)
{
    struct paid search = {0}, paid = {0};
    begin_counter(1);
    run(1000 * MS, &search);
    begin_counting_thread(2);
    run(100 * MS, &paid);
    assert_true(paid.samples < 40);
}

/* The wall clock runs while a thread is stopped (SIGSTOP) or gets no CPU: the sample behind it pays
 * for that. */
TEST(a_stopped_thread_pays_for_the_time_that_it_was_stopped)
{
    for (unsigned seed = 1; seed <= 200; seed++) {
        struct paid paid = {0};
        begin(seed % 4 < 2 ? BY_WALL_CLOCK : BY_ONE_WALL_TIMER, seed);
        uint64_t start = sim.wall;
        run(50 * MS, &paid);
        sim_wait(500 * MS);
        uint64_t before = paid.amount;
        take(&paid);
        assert_true(paid.amount + PERIOD > before + 500 * MS);
        run(50 * MS, &paid);
        uint64_t truth = sim.wall - start;
        assert_true(paid.amount + 5 * PERIOD / 2 > truth && paid.amount < truth + 5 * PERIOD / 2);
        assert_true(paid.off_cpu + PERIOD > 500 * MS && paid.off_cpu < 500 * MS + PERIOD);
        assert_true(paid.samples < 40); /* the pause itself is one sample */
    }
}

/* The same for a thread that blocks the signal, with its first sample, too: its period is random,
 * and no measure of what was missed. */
TEST(a_thread_that_blocks_its_signals_pays_when_it_lets_them_come)
{
    for (enum way way = 0; way < WAYS; way++)
        for (unsigned seed = 1; seed <= 100; seed++) {
            struct paid paid = {0};
            begin(way, seed);
            sim_run_blocked(100 * MS);
            take(&paid);
            run(100 * MS, &paid);
            assert_true(paid.amount + 5 * PERIOD / 2 > 200 * MS);
            assert_true(paid.amount < 200 * MS + 5 * PERIOD / 2);
        }
}

/* A first sample that comes late pays a period for each that began before it came: due at a time
 * uniform in (0, P], it pays 3.3 P on average at 3.3 P. The next one is a first sample again, so
 * that 0.3 P behind it recover 0.3 P on average. The amount has a deviation below P / 2, and the
 * second sample one of sqrt(0.21) P. */
TEST(a_late_first_sample_begins_anew)
{
    const unsigned threads = 20000;
    for (enum way way = BY_PERF; way <= BY_CPU_TIMER; way++) {
        struct paid paid = {0};
        for (unsigned n = 1; n <= threads; n++) {
            begin(way, n);
            sim_run_blocked(PERIOD * 33 / 10);
            take(&paid);
            run(PERIOD * 3 / 10, &paid);
        }
        double mean = (double)paid.amount / threads, sigma = sqrt(0.25 + 0.21) * PERIOD;
        assert_true(fabs(mean - 3.6 * PERIOD) < 5 * sigma / sqrt(threads));
    }
}

/* With 400 threads on two CPUs, and samples that take 5 us, a thread has a sample each 20 ms. Whatever the means were, the time
 * of a thread is paid on average, but for P / 24 of the last one (see above). The deviation is that of
 * the tail, below P, and of half the difference of the means. */
TEST(periods_follow_the_number_of_threads)
{
    static const uint32_t numbers[][2] = {{1, 400}, {400, 1}, {200, 400}};
    const unsigned threads = 5000;
    const double longest = 20 * (double)MS;
    for (enum way way = BY_WALL_CLOCK; way <= BY_ONE_WALL_TIMER; way++)
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
            struct paid paid = {0};
            for (unsigned n = 1; n <= threads; n++) {
                begin(way, n);
                live = numbers[i][0];
                source_resume(&thread, &thread.events[0]);
                run(50 * MS, &paid);
                live = numbers[i][1];
                run(100 * MS, &paid);
            }
            double mean = (double)paid.amount / threads;
            assert_true(fabs(mean - 150 * (double)MS) < 5 * longest / sqrt(threads) + longest / 12);
        }
}

/* The time that samples of waiting threads take: at most a 20th of the CPUs' time, or that of one
 * sample per CPU and period. */
TEST(samples_take_a_bounded_share)
{
    static const uint64_t costs[] = {1000, 30000, 200000, 1 * MS};
    for (enum way way = BY_WALL_CLOCK; way <= BY_ONE_WALL_TIMER; way++)
        for (size_t i = 0; i < sizeof costs / sizeof *costs; i++) {
            struct paid paid = {0};
            begin(way, 1 + i);
            live = 400;
            source_resume(&thread, &thread.events[0]);
            slot.state = AGENT_SLOT_WAITING;
            slot.calls = 1;
            sample_ns = costs[i];
            while (paid.samples < 400) {
                sim_wait(MS);
                take(&paid);
            }
            double each = 20 * (double)costs[i] < PERIOD ? 20 * (double)costs[i] : PERIOD;
            double mean = 400 * each / 2 > PERIOD ? 400 * each / 2 : PERIOD;
            assert_true(fabs((double)thread.events[0].mean - mean) < 0.01 * mean);
        }
}

/* The CPU time of a thread that has worked between two samples is not what they cost, but more. */
TEST(work_is_no_cost_of_samples)
{
    struct paid paid = {0};
    begin(BY_WALL_CLOCK, 1);
    live = 400;
    source_resume(&thread, &thread.events[0]);
    slot.state = AGENT_SLOT_WAITING;
    while (paid.samples < 400) {
        slot.calls++;
        run(MS, &paid);
        sim_wait(MS);
        take(&paid);
    }
    slot.state = AGENT_SLOT_WORKING;
    run(400 * 20 * MS, &paid);
    assert_int_equal(cost_of_samples(), 5000);
    sample_ns = 2000;
    for (slot.state = AGENT_SLOT_WAITING; paid.samples < 2000; slot.calls++) {
        sim_wait(MS);
        take(&paid);
    }
    assert_true(cost_of_samples() < 2100);
}

static void wait_now_and_then(struct paid *paid)
{
    for (int i = 0; i < 50; i++) {
        run(4 * MS, paid);
        waiting = true;
        sim_wait(30 * MS);
        take(paid);
        waiting = false;
    }
}

/* Both timers may have expired when the thread goes on. */
static void be_preempted_now_and_then(struct paid *paid)
{
    for (int i = 0; i < 200; i++) {
        run(MS * (i % 7) / 3, paid);
        sim_wait(MS * (i % 9) * 2);
        take(paid);
    }
    run(20 * MS, paid);
}

/* What a thread does pays the CPU time that it takes, whatever times its samples. */
static void assert_pays_cpu_time(enum way way, unsigned seed, void (*act)(struct paid *paid))
{
    struct paid paid = {0};
    begin(way, seed);
    uint64_t start = sim.cpu;
    act(&paid);
    uint64_t truth = sim.cpu - start;
    assert_true(paid.amount + 5 * PERIOD / 2 > truth && paid.amount < truth + 5 * PERIOD / 2);
}

TEST(waiting_costs_no_cpu_time)
{
    for (enum way way = BY_PERF; way <= BY_CPU_TIMER; way++)
        for (unsigned seed = 1; seed <= 20; seed++)
            assert_pays_cpu_time(way, seed, wait_now_and_then);
}

/* The wall clock times the samples then, if there are timers. */
TEST(preemption_costs_no_cpu_time)
{
    for (enum way way = BY_PERF; way <= BY_CPU_TIMER; way++)
        for (unsigned seed = 1; seed <= 20; seed++) {
            assert_pays_cpu_time(way, seed, be_preempted_now_and_then);
            assert_int_equal(thread.events[0].by_cpu_clock, has_no_wall_timer(way));
        }
}

/* Whether the timers of the wall clock are armed, both. */
static bool both_timers_are_armed(void)
{
    const int *timers = thread.events[0].timers;
    return sim.timers[timers[0]].at && sim.timers[timers[1]].at;
}

/* ---- CPU time by the wall clock ---- */

/* A thread that works and waits in turns, for much less than a period. A sample of a wait is told by the call that it
 * has interrupted, or by the wrapper, where the wait had just ended. */
struct bursts {
    uint64_t work, call, wait; /* ns: at work, on a CPU in the kernel to wait, and off it */
    bool by_wrapper;
};

static uint64_t cpu_time(const struct paid *paid)
{
    return paid->amount - paid->off_cpu - paid->ready;
}

static void run_bursts(struct bursts bursts, unsigned n, struct paid *at_work, struct paid *in_wait)
{
    for (unsigned i = 0; i < n; i++) {
        set_place(IN_CODE);
        slot.state = AGENT_SLOT_WORKING;
        run(bursts.work, at_work);
        set_place(bursts.by_wrapper ? IN_CODE : AFTER_CALL);
        slot.state = bursts.by_wrapper ? AGENT_SLOT_WAITING : AGENT_SLOT_WORKING;
        run(bursts.call, in_wait);
        for (uint64_t end = sim.wall + bursts.wait; sim.wall < end; take(in_wait))
            sim_sleep(end - sim.wall);
    }
}

/* Work has its own CPU time, though nearly all samples find the thread waiting, and waits what the kernel used for
 * them. What is paid differs from what was used by 8 periods at most. Samples at work are a share f of all, as the
 * work is of the time; what each pays varies by half a period at most. */
TEST(short_bursts_have_their_cpu_time)
{
    static const struct bursts all[] = {{MS / 50, MS / 100, 3 * MS, false}, {MS / 50, MS / 100, 3 * MS, true},
                                        {MS / 5, 0, MS / 5, false}, {MS / 5, MS / 5, MS, false}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const struct bursts bursts = all[i];
        struct paid at_work = {0}, in_wait = {0};
        double turn = (double)(bursts.work + bursts.call + bursts.wait), f = (double)bursts.work / turn;
        unsigned turns = 4000 * (unsigned)(PERIOD / turn / f + 1);
        begin(BY_WALL_CLOCK, i + 1);
        uint64_t began = sim.cpu;
        run_bursts(bursts, turns, &at_work, &in_wait);
        uint64_t used = sim.cpu - began, paid = cpu_time(&at_work) + cpu_time(&in_wait);
        assert_true(paid <= used + 9 * PERIOD && paid + 9 * PERIOD >= used);
        double work = (double)turns * (double)bursts.work, samples = work / PERIOD;
        double sigma = PERIOD * sqrt(samples * (1 - f) * (1 + 1.0 / 12));
        assert_true(fabs((double)cpu_time(&at_work) - work) < 5 * sigma);
    }
}

/* Threads that have 20 samples each: what is unpaid at their ends is as often too little as too much. The standard
 * deviation of one is 1.9 periods. */
TEST(short_threads_have_their_cpu_time_on_average)
{
    const unsigned threads = 2000;
    struct paid paid = {0};
    uint64_t used = 0;
    for (unsigned n = 1; n <= threads; n++) {
        begin(BY_WALL_CLOCK, n);
        uint64_t began = sim.cpu;
        run_bursts((struct bursts){PERIOD / 5, 0, PERIOD * 4 / 5, false}, 20, &paid, &paid);
        used += sim.cpu - began;
    }
    double error = ((double)cpu_time(&paid) - (double)used) / threads;
    assert_true(fabs(error) < 5 * 1.9 * PERIOD / sqrt(threads));
}

/* A thread that waits in no call, for a page or because it was stopped, pays no CPU time but what is kept. If it was
 * paused before, as in the child of a fork, nothing is. */
TEST(other_time_off_the_cpu_stays_that)
{
    for (unsigned is_paused = 0; is_paused < 2; is_paused++) {
        struct paid paid = {0}, stopped = {0};
        begin(BY_WALL_CLOCK, 1);
        run_bursts((struct bursts){MS / 50, MS / 100, 3 * MS, false}, 20000, &paid, &paid);
        set_place(IN_CODE);
        slot.state = AGENT_SLOT_WORKING;
        if (is_paused) {
            source_pause(&thread.events[0]);
            source_resume(&thread, &thread.events[0]);
        }
        for (unsigned i = 0; i < 100; i++) {
            sim_wait(10 * PERIOD);
            take(&stopped);
        }
        assert_true(cpu_time(&stopped) <= (is_paused ? 0 : 9 * PERIOD));
    }
}

/* A thread that has the CPU arms one timer for each sample; the other one is armed already. */
TEST(timers_take_turns)
{
    static const enum way ways[] = {BY_PERF, BY_TIMERS, BY_WALL_CLOCK};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct paid paid = {0};
        begin(ways[i], 1);
        assert_int_equal(sim.arms, 2);
        for (int ms = 0; ms < 1000; ms++) {
            run(MS, &paid);
            assert_true(both_timers_are_armed());
        }
        assert_true(paid.samples > 100);
        assert_int_equal(sim.arms, 2 + paid.samples);
    }
}

/* While a thread waits, at most one signal wakes it. Where it waits most of the time, perf times
 * all samples; when it goes on, the timers come back. */
TEST(a_wait_is_disturbed_once)
{
    for (enum way way = BY_PERF; way <= BY_CPU_TIMER; way++)
        for (unsigned seed = 1; seed <= 20; seed++) {
            struct paid paid = {0};
            siginfo_t info;
            begin(way, seed);
            run(20 * MS, &paid);
            for (int i = 0; i < 20; i++) {
                waiting = true;
                sim_wait(30 * MS);
                take(&paid);
                for (int again = 0; again < 3; again++) {
                    if (!sim.keeps_stale)
                        assert_false(sim_take(&info));
                    take(&paid);
                    sim_wait(30 * MS);
                }
                assert_false(sim_take(&info));
                waiting = false;
                run(2 * MS, &paid);
                assert_true(way != BY_PERF || i < 10 || thread.events[0].by_cpu_clock);
            }
            run(100 * MS, &paid);
            assert_int_equal(thread.events[0].by_cpu_clock, has_no_wall_timer(way));
        }
}

/* After how many turns of work perf timed the next sample, and timers on the wall clock did. */
struct timed {
    unsigned by_perf, by_wall;
};

/* Works and waits in turns. */
static struct timed take_turns(uint64_t work, uint64_t wait, unsigned turns, struct paid *at_work, struct paid *in_wait)
{
    struct timed timed = {0};
    const int *timers = thread.events[0].timers;
    for (unsigned i = 0; i < turns; i++) {
        waiting = false;
        run(work, at_work);
        timed.by_perf += sim.event_enabled;
        timed.by_wall += sim.timers[timers[0]].at > 0;
        waiting = true;
        for (uint64_t end = sim.wall + wait; sim.wall < end; take(in_wait))
            sim_sleep(end - sim.wall);
    }
    return timed;
}

/* At each switch, the kernel has to program the clock for perf's event; and timers on the wall clock can't tell whether
 * the thread works. So neither times the samples of a thread whose turns are short, whatever its share of the time, but for
 * those in its first 20 ms. */
TEST(short_turns_are_timed_by_ticks)
{
    static const uint64_t turns[] = {MS / 50, MS / 20, MS / 5, MS / 2};
    for (size_t i = 0; i < 4 * sizeof turns / sizeof *turns; i++)
        for (unsigned seed = 1; seed <= 20; seed++) {
            struct paid paid = {0};
            uint64_t turn = turns[i / 4], wait = i % 2 ? 3 * turn : turn / 4;
            unsigned n = (unsigned)(400 * MS / turn);
            bool has_perf = i / 2 % 2;
            begin(has_perf ? BY_PERF : BY_TIMERS, seed);
            uint64_t start = sim.cpu;
            struct timed timed = take_turns(turn, wait, n, &paid, &paid);
            uint64_t used = sim.cpu - start;
            assert_true(paid.amount + 5 * PERIOD / 2 > used && paid.amount < used + 5 * PERIOD / 2);
            assert_int_equal(thread.events[0].cpu_timer >= 0, turn < MS / 10 || !has_perf);
            if (turn < MS / 10)
                assert_true((timed.by_perf + timed.by_wall) * turn <= 20 * MS + 2 * PERIOD);
            else if (has_perf)
                assert_true(i % 2 ? timed.by_perf > n / 2 : timed.by_wall > n / 10);
        }
}

/* It wakes for a moment each millisecond of its waits. Each tick after a wait would be in the work after that. */
TEST(short_turns_between_long_ones_are_not_timed_by_ticks)
{
    struct paid paid = {0};
    begin(BY_PERF, 1);
    for (int i = 0; i < 100; i++) {
        waiting = false;
        run(30 * MS, &paid);
        take_turns(MS / 100, MS, 30, &paid, &paid);
        assert_true(thread.events[0].cpu_timer < 0);
    }
}

/* Another thread that waits as often takes its CPU each time. */
TEST(a_thread_that_is_preempted_often_has_no_short_turns)
{
    struct paid paid = {0};
    begin(BY_PERF, 1);
    for (int i = 0; i < 20000; i++) {
        run(MS / 50, &paid);
        sim_wait_for_cpu(MS / 50);
        take(&paid);
        assert_false(thread.events[0].by_cpu_clock);
    }
}

/* A filter of the program may forbid to count the switches. */
TEST(perf_times_short_turns_where_calls_are_forbidden)
{
    struct paid paid = {0};
    begin(BY_PERF, 1);
    is_restricted = true;
    assert_true(take_turns(MS / 50, 3 * MS / 50, 20000, &paid, &paid).by_perf > 10000);
}

/* A timer that expires in a wait, a few microseconds of CPU time too early, is no sample: the wait uses none. */
TEST(a_wait_has_no_sample)
{
    for (unsigned seed = 1; seed <= 100; seed++) {
        struct paid at_work = {0}, in_wait = {0};
        begin(BY_PERF, seed);
        take_turns(MS, MS / 200, 1000, &at_work, &in_wait);
        assert_int_equal(in_wait.samples, 0);
    }
}

/* Samples that take longer than the period leave the program at least half of the time. perf alone
 * leaves it one period for each sample. */
TEST(a_slow_sample_leaves_time_for_the_program)
{
    static const enum way ways[] = {BY_PERF, BY_ONE_TIMER, BY_TIMERS, BY_WALL_CLOCK,
                                    BY_ONE_WALL_TIMER};
    static const uint64_t times[] = {PERIOD / 3, PERIOD / 2, PERIOD, 3 * PERIOD, 20 * PERIOD};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        for (size_t k = 0; k < sizeof times / sizeof *times; k++) {
            struct paid paid = {0};
            begin(ways[i], 1 + k);
            sample_ns = times[k];
            run(5000ul * MS, &paid);
            assert_true(paid.samples > 30);
            assert_true(paid.samples * sample_ns <= 5000ul * MS + 2 * sample_ns);
        }
}

/* A thread that ends while a sample is overdue loses no time. */
TEST(what_is_overdue_at_the_end_is_known)
{
    for (enum way way = BY_PERF; way <= BY_CPU_TIMER; way++) {
        begin(way, 1);
        assert_false(source_overdue(&thread.events[0]).fired);
        sim_run_blocked(40 * MS);
        struct increment overdue = source_overdue(&thread.events[0]);
        assert_true(overdue.fired);
        uint64_t amount = overdue.amount >> TIME_SHIFT;
        assert_true(amount >= 40 * MS - PERIOD && amount <= 40 * MS + PERIOD);
        assert_false(source_overdue(&thread.events[0]).fired);
        /* If the thread continues (a failed exec), nothing is paid twice. */
        struct paid paid = {.amount = amount};
        run(40 * MS, &paid);
        assert_true(paid.amount + 5 * PERIOD / 2 > 80 * MS);
        assert_true(paid.amount < 80 * MS + 5 * PERIOD / 2);
    }
}

/* Runs of one program get one verdict: simulated runs, whose true shares are known from the model.
 *
 * The model: n workers, each of which is in turn busy and idle, for times that are exponentially
 * distributed, independently of the others, or all but one of them together; while it is busy a
 * sample comes after each period that is uniform in [P/2, 3P/2] of its own time, pays what the
 * other workers idle, and is one of overhead with a fixed probability. The run ends after a fixed
 * time. Sampling and spells of idleness are both random, as between runs of a real program.
 *
 * The generator is seeded, so that a run of this test always computes the same. With other seeds
 * the limits below would be missed with a probability of less than 1e-4: they are more than 4
 * standard deviations of a binomial count away from what the intervals promise. */
#include "tests/unit/cmocka_suite.h"

#include "viewer-tui/advice/judgement.h"

#include <math.h>

#define MOST_WORKERS 16

struct program {
    int workers;
    double seconds, period; /* of the run; of samples */
    double idle_fraction;   /* of a worker's time */
    double spell;           /* mean length of one of idleness, seconds */
    double overhead;        /* probability that a sample of a busy worker is overhead */
    bool has_serial_spells; /* all workers but the first are idle together, and that one never is */
};

static uint64_t generator = 88172645463325252u;

/* Marsaglia's xorshift64; 0 < result < 1. */
static double uniform(void)
{
    generator ^= generator << 13;
    generator ^= generator >> 7;
    generator ^= generator << 17;
    return ((double)(generator >> 11) + 0.5) / 9007199254740992.0;
}

static double exponential(double mean)
{
    return -mean * log(uniform());
}

struct worker {
    bool is_busy;
    double switches;           /* when it is the other way round */
    double next_sample, since; /* of its time while busy: until the next sample; paid by it */
};

/* When a worker does something next. */
static double next_event(const struct worker *worker, double now)
{
    double sample = worker->is_busy ? now + worker->next_sample : INFINITY;
    return fmin(worker->switches, sample);
}

static void take_sample(const struct program *program, struct worker *worker, int working,
                        struct efforts *efforts)
{
    double idle_rate = (double)(program->workers - working) / working;
    if (uniform() < program->overhead)
        efforts->overhead += worker->since;
    else
        efforts->work += worker->since;
    efforts->idleness += worker->since * idle_rate;
    worker->since = 0;
    worker->next_sample = program->period * (0.5 + uniform());
}

static void start(const struct program *program, struct worker *workers, double busy_mean)
{
    for (int w = 0; w < program->workers; w++) {
        bool is_busy = uniform() >= program->idle_fraction;
        workers[w] = (struct worker){.is_busy = is_busy,
                                     .switches = exponential(is_busy ? busy_mean : program->spell),
                                     .next_sample = program->period * (0.5 + uniform())};
    }
    if (!program->has_serial_spells)
        return;
    workers[0].is_busy = true;
    workers[0].switches = INFINITY;
    for (int w = 2; w < program->workers; w++) {
        workers[w].is_busy = workers[1].is_busy;
        workers[w].switches = INFINITY; /* with worker 1 */
    }
}

/* Worker `w` is idle if it was busy, or the other way round, and those that go with it. */
static void switch_worker(const struct program *program, struct worker *workers, int w, double now,
                          double busy_mean)
{
    bool is_busy = !workers[w].is_busy;
    int last = program->has_serial_spells ? program->workers - 1 : w;
    workers[w].switches = now + exponential(is_busy ? busy_mean : program->spell);
    for (; w <= last; w++)
        workers[w].is_busy = is_busy;
}

static struct efforts simulate(const struct program *program)
{
    struct worker workers[MOST_WORKERS] = {0};
    struct efforts efforts = {0};
    double busy_mean = program->spell * (1 - program->idle_fraction) / program->idle_fraction;
    double now = 0;
    start(program, workers, busy_mean);
    for (;;) {
        int next = 0, working = 0;
        for (int w = 0; w < program->workers; w++) {
            working += workers[w].is_busy;
            if (next_event(&workers[w], now) < next_event(&workers[next], now))
                next = w;
        }
        double then = next_event(&workers[next], now);
        if (then > program->seconds)
            return efforts;
        for (int w = 0; w < program->workers; w++)
            if (workers[w].is_busy) {
                workers[w].next_sample -= then - now;
                workers[w].since += then - now;
            }
        now = then;
        if (workers[next].switches > now) {
            take_sample(program, &workers[next], working, &efforts);
        } else {
            switch_worker(program, workers, next, now, busy_mean);
        }
    }
}

/* The model's shares: of k busy workers, binomially distributed, k > 0; or of one or all. */
static struct efforts true_shares(const struct program *program)
{
    double busy = 1 - program->idle_fraction, idle = 0, working = 0, probability;
    if (program->has_serial_spells) {
        idle = (program->workers - 1) * program->idle_fraction;
        working = program->workers - idle;
    }
    for (int k = 1; !program->has_serial_spells && k <= program->workers; k++) {
        int n = program->workers;
        probability = exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(busy) +
                          (n - k) * log(1 - busy));
        idle += probability * (n - k);
        working += probability * k;
    }
    return (struct efforts){.work = working * (1 - program->overhead) / (idle + working),
                            .overhead = working * program->overhead / (idle + working),
                            .idleness = idle / (idle + working)};
}

static struct judgement judge_a_run(const struct program *program)
{
    struct efforts efforts = simulate(program);
    struct judged judged = {.scope = efforts,
                            .run = efforts,
                            .idleness = KNOWN,
                            .overhead = KNOWN,
                            .sampling = {program->period, program->workers}};
    return judge(&judged);
}

static bool holds(const struct share *share, double truth)
{
    return share->low <= truth && truth <= share->high;
}

#define RUNS 500

/* Of intervals that promise 95 %, 500 may miss 25 on average, and 45 by chance (4 sigma). */
#define MOST_MISSES 45

TEST(intervals_hold_what_is_true)
{
    static const struct program programs[] = {
        {2, 0.25, 0.001, 0.07, 0.002, 0.05, false}, {2, 1, 0.005, 0.05, 0.002, 0.10, false},
        {2, 4, 0.005, 0.30, 0.002, 0.02, false},    {4, 1, 0.005, 0.10, 0.001, 0.05, false},
        {4, 0.5, 0.005, 0.40, 0.002, 0.30, false},  {16, 0.5, 0.005, 0.05, 0.002, 0.01, false},
        {16, 0.5, 0.002, 0.60, 0.001, 0.10, false}, {4, 1, 0.005, 0.10, 0.002, 0.05, true},
        {16, 1, 0.005, 0.20, 0.002, 0.10, true},
    };
    for (size_t p = 0; p < sizeof programs / sizeof *programs; p++) {
        struct efforts truth = true_shares(&programs[p]);
        int missed_idleness = 0, missed_overhead = 0, missed_both = 0;
        for (int run = 0; run < RUNS; run++) {
            struct judgement judgement = judge_a_run(&programs[p]);
            missed_idleness += !holds(&judgement.idleness, truth.idleness);
            missed_overhead += !holds(&judgement.overhead, truth.overhead);
            missed_both += !holds(&judgement.waste, truth.idleness + truth.overhead);
        }
        printf("program %zu: missed %d %d %d of %d\n", p, missed_idleness, missed_overhead,
               missed_both, RUNS);
        assert_true(missed_idleness <= MOST_MISSES);
        assert_true(missed_overhead <= MOST_MISSES);
        assert_true(missed_both <= MOST_MISSES);
    }
}

/* How often each verdict was given. */
struct counts {
    int of[VERDICTS];
};

static struct counts count_verdicts(const struct program *program)
{
    struct counts counts = {{0}};
    for (int run = 0; run < RUNS; run++)
        counts.of[judge_a_run(program).verdict]++;
    return counts;
}

/* 19 of 20: of 500 runs 475, less 4 sigma. */
#define LEAST_AGREEING 455

static void assert_one_verdict(struct program program, enum verdict expected)
{
    struct counts counts = count_verdicts(&program);
    printf("verdict %d: %d of %d\n", expected, counts.of[expected], RUNS);
    assert_true(counts.of[expected] >= LEAST_AGREEING);
}

/* Of each program 19 of 20 runs say the same: clear cases, and those at the very threshold. */
TEST(runs_of_one_program_agree)
{
    assert_one_verdict((struct program){2, 1, 0.001, 0.02, 0.001, 0.02, false}, VERDICT_FINE);
    assert_one_verdict((struct program){2, 1, 0.001, 0.40, 0.002, 0.01, false}, VERDICT_TOO_LITTLE);
    assert_one_verdict((struct program){2, 1, 0.001, 0.01, 0.001, 0.40, false}, VERDICT_TOO_FINE);
    assert_one_verdict((struct program){2, 4, 0.001, 0.30, 0.002, 0.30, false},
                       VERDICT_WRONG_PARALLELISM);
    /* 6.5 % of idleness and 4.7 % of overhead in a short run */
    assert_one_verdict((struct program){2, 0.25, 0.001, 0.07, 0.002, 0.05, false}, VERDICT_OPEN);
    /* 10 % in all: the threshold, in a short run and a long one */
    assert_one_verdict((struct program){2, 0.5, 0.001, 0.0527, 0.002, 0.0527, false}, VERDICT_OPEN);
    assert_one_verdict((struct program){2, 16, 0.005, 0.0527, 0.002, 0.0527, false}, VERDICT_OPEN);
}

/* Wherever the truth is, "fine" and "too much" do not both occur among runs of a program more often
 * than by 2.5 % of the runs each. */
TEST(runs_of_one_program_do_not_contradict_each_other)
{
    for (int step = 0; step <= 10; step++) {
        double share = 0.01 + 0.01 * step;
        struct program program = {2, 1, 0.002, share, 0.002, share, false};
        struct counts counts = count_verdicts(&program);
        int bad = RUNS - counts.of[VERDICT_FINE] - counts.of[VERDICT_OPEN];
        int rarer = bad < counts.of[VERDICT_FINE] ? bad : counts.of[VERDICT_FINE];
        assert_true(rarer <= RUNS * 0.025 + 4 * sqrt(RUNS * 0.025));
    }
}

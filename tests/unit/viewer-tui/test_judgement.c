#include "tests/unit/cmocka_suite.h"

#include "viewer-tui/advice/judgement.h"

#include <math.h>

/* So many samples that intervals are narrow: 1 s of each is a million of them. */
#define FINE 1e-6

#define EFFORTS(work, overhead, idleness) ((struct efforts){work, overhead, idleness})

/* A scope of a run on two workers, of which all is known. */
static struct judged known(struct efforts scope, struct efforts run, double increment)
{
    return (struct judged){scope, run, .idleness = KNOWN, .overhead = KNOWN,
                           .sampling = {increment, .workers = 2}};
}

static struct judgement judged(struct efforts scope, enum knowledge idleness,
                               enum knowledge overhead)
{
    struct judged it = known(scope, (struct efforts){.work = 1e5}, FINE);
    it.idleness = idleness;
    it.overhead = overhead;
    return judge(&it);
}

static enum verdict verdict_on(double work, double overhead, double idleness)
{
    struct efforts scope = {1000 * work, 1000 * overhead, 1000 * idleness};
    return judged(scope, KNOWN, KNOWN).verdict;
}

/* Table 1 of the paper. */
TEST(both_shares_decide)
{
    assert_int_equal(verdict_on(98, 1, 1), VERDICT_FINE);
    assert_int_equal(verdict_on(59, 40, 1), VERDICT_TOO_FINE);
    assert_int_equal(verdict_on(59, 1, 40), VERDICT_TOO_LITTLE);
    assert_int_equal(verdict_on(20, 40, 40), VERDICT_WRONG_PARALLELISM);
    assert_int_equal(verdict_on(100, 0, 0), VERDICT_FINE);
    assert_int_equal(verdict_on(0, 100, 0), VERDICT_TOO_FINE);
}

/* The paper's Cholesky: its top-level call is "very effective", the whole program is not. */
TEST(the_cases_of_the_paper_are_judged_as_there)
{
    assert_int_equal(verdict_on(98.191, 0.189, 1.62), VERDICT_FINE);
    assert_int_equal(verdict_on(88.1, 0.3, 11.6), VERDICT_TOO_LITTLE);
}

TEST(less_than_a_tenth_in_all_is_fine)
{
    assert_int_equal(verdict_on(90.5, 4.5, 5), VERDICT_FINE);
    assert_int_equal(verdict_on(90.5, 9.5, 0), VERDICT_FINE);
    assert_int_equal(verdict_on(90, 5, 5), VERDICT_OPEN);
    assert_int_equal(verdict_on(89.5, 10.5, 0), VERDICT_TOO_FINE);
    assert_int_equal(verdict_on(89.5, 0, 10.5), VERDICT_TOO_LITTLE);
}

/* A cause is named only where its whole interval is above HIGH_SHARE. */
TEST(a_cause_needs_its_interval)
{
    assert_int_equal(verdict_on(80, 5, 15), VERDICT_TOO_LITTLE);
    struct judgement open = judged(EFFORTS(80, 5, 15), KNOWN, KNOWN);
    assert_int_equal(open.idleness_side, SIDE_HIGH);
    assert_int_equal(open.overhead_side, SIDE_OPEN);
    assert_int_equal(verdict_on(80, 15, 5), VERDICT_TOO_FINE);
    assert_int_equal(verdict_on(80, 6, 14), VERDICT_WRONG_PARALLELISM);
    assert_int_equal(judged(EFFORTS(80, 4, 16), KNOWN, KNOWN).overhead_side, SIDE_LOW);
    struct judged few = known(EFFORTS(0.80, 0.06, 0.14), (struct efforts){.work = 1}, 0.001);
    open = judge(&few);
    assert_true(open.overhead.low < HIGH_SHARE && open.overhead.value > HIGH_SHARE);
    assert_int_equal(open.overhead_side, SIDE_OPEN);
}

/* The case: 7 % and 5 % in a run of 0.2 s on two workers at 1000 samples a second. */
TEST(a_short_run_near_the_threshold_leaves_it_open)
{
    struct efforts efforts = {.work = 0.352, .overhead = 0.020, .idleness = 0.028};
    struct judged it = known(efforts, efforts, 0.001);
    struct judgement judgement = judge(&it);
    assert_int_equal(judgement.verdict, VERDICT_OPEN);
    assert_true(judgement.waste.low < FINE_SHARE && judgement.waste.high > FINE_SHARE);
}

TEST(shares_are_of_the_scope_and_of_the_run)
{
    struct judged it = known(EFFORTS(5, 2, 3), EFFORTS(60, 20, 20), FINE);
    struct judgement judgement = judge(&it);
    assert_true(judgement.effort == 10);
    assert_true(judgement.idleness.value == 0.3 && judgement.overhead.value == 0.2);
    assert_true(judgement.waste.value == 0.5);
    assert_true(judgement.idleness_of_run.value == 0.03);
    assert_true(judgement.saved.value == 0.05);
    assert_true(judgement.effort_of_run == 0.1);
    assert_int_equal(judgement.verdict, VERDICT_WRONG_PARALLELISM);
}

/* Only what is high counts. */
TEST(waste_is_notable_by_its_share_of_the_run)
{
    assert_true(judged(EFFORTS(800, 600, 600), KNOWN, KNOWN).is_notable);
    assert_false(judged(EFFORTS(800, 20, 600), KNOWN, KNOWN).is_notable);
    assert_true(judged(EFFORTS(800, 20, 1010), KNOWN, KNOWN).is_notable);
}

TEST(few_samples_are_not_judged)
{
    const double period = 0.005;
    struct judged it =
        known(EFFORTS(LEAST_SAMPLES * period * 0.5, LEAST_SAMPLES * period * 0.5, 100),
              (struct efforts){.work = 1000}, period);
    assert_int_equal(judge(&it).verdict, VERDICT_TOO_LITTLE);
    it.scope.work *= 0.99;
    struct judgement judgement = judge(&it);
    assert_int_equal(judgement.verdict, VERDICT_TOO_FEW_SAMPLES);
    assert_false(judgement.is_notable);
    assert_int_equal(judgement.idleness_side, SIDE_OPEN);
}

TEST(nothing_is_not_judged)
{
    struct judged nothing = known(EFFORTS(0, 0, 0), EFFORTS(0, 0, 0), FINE);
    struct judgement judgement = judge(&nothing);
    assert_int_equal(judgement.verdict, VERDICT_TOO_FEW_SAMPLES);
    assert_true(judgement.idleness.value == 0 && judgement.effort_of_run == 0);
}

/* How many samples numbers rest on has to be known for a verdict. */
TEST(samples_of_unknown_size_leave_everything_open)
{
    struct judged it = known(EFFORTS(98, 1, 1), EFFORTS(98, 1, 1), 0);
    assert_int_equal(judge(&it).verdict, VERDICT_OPEN);
    it.scope = it.run = EFFORTS(10, 10, 80);
    assert_int_equal(judge(&it).verdict, VERDICT_OPEN);
}

/* From a lower bound: high is high; overhead is not low, or fine, and no grain is named. Idleness is not too much, since
 * more overhead would make its share smaller. */
TEST(a_lower_bound_decides_only_what_more_would_not_refute)
{
    const struct efforts low = {98, 1, 1}, busy = {80, 18, 2}, idle = {80, 1, 19},
                         both = {60, 20, 20};
    assert_int_equal(judged(low, KNOWN, KNOWN_AT_LEAST).verdict, VERDICT_BUSY);
    assert_int_equal(judged(busy, KNOWN, KNOWN_AT_LEAST).verdict, VERDICT_OVERHEAD);
    assert_int_equal(judged(idle, KNOWN, KNOWN_AT_LEAST).verdict, VERDICT_TOO_LITTLE);
    assert_int_equal(judged(idle, KNOWN, KNOWN_AT_LEAST).overhead_side, SIDE_OPEN);
    assert_int_equal(judged(both, KNOWN, KNOWN_AT_LEAST).verdict, VERDICT_WRONG_PARALLELISM);
}

/* Overhead that was not measured is in the work, and nothing is said of it. */
TEST(what_was_not_measured_decides_nothing)
{
    const struct efforts low = {98, 1, 1}, busy = {60, 38, 2}, idle = {60, 2, 38};
    assert_int_equal(judged(low, KNOWN, NOT_KNOWN).verdict, VERDICT_BUSY);
    assert_int_equal(judged(low, NOT_KNOWN, KNOWN).verdict, VERDICT_OPEN);
    assert_int_equal(judged(busy, KNOWN, NOT_KNOWN).verdict, VERDICT_BUSY);
    assert_int_equal(judged(busy, NOT_KNOWN, KNOWN).verdict, VERDICT_OVERHEAD);
    assert_int_equal(judged(idle, NOT_KNOWN, KNOWN).verdict, VERDICT_OPEN);
    struct judgement judgement = judged(idle, KNOWN, NOT_KNOWN);
    assert_int_equal(judgement.verdict, VERDICT_TOO_LITTLE);
    assert_true(judgement.idleness.value == 0.38 && judgement.overhead.value == 0);
}

/* 15 of 65 s in which no worker works; the idleness, which the others pay, is a consequence. */
/* Two of three workers may have waited for 10 s, idle and in the runtime, for one that others kept from a CPU. */
TEST(others_that_had_the_cpus_cause_so_much_at_most)
{
    const struct {
        struct efforts scope;
        double disturbed;
        enum verdict verdict;
    } cases[] = {
        {EFFORTS(60, 0, 40), 0, VERDICT_TOO_LITTLE},     {EFFORTS(60, 0, 40), 16, VERDICT_OPEN},
        {EFFORTS(60, 0, 40), 14, VERDICT_TOO_LITTLE},    {EFFORTS(60, 40, 0), 16, VERDICT_OPEN},
        {EFFORTS(60, 40, 0), 14, VERDICT_OVERHEAD},      {EFFORTS(20, 40, 40), 18, VERDICT_OPEN},
        {EFFORTS(40, 60, 0), 9, VERDICT_OVERHEAD},       {EFFORTS(20, 40, 40), 10, VERDICT_WRONG_PARALLELISM},
        {EFFORTS(100, 0, 0), 10, VERDICT_OPEN},          {EFFORTS(40, 0, 60), INFINITY, VERDICT_OPEN},
        {EFFORTS(10, 90, 0), INFINITY, VERDICT_TOO_FINE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct judged it = known(cases[i].scope, cases[i].scope, FINE);
        it.sampling.workers = 3;
        it.disturbed = cases[i].disturbed;
        assert_int_equal(judge(&it).verdict, cases[i].verdict);
    }
    struct judged it = known(EFFORTS(40, 0, 60), EFFORTS(40, 0, 60), FINE);
    struct judgement quiet = judge(&it), disturbed = (it.disturbed = 9, judge(&it));
    assert_float_equal(disturbed.idleness.low, quiet.idleness.low - 0.09, 1e-9);
    assert_float_equal(disturbed.idleness.value, 0.6, 1e-9);
    assert_true(disturbed.is_disturbed && !quiet.is_disturbed);
}

TEST(where_nobody_works_the_grain_is_too_fine)
{
    struct judged it = known(EFFORTS(50, 2, 48), EFFORTS(50, 2, 48), 0.01);
    assert_int_equal(judge(&it).verdict, VERDICT_TOO_LITTLE);
    it.nobody = 15;
    struct judgement judgement = judge(&it);
    assert_int_equal(judgement.verdict, VERDICT_TOO_FINE);
    assert_true(judgement.is_nobody_high && judgement.is_notable);
    assert_true(judgement.nobody.value == 30.0 / 130 && judgement.saved.value == 32.0 / 130);
    it.overhead = NOT_KNOWN;
    assert_int_equal(judge(&it).verdict, VERDICT_TOO_FINE);
}

/* 5.5 of 50 s: in so few samples 10 % may well be the truth. */
TEST(nobody_needs_an_interval)
{
    struct judged it = known(EFFORTS(49, 1, 39), EFFORTS(49, 1, 39), 0.1);
    it.nobody = 5.5;
    assert_int_equal(judge(&it).verdict, VERDICT_TOO_LITTLE);
    it.sampling.increment = 1e-4;
    assert_int_equal(judge(&it).verdict, VERDICT_TOO_FINE);
}

/* Samples in which nobody works are samples, too. */
TEST(samples_of_nobody_are_enough)
{
    struct judged it = known(EFFORTS(30, 10, 40), EFFORTS(30, 10, 40), 1);
    it.nobody = LEAST_SAMPLES - 41;
    assert_int_equal(judge(&it).verdict, VERDICT_TOO_FEW_SAMPLES);
    it.nobody += 1;
    assert_int_equal(judge(&it).verdict, VERDICT_TOO_FINE);
}

/* 80 of 100 s of CPU time, whatever the idleness; two thirds of it may be the wrong parallelization, and a lower bound
 * says nothing of the grain. */
TEST(where_the_runtime_has_most_of_the_time_the_grain_is_too_fine)
{
    assert_int_equal(verdict_on(20, 80, 60), VERDICT_TOO_FINE);
    assert_int_equal(verdict_on(20, 40, 40), VERDICT_WRONG_PARALLELISM);
    assert_int_equal(judged(EFFORTS(20, 80, 60), KNOWN, KNOWN_AT_LEAST).verdict,
                     VERDICT_WRONG_PARALLELISM);
}

#include "tests/unit/cmocka_suite.h"

#include "viewer-tui/advice/judgement.h"

static const struct efforts whole_run = {.work = 1000};

static enum verdict verdict_on(double work, double overhead, double idleness)
{
    struct efforts scope = {work, overhead, idleness};
    return judge(&scope, &whole_run, 0).verdict;
}

/* Table 1 of the paper. */
static void both_shares_decide(void **state)
{
    (void)state;
    assert_int_equal(verdict_on(98, 1, 1), VERDICT_EFFECTIVE);
    assert_int_equal(verdict_on(59, 40, 1), VERDICT_TOO_FINE);
    assert_int_equal(verdict_on(59, 1, 40), VERDICT_TOO_LITTLE);
    assert_int_equal(verdict_on(20, 40, 40), VERDICT_WRONG_PARALLELISM);
    assert_int_equal(verdict_on(100, 0, 0), VERDICT_EFFECTIVE);
    assert_int_equal(verdict_on(0, 100, 0), VERDICT_TOO_FINE);
}

/* The paper's Cholesky: its top-level call is "very effective", the whole program is not. */
static void the_cases_of_the_paper_are_judged_as_there(void **state)
{
    (void)state;
    assert_int_equal(verdict_on(98.191, 0.189, 1.62), VERDICT_EFFECTIVE);
    assert_int_equal(verdict_on(88.1, 0.3, 11.6), VERDICT_TOO_LITTLE);
}

static void shares_are_high_from_the_threshold_on(void **state)
{
    (void)state;
    const double high = 100 * HIGH_SHARE, low = high - 0.001;
    assert_int_equal(verdict_on(100 - high, high, 0), VERDICT_TOO_FINE);
    assert_int_equal(verdict_on(100 - low, low, 0), VERDICT_EFFECTIVE);
    assert_int_equal(verdict_on(100 - high, 0, high), VERDICT_TOO_LITTLE);
    assert_int_equal(verdict_on(100 - low, 0, low), VERDICT_EFFECTIVE);
    assert_int_equal(verdict_on(100 - 2 * high, high, high), VERDICT_WRONG_PARALLELISM);
}

static void shares_are_of_the_scope_and_of_the_run(void **state)
{
    (void)state;
    struct efforts scope = {.work = 5, .overhead = 2, .idleness = 3};
    struct efforts run = {.work = 60, .overhead = 20, .idleness = 20};
    struct judgement judgement = judge(&scope, &run, 0);
    assert_true(judgement.effort == 10);
    assert_true(judgement.idleness == 0.3 && judgement.overhead == 0.2);
    assert_true(judgement.idleness_of_run == 0.03 && judgement.overhead_of_run == 0.02);
    assert_true(judgement.effort_of_run == 0.1);
    assert_true(judgement_is_high(&judgement, judgement.idleness));
}

/* Only what is high counts: 0.6 % of the run's effort is idleness here, and 0.6 % overhead. */
static void waste_is_notable_by_its_share_of_the_run(void **state)
{
    (void)state;
    struct efforts run = {.work = 1000};
    struct efforts scope = {.work = 8, .overhead = 6, .idleness = 6};
    assert_true(judge(&scope, &run, 0).is_notable);
    scope = (struct efforts){.work = 200, .overhead = 6, .idleness = 6};
    assert_false(judge(&scope, &run, 0).is_notable);
    scope = (struct efforts){.work = 8, .overhead = 0.3, .idleness = 6};
    assert_false(judge(&scope, &run, 0).is_notable);
    scope.idleness = 10;
    assert_true(judge(&scope, &run, 0).is_notable);
}

static void few_samples_are_not_judged(void **state)
{
    (void)state;
    const double period = 0.005;
    struct efforts scope = {.work = LEAST_SAMPLES * period * 0.5,
                            .overhead = LEAST_SAMPLES * period * 0.5,
                            .idleness = 100};
    assert_int_equal(judge(&scope, &whole_run, period).verdict, VERDICT_TOO_LITTLE);
    scope.work *= 0.99;
    struct judgement judgement = judge(&scope, &whole_run, period);
    assert_int_equal(judgement.verdict, VERDICT_TOO_FEW_SAMPLES);
    assert_false(judgement.is_notable);
    assert_false(judgement_is_high(&judgement, judgement.idleness));
    assert_int_not_equal(judge(&scope, &whole_run, 0).verdict, VERDICT_TOO_FEW_SAMPLES);
}

static void nothing_is_not_judged(void **state)
{
    (void)state;
    struct efforts nothing = {0};
    struct judgement judgement = judge(&nothing, &nothing, 0);
    assert_int_equal(judgement.verdict, VERDICT_TOO_FEW_SAMPLES);
    assert_true(judgement.idleness == 0 && judgement.effort_of_run == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_shares_decide),
        cmocka_unit_test(the_cases_of_the_paper_are_judged_as_there),
        cmocka_unit_test(shares_are_high_from_the_threshold_on),
        cmocka_unit_test(shares_are_of_the_scope_and_of_the_run),
        cmocka_unit_test(waste_is_notable_by_its_share_of_the_run),
        cmocka_unit_test(few_samples_are_not_judged),
        cmocka_unit_test(nothing_is_not_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

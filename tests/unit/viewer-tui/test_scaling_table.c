/* Medians with their intervals, and the factored speedups of a set, against numbers by hand. */
#include "tests/unit/cmocka_suite.h"

#include "viewer-tui/scaling/scaling-table.h"

#include <math.h>
#include <stdlib.h>

static void assert_near(double value, double expected)
{
    assert_true(fabs(value - expected) < 1e-9);
}

/* 1, 2, ... n, in an order that is not sorted. */
static struct median_interval interval_of(size_t n)
{
    double values[100];
    for (size_t i = 0; i < n; i++)
        values[i] = (double)(i % 2 ? i / 2 + 1 : n - i / 2);
    return median_interval_of(values, n);
}

/* The probability that the median lies outside of the least and largest but k of n is twice the sum
 * of the binomials of n over 0..k, over 2^n. */
static void intervals_of_medians(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        double median, low, high, coverage;
    } known[] = {
        {1, 1, 1, 1, 0},
        {2, 1.5, 1, 2, 0.5},
        {5, 3, 1, 5, 1 - 2 / 32.0},
        {6, 3.5, 1, 6, 1 - 2 / 64.0},
        {8, 4.5, 1, 8, 1 - 2 / 256.0},
        {9, 5, 2, 8, 1 - 2 * 10 / 512.0},
        {12, 6.5, 3, 10, 1 - 2 * (1 + 12 + 66) / 4096.0},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct median_interval interval = interval_of(known[i].n);
        assert_near(interval.median, known[i].median);
        assert_near(interval.low, known[i].low);
        assert_near(interval.high, known[i].high);
        assert_near(interval.coverage, known[i].coverage);
    }
    assert_true(isnan(median_interval_of(NULL, 0).median));
}

static struct scaling_table table_of(const struct run_values *runs, size_t n)
{
    run_value_list list = {0};
    for (size_t i = 0; i < n; i++)
        vec_push(&list, runs[i]);
    struct scaling_table table = scaling_table_of(&list);
    vec_free(&list);
    return table;
}

/* The runs in no order; the last number of workers is more than the CPUs. */
static const struct run_values runs[] = {
    {8, 4, 3, 14, 1, 5},   {2, 4, 6.5, 11, 0.5, 1}, {1, 4, 12, 10, 2, 0}, {0, 4, 9, NAN, NAN, NAN},
    {2, 4, 6, 10.5, 1, 2}, {2, 4, 99, 99, 99, 99},  {1, 4, 10, 8, 2, 0},
};

static void factored_speedups(void **state)
{
    (void)state;
    struct scaling_table table = table_of(runs, 7);
    assert_int_equal(table.rows.n, 3);
    assert_int_equal(table.n_serial, 1);
    assert_near(table.baseline, 9);
    const struct scaling_row *one = &table.rows.at[0], *two = &table.rows.at[1];
    assert_int_equal(one->workers, 1);
    assert_near(one->time.median, 11);
    assert_near(one->inflation, 0);
    assert_near(one->actual, 9 / 11.0);
    assert_int_equal(two->n_runs, 3);
    assert_near(two->time.median, 6.5);
    assert_near(two->work, 11);
    assert_near(two->overhead, 1);
    assert_near(two->idleness, 2);
    assert_near(two->inflation, 11 - 9);
    assert_near(two->maximal, 2 * 9 / 11.0);
    assert_near(two->idle_specific, 2 * 9 / (11 + 2.0));
    assert_near(two->inflation_specific, 2 * 9 / (2 * 6.5 - 2));
    assert_near(two->actual, 9 / 6.5);
    scaling_table_free(&table);
}

static void idleness_counts_cpus(void **state)
{
    (void)state;
    struct scaling_table table = table_of(runs, 7);
    const struct scaling_row *eight = &table.rows.at[2];
    assert_true(eight->exceeds_cpus && !table.rows.at[1].exceeds_cpus);
    assert_true(isnan(eight->idle_specific) && isnan(eight->inflation_specific));
    assert_near(eight->maximal, 8 * 9 / 11.0);
    assert_near(eight->idleness, 5);
    scaling_table_free(&table);
}

static void without_a_baseline_one_worker_is_it(void **state)
{
    (void)state;
    struct scaling_table table = table_of(runs, 3);
    assert_int_equal(table.n_serial, 0);
    assert_near(table.baseline, 12);
    assert_near(table.rows.at[1].actual, 12 / 6.5);
    assert_near(table.rows.at[1].maximal, 2);
    scaling_table_free(&table);
}

static void without_one_worker_there_is_no_work_to_compare_with(void **state)
{
    (void)state;
    struct scaling_table table = table_of(runs, 2);
    assert_true(isnan(table.baseline));
    assert_true(isnan(table.rows.at[0].actual) && isnan(table.rows.at[0].inflation));
    scaling_table_free(&table);
    struct scaling_table with_serial = table_of(runs + 3, 2);
    assert_near(with_serial.rows.at[0].actual, 9 / 6.0);
    assert_near(with_serial.rows.at[0].inflation_specific, 2 * 9 / (2 * 6 - 2.0));
    assert_true(isnan(with_serial.rows.at[0].maximal));
    scaling_table_free(&with_serial);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_of_medians),
        cmocka_unit_test(factored_speedups),
        cmocka_unit_test(idleness_counts_cpus),
        cmocka_unit_test(without_a_baseline_one_worker_is_it),
        cmocka_unit_test(without_one_worker_there_is_no_work_to_compare_with),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

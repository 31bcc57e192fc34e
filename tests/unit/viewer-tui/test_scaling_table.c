/* Medians with their intervals, and the factored speedups of a set, against numbers by hand. */
#include "tests/unit/cmocka_suite.h"

#include "viewer-tui/output/print-scaling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
TEST(intervals_of_medians)
{
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

static struct scaling_table table; /* of the test; freed when it ends */

STEP(free_table)
{
    scaling_table_free(&table);
    memset(&table, 0, sizeof table);
}

EACH_TEST(NULL, free_table);

static void make_table(const struct run_values *runs, size_t n)
{
    run_value_list list = {0};
    for (size_t i = 0; i < n; i++)
        vec_push(&list, runs[i]);
    free_table(NULL);
    table = scaling_table_of(&list);
    vec_free(&list);
}

/* The plot of the table; the caller frees. */
static char *draw(void)
{
    char *drawing = NULL;
    size_t size;
    FILE *out = open_memstream(&drawing, &size);
    assert_non_null(out);
    print_scaling_svg("app", &table, out);
    fclose(out);
    return drawing;
}

/* The points of the line of a curve; 0: there is no such curve. */
static size_t points_drawn(const char *key)
{
    char *drawing = draw(), group[64];
    snprintf(group, sizeof group, "<g id=\"%s\"", key);
    const char *line = strstr(drawing, group) ? strstr(strstr(drawing, group), "class=\"line\" d=\"") : NULL;
    size_t n = 0;
    for (const char *at = line ? line + strlen("class=\"line\" d=\"") : ""; *at && *at != '"'; at++)
        n += *at == 'M' || *at == 'L';
    free(drawing);
    return n;
}

/* A run on 4 CPUs: its workers, wall time, work, overhead and idleness. */
#define RUN(p, t, w, o, i)                                                                         \
    {                                                                                              \
        .workers = (p), .cpus = 4, .wall = (t), .work = (w), .overhead = (o), .idleness = (i)      \
    }

/* The runs in no order; the last number of workers is more than the CPUs. */
static const struct run_values runs[] = {
    RUN(8, 3, 14, 1, 5),   RUN(2, 6.5, 11, 0.5, 1), RUN(1, 12, 10, 2, 0), RUN(0, 9, NAN, NAN, NAN),
    RUN(2, 6, 10.5, 1, 2), RUN(2, 99, 99, 99, 99),  RUN(1, 10, 8, 2, 0),
};

TEST(factored_speedups)
{
    make_table(runs, 7);
    assert_int_equal(table.rows.n, 3);
    assert_int_equal(table.n_serial, 1);
    assert_near(table.baseline, 9);
    const struct scaling_row *one = &table.rows.at[0], *two = &table.rows.at[1];
    assert_int_equal(one->workers, 1);
    assert_near(one->time.median, 11);
    assert_near(one->inflation, 0);
    assert_near(one->speedups[ACTUAL_SPEEDUP].value, 9 / 11.0);
    assert_int_equal(two->n_runs, 3);
    assert_near(two->time.median, 6.5);
    assert_near(two->work.median, 11);
    assert_near(two->overhead.median, 1);
    assert_near(two->idleness.median, 2);
    assert_near(two->inflation, 11 - 9);
    assert_near(two->speedups[MAXIMAL_SPEEDUP].value, 2 * 9 / 11.0);
    assert_near(two->speedups[IDLE_SPECIFIC_SPEEDUP].value, 2 * 9 / (11 + 2.0));
    assert_near(two->speedups[INFLATION_SPECIFIC_SPEEDUP].value, 2 * 9 / (2 * 6.5 - 2));
    assert_near(two->speedups[ACTUAL_SPEEDUP].value, 9 / 6.5);
}

TEST(idleness_counts_cpus)
{
    make_table(runs, 7);
    const struct scaling_row *eight = &table.rows.at[2];
    assert_true(eight->exceeds_cpus && !table.rows.at[1].exceeds_cpus);
    assert_true(isnan(eight->speedups[IDLE_SPECIFIC_SPEEDUP].value));
    assert_true(isnan(eight->speedups[INFLATION_SPECIFIC_SPEEDUP].value));
    assert_near(eight->speedups[MAXIMAL_SPEEDUP].value, 8 * 9 / 11.0);
    assert_near(eight->idleness.median, 5);
}

/* 11 + 1 + 2 seconds of 2 workers in 6.5 s. */
TEST(shares_of_cpus)
{
    make_table(runs, 7);
    assert_near(scaling_share_of_cpus(&table.rows.at[1]), 14 / 13.0);
    assert_true(isnan(scaling_share_of_cpus(&table.rows.at[2]))); /* idleness counts CPUs */
    table.rows.at[0].idleness.median = NAN;
    assert_true(isnan(scaling_share_of_cpus(&table.rows.at[0])));
}

TEST(without_a_baseline_one_worker_is_it)
{
    make_table(runs, 3);
    assert_int_equal(table.n_serial, 0);
    assert_near(table.baseline, 12);
    assert_near(table.rows.at[1].speedups[ACTUAL_SPEEDUP].value, 12 / 6.5);
    assert_near(table.rows.at[1].speedups[MAXIMAL_SPEEDUP].value, 2);
}

TEST(without_one_worker_there_is_no_work_to_compare_with)
{
    make_table(runs, 2);
    assert_true(isnan(table.baseline));
    assert_true(isnan(table.rows.at[0].speedups[ACTUAL_SPEEDUP].value));
    assert_true(isnan(table.rows.at[0].inflation));
    make_table(runs + 3, 2);
    const struct speedup *speedups = table.rows.at[0].speedups;
    assert_near(speedups[ACTUAL_SPEEDUP].value, 9 / 6.0);
    assert_near(speedups[INFLATION_SPECIFIC_SPEEDUP].value, 2 * 9 / (2 * 6 - 2.0));
    assert_true(isnan(speedups[MAXIMAL_SPEEDUP].value));
}

/* Six runs of each number, so that intervals are from the least to the largest value: T_s 9..9.5,
 * T_1 10..12, T_2 6..8, I_2 1..2. `first` 1 leaves the baseline out. */
static void six_of_each(unsigned first)
{
    static const struct run_values ends[3][2] = {
        {RUN(0, 9, NAN, NAN, NAN), RUN(0, 9.5, NAN, NAN, NAN)},
        {RUN(1, 10, 8, 2, 0), RUN(1, 12, 8, 2, 0)},
        {RUN(2, 6, 9, 1, 2), RUN(2, 8, 9, 1, 1)},
    };
    struct run_values list[18];
    size_t n = 0;
    for (unsigned p = first; p < 3; p++)
        for (int i = 0; i < 6; i++)
            list[n++] = ends[p][i % 2];
    make_table(list, n);
}

static void assert_band(const struct speedup *speedup, double low, double high, double missed)
{
    assert_near(speedup->low, low);
    assert_near(speedup->high, high);
    assert_near(speedup->coverage, 1 - missed * 2 / 64);
}

TEST(bands_have_every_combination_of_medians)
{
    six_of_each(0);
    const struct speedup *two = table.rows.at[1].speedups;
    assert_band(&two[MAXIMAL_SPEEDUP], 2 * 9 / 12.0, 2 * 9.5 / 10, 2);
    assert_band(&two[IDLE_SPECIFIC_SPEEDUP], 2 * 9 / (12 + 2.0), 2 * 9.5 / (10 + 1), 3);
    assert_band(&two[INFLATION_SPECIFIC_SPEEDUP], 2 * 9 / (2 * 8 - 1.0), 2 * 9.5 / (2 * 6 - 2), 3);
    assert_band(&two[ACTUAL_SPEEDUP], 9 / 8.0, 9.5 / 6, 2);
    assert_near(scaling_band_coverage(&table), 1 - 6 / 64.0);
}

/* The time of one worker stands on both sides of these formulas: as one number. */
TEST(bands_know_that_the_baseline_is_one_worker)
{
    six_of_each(1);
    const struct speedup *one = table.rows.at[0].speedups, *two = table.rows.at[1].speedups;
    assert_band(&one[ACTUAL_SPEEDUP], 1, 1, 1);
    assert_band(&one[INFLATION_SPECIFIC_SPEEDUP], 1, 1, 2);
    assert_band(&two[MAXIMAL_SPEEDUP], 2, 2, 1);
    assert_band(&two[IDLE_SPECIFIC_SPEEDUP], 2 * 10 / (10 + 2.0), 2 * 12 / (12 + 1.0), 2);
    assert_band(&two[ACTUAL_SPEEDUP], 10 / 8.0, 12 / 6.0, 2);
}

/* 2 runs of T_1, 3 of T_2, 1 of T_s: each speedup needs T_s, whose interval has coverage 0. */
TEST(one_run_has_no_band)
{
    make_table(runs + 1, 6);
    const struct speedup *two = &table.rows.at[1].speedups[ACTUAL_SPEEDUP];
    assert_true(two->coverage == 0 && isnan(two->low) && isnan(two->high));
    assert_true(isfinite(two->value));
    assert_true(scaling_band_coverage(&table) == 0);
}

/* Six runs of 1 and 2 workers, one of 4: those of 4 workers have no band, the others keep theirs. */
TEST(the_coverage_is_that_of_the_bands_there_are)
{
    struct run_values list[13] = {RUN(4, 4, 9, 1, 1)};
    for (unsigned i = 0; i < 12; i++)
        list[1 + i] = (struct run_values)RUN(1 + i % 2, 10 - i % 2, 8, 1, 1);
    make_table(list, 13);
    assert_true(isnan(table.rows.at[2].speedups[ACTUAL_SPEEDUP].low));
    assert_near(scaling_band_coverage(&table), 1 - 3 * 2 / 64.0);
}

/* More idleness than time: no speedup, rather than a negative one. */
TEST(idleness_may_not_exceed_the_time)
{
    const struct run_values list[] = {RUN(1, 10, 8, 2, 0), RUN(2, 6, 9, 1, 13)};
    make_table(list, 2);
    assert_true(isnan(table.rows.at[1].speedups[INFLATION_SPECIFIC_SPEEDUP].value));
}

TEST(laws_of_work_and_span)
{
    struct run_values list[] = {RUN(0, 9, NAN, NAN, NAN), RUN(1, 12, 10, 2, 0), RUN(2, 7, 9, 1, 1),
                                RUN(2, 7, 9, 1, 1), RUN(4, 5, 9, 1, 1)};
    make_table(list, 5);
    assert_false(table.has_work_span);
    for (size_t i = 2; i < 5; i++) {
        list[i].has_work_span = true;
        list[i].work_span =
            (struct work_span){.work = 8 + (double)i, .span = 1, .burdened_span = 3};
    }
    make_table(list, 5);
    assert_true(table.has_work_span);
    assert_int_equal(table.work_span_workers, 2);
    assert_int_equal(table.n_work_span, 2);
    assert_near(table.work_span.work, 10.5);
    struct speedup_laws laws = scaling_laws(&table, 4);
    assert_near(laws.work_law, 9 / (10.5 / 4));
    assert_near(laws.span_law, 9);
    assert_near(laws.burdened, 9 / (10.5 / 4 + 1.7 * 3));

    list[3].work_span.why_lower_bound = "no order";
    make_table(list, 5);
    assert_string_equal(table.work_span.why_lower_bound, "no order");
    laws = scaling_laws(&table, 4);
    assert_near(laws.span_law, 9);
    assert_true(isnan(laws.burdened));
    assert_int_equal(points_drawn("burdened"), 0);
    assert_true(points_drawn("span_law") > 0);
}

/* ---- the plot ---- */

static void check_ticks(const struct run_values *list, size_t n, const char *first, const char *last)
{
    make_table(list, n);
    char *drawing = draw(), *axis = strstr(drawing, "<g id=\"y-axis\""), *end = strstr(axis, "</g>");
    *end = '\0';
    assert_non_null(strstr(axis, first));
    assert_non_null(strstr(axis, last));
    size_t labels = 0;
    for (const char *at = axis; (at = strstr(at, "text-anchor=\"end\"")); at++)
        labels++;
    assert_int_equal(labels, 6 - (n > 1)); /* 0 to 1 by 0.2, or 0 to 8 by 2 */
    free(drawing);
}

TEST(ticks_are_round_numbers)
{
    check_ticks(&runs[2], 1, ">0.2</text>", ">1</text>");
    check_ticks(runs, 7, ">2</text>", ">8</text>");
}

TEST(curves_have_gaps)
{
    make_table(runs, 7);
    assert_int_equal(points_drawn("idle_specific"), 2);
    assert_int_equal(points_drawn("actual"), 3);
    assert_int_equal(points_drawn("work_law"), 0);
}

TEST(without_a_baseline_only_linear_is_drawn)
{
    static const char *const others[] = {"maximal",  "idle_specific", "inflation_specific", "actual",
                                         "work_law", "span_law",      "burdened"};
    make_table(runs, 1);
    assert_int_equal(points_drawn("linear"), 2);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(points_drawn(others[i]), 0);
}

/* Statistics of values, and bars. */
#include "tests/unit/cmocka_suite.h"

#include "viewer-tui/base/text.h"
#include "viewer-tui/base/distribution.h"

#include <math.h>

static void assert_close(double value, double expected)
{
    assert_true(fabs(value - expected) < 1e-12);
}

TEST(test_statistics)
{
    const double values[] = {4, 2, 4, 5, 7, 9, 4, 5};
    struct distribution distribution = distribution_of(values, 8);
    assert_close(distribution.sum, 40);
    assert_close(distribution.mean, 5);
    assert_close(distribution.median, 4.5);
    assert_close(distribution.min, 2);
    assert_close(distribution.max, 9);
    assert_close(distribution.stddev, 2);
    assert_close(distribution.imbalance, 1.8);
    assert_close(distribution_of(values, 5).median, 4);
}

TEST(test_few_values)
{
    struct distribution none = distribution_of(NULL, 0);
    assert_close(none.sum, 0);
    assert_close(none.imbalance, 0);
    const double one = 3;
    struct distribution single = distribution_of(&one, 1);
    assert_close(single.median, 3);
    assert_close(single.stddev, 0);
    const double zeros[] = {0, 0};
    assert_close(distribution_of(zeros, 2).imbalance, 0);
}

/* The median of 1, 2, ... n, in an order that is not sorted. */
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
        struct median_interval interval;
    } known[] = {
        {1, {1, 1, 1, 0}},
        {2, {1.5, 1, 2, 0.5}},
        {5, {3, 1, 5, 1 - 2 / 32.0}},
        {6, {3.5, 1, 6, 1 - 2 / 64.0}},
        {8, {4.5, 1, 8, 1 - 2 / 256.0}},
        {9, {5, 2, 8, 1 - 2 * 10 / 512.0}},
        {12, {6.5, 3, 10, 1 - 2 * (1 + 12 + 66) / 4096.0}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct median_interval interval = interval_of(known[i].n);
        assert_close(interval.median, known[i].interval.median);
        assert_close(interval.low, known[i].interval.low);
        assert_close(interval.high, known[i].interval.high);
        assert_close(interval.coverage, known[i].interval.coverage);
    }
    assert_true(isnan(interval_of(0).median));
}

static void check_bar(double share, size_t columns, bool ascii, const char *expected)
{
    struct text text = {0};
    text_add_bar(&text, share, columns, ascii);
    assert_string_equal(text_string(&text), expected);
    vec_free(&text);
}

TEST(test_bars)
{
    check_bar(1, 3, false, "███");
    check_bar(0.5, 3, false, "█▌");
    check_bar(1.0 / 24, 3, false, "▏");
    check_bar(1e-9, 3, false, "▏");
    check_bar(0, 3, false, "");
    check_bar(-1, 3, false, "");
    check_bar(NAN, 3, false, "");
    check_bar(7, 3, false, "███");
    check_bar(0.5, 4, true, "##");
    check_bar(0.01, 4, true, "#");
    check_bar(0.5, 0, true, "");
}

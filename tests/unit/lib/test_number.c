#include "tests/unit/cmocka_suite.h"

#include "lib/number.h"

#include <math.h>

static void check_scale(double reference, const char *unit, double value, const char *number,
                        const char *shown_unit)
{
    struct number_scale scale = number_scale_for(reference, unit);
    assert_string_equal(number_format(value, &scale).text, number);
    assert_string_equal(scale.unit, shown_unit);
}

TEST(times_take_the_unit_of_the_largest)
{
    check_scale(9.98, "s", 9.98, "9.980", "s");
    check_scale(9.98, "s", 0.005, "0.005", "s");
    check_scale(0.532125, "s", 0.005, "5.0", "ms");
    check_scale(0.0321, "s", 0.005, "5.00", "ms");
    check_scale(4e-6, "s", 4e-6, "4.000", "us");
    check_scale(4e-9, "s", 4e-9, "4.000", "ns");
    check_scale(4e-12, "s", 4e-12, "0.004", "ns");
    check_scale(7234.56, "s", 7234.56, "7234.6", "s");
    check_scale(0, "s", 0, "0", "s");
}

static void check_beside(double largest, double own, double value, const char *number,
                         const char *shown_unit)
{
    struct number_scale scale = number_scale_beside(largest, own, "s");
    assert_string_equal(number_format(value, &scale).text, number);
    assert_string_equal(scale.unit, shown_unit);
}

TEST(columns_beside_each_other_have_one_unit)
{
    check_beside(49.68, 49.68, 1.97, "1.97", "s");
    check_beside(49.68, 3.4256, 3.4256, "3.426", "s");
    check_beside(49.68, 0.34256, 0.34256, "0.3426", "s");
    check_beside(49.68, 0.01971, 0.01971, "0.01971", "s");
    check_beside(49.68, 0.0000123, 0.0000123, "0.00001", "s");
    check_beside(0.4968, 0.0000123, 0.0000123, "0.01230", "ms");
    check_beside(0.4968, 0, 0, "0", "ms");
    check_beside(49.68, -0.01971, -0.01971, "-0.01971", "s");
}

TEST(counts_are_integers_until_they_are_large)
{
    check_scale(2001, "count", 2001, "2001", "");
    check_scale(999999, "count", 7, "7", "");
    check_scale(81234567890.0, "count", 81234567890.0, "81.23", "G");
    check_scale(3e6, "B", 1.5e6, "1.500", "MB");
    check_scale(12, "B", 12, "12", "B");
    check_scale(5000, "count", 0.2, "<1", "");
    check_scale(5000, "count", -7, "-7", "");
    check_scale(2e15, "count", 2e15, "2.000", "P");
}

TEST(other_units_keep_four_digits)
{
    check_scale(1.5, "J", 1.25, "1.250", "J");
    check_scale(150, "", 1.25, "1.2", "");
}

/* Numbers without a unit leave room for one. */
#define MOST_DIGITS 30

TEST(any_double_fits)
{
    const double values[] = {1e308, -1e308, INFINITY, -INFINITY,
                             NAN,   1e-308, -5e-324,  123456789e15};
    const char *units[] = {"s", "count", "B", "a unit with a very long name indeed"};
    for (size_t v = 0; v < sizeof values / sizeof *values; v++)
        for (size_t u = 0; u < sizeof units / sizeof *units; u++)
            for (size_t r = 0; r < sizeof values / sizeof *values; r++) {
                struct number_scale scale = number_scale_for(values[r], units[u]);
                assert_in_range(strlen(number_format(values[v], &scale).text), 1, MOST_DIGITS);
                assert_in_range(strlen(number_percent(values[v], values[r]).text), 1, MOST_DIGITS);
                assert_in_range(strlen(number_with_unit(values[v], units[u]).text), 1, sizeof(struct number_text) - 2);
            }
}

TEST(single_values_carry_their_unit)
{
    assert_string_equal(number_with_unit(9.98, "s").text, "9.980 s");
    assert_string_equal(number_with_unit(0.0021, "s").text, "2.100 ms");
    assert_string_equal(number_with_unit(2001, "count").text, "2001");
    assert_string_equal(number_with_unit(2e9, "count").text, "2.000 G");
}

static void check_percent(double value, double total, const char *expected)
{
    assert_string_equal(number_percent(value, total).text, expected);
}

TEST(percentages_have_one_decimal)
{
    check_percent(1, 1, "100.0");
    check_percent(1, 3, "33.3");
    check_percent(0, 3, "0");
    check_percent(1, 1e6, "<0.1");
    check_percent(0.0005, 1, "0.1");
    check_percent(1, 0, "");
    check_percent(2, 1, "200.0");
    check_percent(-1, 4, "-25.0");
}

TEST(integers_are_grouped)
{
    const struct {
        uint64_t value;
        const char *text;
    } cases[] = {{0, "0"},
                 {999, "999"},
                 {1000, "1,000"},
                 {123456, "123,456"},
                 {1234567, "1,234,567"},
                 {UINT64_MAX, "18,446,744,073,709,551,615"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(number_grouped(cases[i].value).text, cases[i].text);
}

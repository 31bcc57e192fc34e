/* Numbers for people: four significant digits, SI prefixes, percentages.
 *
 * A column of numbers shares one scale, chosen for its largest value (usually the total). So
 * decimal points are aligned, and sizes can be compared at a glance. The text is ASCII and has room
 * for any double. */
#ifndef LIB_NUMBER_H
#define LIB_NUMBER_H

#include <stdint.h>

/* A number as text, for use within one expression: text_add(text, number_with_unit(9.98, "s").text). */
struct number_text {
    char text[64];
};

struct number_scale {
    double divisor; /* values are divided by this before they are printed */
    int decimals;
    char unit[24]; /* of the divided values: "s", "ms", "M", "GB", ...; may be empty */
};

/* The scale for values up to `reference`. `unit` is "s" (seconds), "count", "B" (bytes) or any
 * other text. Seconds below 1 become ms, us or ns; other values from a million on become M, G, T or
 * P. Counts and bytes below that have no decimals. */
struct number_scale number_scale_for(double reference, const char *unit);

/* The scale for values up to `own` beside other values up to `largest`: the unit that suits the
 * largest, with the decimals (at most five) that give `own` four significant digits. */
struct number_scale number_scale_beside(double largest, double own, const char *unit);

/* The value in that scale, without the unit. Only zero is "0": what would be rounded to that in a
 * column without decimals is "<1". What is not finite or too long
 * for a column is written in scientific notation or as "inf" or "nan". */
struct number_text number_format(double value, const struct number_scale *scale);

/* A single value with its unit, in its own scale: "9.980 s". */
struct number_text number_with_unit(double value, const char *unit);

/* The share of `value` in `total` in percent with one decimal, without '%': "12.3". Nonzero shares
 * that would be rounded to 0.0 are "<0.1"; a total of zero gives "". */
struct number_text number_percent(double value, double total);

/* An integer with a comma between groups of three digits: "12,345". */
struct number_text number_grouped(uint64_t value);

#endif

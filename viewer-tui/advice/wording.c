#include "viewer-tui/advice/wording.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Larger factors are too uncertain. */
#define MOST_FACTOR 100

/* "22", "3.7", "0.26", "0.5": two digits, and no zero after the point of what is below 1. */
static void two_digits(double value, char *out, size_t size)
{
    char rounded[32];
    snprintf(rounded, sizeof rounded, "%.1e", value);
    double kept = strtod(rounded, NULL);
    int exponent = kept > 0 ? (int)floor(log10(kept) + 1e-9) : 0;
    int decimals = exponent < 1 ? 1 - exponent : 0;
    snprintf(out, size, kept > 0 && kept < 1 ? "%.*g" : "%.*f", kept > 0 && kept < 1 ? 2 : decimals, kept);
}

void add_number(struct text *text, double number)
{
    char digits[64];
    two_digits(number, digits, sizeof digits);
    text_add(text, digits);
}

/* Shares are exact to a thousandth at best. */
static void add_percentage(struct text *text, double share)
{
    double percent = 100 * share;
    if (percent > 0 && percent < 0.1)
        text_add(text, "<0.1");
    else if (percent >= 99.5)
        text_add(text, "100");
    else if (percent > 0)
        add_number(text, percent);
    else
        text_add(text, "0");
}

void add_percent(struct text *text, double share)
{
    add_percentage(text, share);
    text_add(text, " %");
}

void add_seconds(struct text *text, double seconds)
{
    bool is_small = seconds < 0.0995, is_tiny = seconds < 0.0000995;
    add_number(text, seconds * (is_tiny ? 1e6 : is_small ? 1e3 : 1));
    text_add(text, is_tiny ? " us" : is_small ? " ms" : " s");
}

void add_factor(struct text *text, double factor)
{
    if (factor > MOST_FACTOR)
        text_printf(text, "more than %d", MOST_FACTOR);
    else
        add_number(text, factor);
    text_add(text, "x");
}

void share_describe(const struct share *share, const char *more, struct text *out)
{
    add_percent(out, share->value);
    text_add(out, " (");
    add_percentage(out, share->low);
    text_add(out, " to ");
    add_percent(out, share->high);
    text_printf(out, "%s%s)", *more ? "; " : "", more);
}

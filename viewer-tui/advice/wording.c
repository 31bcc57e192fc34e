#include "viewer-tui/advice/wording.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Larger factors are too uncertain. */
#define MOST_FACTOR 100

/* "22", "3.7", "0.26", "0.5": two digits, and no zero after the point of what is below 1. */
static struct number_text with_unit(double number, const char *unit)
{
    struct number_text words;
    snprintf(words.text, sizeof words.text, "%.1e", number);
    double kept = strtod(words.text, NULL);
    int exponent = kept > 0 ? (int)floor(log10(kept) + 1e-9) : 0;
    int decimals = exponent < 1 ? 1 - exponent : 0;
    bool is_fraction = kept > 0 && kept < 1;
    snprintf(words.text, sizeof words.text, is_fraction ? "%.*g%s" : "%.*f%s", is_fraction ? 2 : decimals, kept, unit);
    return words;
}

struct number_text as_number(double number)
{
    return with_unit(number, "");
}

/* Shares are exact to a thousandth at best. */
static struct number_text percentage(double share, const char *unit)
{
    double percent = 100 * share;
    struct number_text words = with_unit(percent > 0 ? percent : 0, unit);
    if (percent > 0 && percent < 0.1)
        snprintf(words.text, sizeof words.text, "<0.1%s", unit);
    else if (percent >= 99.5 || !(percent > 0))
        snprintf(words.text, sizeof words.text, "%s%s", percent > 0 ? "100" : "0", unit);
    return words;
}

struct number_text as_percent(double share)
{
    return percentage(share, " %");
}

struct number_text as_seconds(double seconds)
{
    if (seconds < 0.0000995)
        return with_unit(1e6 * seconds, " us");
    return seconds < 0.0995 ? with_unit(1e3 * seconds, " ms") : with_unit(seconds, " s");
}

struct number_text as_factor(double factor)
{
    struct number_text words = with_unit(fmin(factor, MOST_FACTOR), "x");
    if (factor > MOST_FACTOR)
        snprintf(words.text, sizeof words.text, "more than %dx", MOST_FACTOR);
    return words;
}

/* From this ratio of its ends on, an interval is wide. */
#define WIDE_INTERVAL 1.5

void gain_describe(const struct gain *gain, struct text *out)
{
    bool is_wide = gain->low < MOST_FACTOR && gain->high >= WIDE_INTERVAL * gain->low;
    text_add(out, as_factor(is_wide ? gain->low : gain->factor).text);
    if (is_wide)
        text_printf(out, " to %s", as_factor(gain->high).text);
}

void share_describe(const struct share *share, const char *more, struct text *out)
{
    text_printf(out, "%s (%s to %s%s%s)", as_percent(share->value).text, percentage(share->low, "").text,
                as_percent(share->high).text, *more ? "; " : "", more);
}

#include "viewer-tui/advice/gain.h"

#include "lib/number.h"

#include <math.h>

/* Larger factors are printed as this bound: they are too uncertain. */
#define MOST_GAIN 100

static double factor_without(double share)
{
    return share < 1 ? 1 / (1 - share) : INFINITY;
}

struct gain gain_without(const struct share *share)
{
    return (struct gain){.factor = factor_without(share->value),
                         .low = factor_without(share->low),
                         .high = factor_without(share->high)};
}

static void add_factor(double factor, struct text *out)
{
    if (factor > MOST_GAIN)
        text_printf(out, "more than %dx", MOST_GAIN);
    else
        text_printf(out, "%.2fx", factor);
}

/* Whether two factors are printed alike. */
static bool are_alike(double a, double b)
{
    return fabs(a - b) < 0.005;
}

void gain_describe(const struct gain *gain, struct text *out)
{
    add_factor(gain->factor, out);
    text_add(out, " faster");
    if (are_alike(gain->low, gain->factor) && are_alike(gain->factor, gain->high))
        return;
    text_add(out, " (");
    add_factor(gain->low, out);
    text_add(out, " to ");
    add_factor(gain->high, out);
    text_add(out, ")");
}

static void add_percent(double share, struct text *out)
{
    char percent[NUMBER_SIZE];
    number_percent(share, 1, percent);
    text_printf(out, "%s%%", percent);
}

void share_describe(const struct share *share, const char *more, struct text *out)
{
    add_percent(share->value, out);
    text_add(out, " (");
    add_percent(share->low, out);
    text_add(out, " to ");
    add_percent(share->high, out);
    text_printf(out, "%s%s)", *more ? "; " : "", more);
}

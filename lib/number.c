#include "lib/number.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct prefix {
    double factor;
    const char *name;
};

static const struct prefix time_prefixes[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
static const struct prefix prefixes[] = {{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}};

/* A column is nine wide: "-0.00123" and a space. */
#define MOST_DECIMALS 5

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* The number of decimals, 1 to 3, that gives a value four significant digits. */
static int decimals_for(double value)
{
    if (value >= 100)
        return 1;
    return value >= 10 ? 2 : 3;
}

static struct number_scale time_scale(double reference)
{
    size_t i = 0;
    while (i + 1 < LENGTH(time_prefixes) && reference < time_prefixes[i].factor)
        i++;
    struct number_scale scale = {.divisor = time_prefixes[i].factor};
    scale.decimals = decimals_for(reference / scale.divisor);
    strcpy(scale.unit, time_prefixes[i].name);
    return scale;
}

/* The unit as printed behind a value: "7", not "7 count". */
static const char *shown_unit(const char *unit)
{
    return strcmp(unit, "count") == 0 ? "" : unit;
}

struct number_scale number_scale_for(double reference, const char *unit)
{
    reference = fabs(reference);
    bool is_time = strcmp(unit, "s") == 0;
    if (is_time)
        return time_scale(reference > 0 ? reference : 1);
    for (size_t i = 0; i < LENGTH(prefixes); i++) {
        if (reference < prefixes[i].factor)
            continue;
        struct number_scale scale = {.divisor = prefixes[i].factor};
        scale.decimals = decimals_for(reference / scale.divisor);
        snprintf(scale.unit, sizeof scale.unit, "%s%s", prefixes[i].name, shown_unit(unit));
        return scale;
    }
    bool is_integer = strcmp(unit, "count") == 0 || strcmp(unit, "B") == 0;
    struct number_scale scale = {.divisor = 1};
    scale.decimals = is_integer ? 0 : decimals_for(reference);
    snprintf(scale.unit, sizeof scale.unit, "%s", shown_unit(unit));
    return scale;
}

struct number_scale number_scale_beside(double largest, double own, const char *unit)
{
    struct number_scale scale = number_scale_for(largest, unit);
    double scaled = fabs(own) / scale.divisor;
    if (scale.decimals == 0 || scaled == 0 || fabs(own) >= fabs(largest))
        return scale;
    scale.decimals = decimals_for(scaled);
    for (; scaled < 1 && scale.decimals < MOST_DECIMALS; scaled *= 10)
        scale.decimals++;
    return scale;
}

struct number_text number_format(double value, const struct number_scale *scale)
{
    assert(scale->divisor > 0);
    struct number_text number = {"0"};
    double scaled = value / scale->divisor;
    if (value == 0)
        return number;
    if (scale->decimals == 0 && scaled > 0 && scaled < 0.5)
        strcpy(number.text, "<1");
    else if (fabs(scaled) >= 1e12)
        snprintf(number.text, sizeof number.text, "%.3e", scaled);
    else
        snprintf(number.text, sizeof number.text, "%.*f", scale->decimals, scaled);
    return number;
}

struct number_text number_with_unit(double value, const char *unit)
{
    struct number_scale scale = number_scale_for(value, unit);
    struct number_text number = number_format(value, &scale);
    size_t length = strlen(number.text);
    snprintf(number.text + length, sizeof number.text - length, "%s%s", scale.unit[0] ? " " : "", scale.unit);
    return number;
}

struct number_text number_percent(double value, double total)
{
    struct number_text number = {""};
    double share = 100 * value / total;
    if (total == 0)
        return number;
    if (value == 0)
        strcpy(number.text, "0");
    else if (share > 0 && share < 0.05)
        strcpy(number.text, "<0.1");
    else if (fabs(share) >= 1e6)
        snprintf(number.text, sizeof number.text, "%.1e", share);
    else
        snprintf(number.text, sizeof number.text, "%.1f", share);
    return number;
}

struct number_text number_grouped(uint64_t value)
{
    struct number_text number = {""};
    char digits[sizeof number.text], *at = number.text;
    size_t length = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, value);
    for (size_t i = 0; i < length; i++) {
        *at++ = digits[i];
        size_t left = length - 1 - i;
        if (left && left % 3 == 0)
            *at++ = ',';
    }
    return number;
}

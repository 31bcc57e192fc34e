#include "viewer-tui/threads/asked-range.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NANOS 1e9

bool asked_time_read(const char *text, struct asked_time *time)
{
    char *end;
    double value = strtod(text, &end);
    bool is_share = strcmp(end, "%") == 0, is_ms = strcmp(end, "ms") == 0;
    if (end == text || !(value >= 0) || isinf(value) || (is_share && value > 100))
        return false;
    *time = (struct asked_time){is_share ? value / 100 : is_ms ? value / 1000 : value, true, is_share};
    return is_share || is_ms || !*end || strcmp(end, "s") == 0;
}

static bool phase_read(const char *text, unsigned *phase)
{
    char *end;
    unsigned long number = strtoul(text, &end, 10);
    *phase = number < 1000000 ? (unsigned)number : 0;
    return *phase > 0 && !*end;
}

bool asked_range_name(const char *name, struct asked_range *range)
{
    size_t length = strlen(name);
    if (length == 0 || length >= sizeof range->during)
        return false;
    strcpy(range->during, name);
    return true;
}

bool asked_range_read(const char *text, struct asked_range *range)
{
    static const char word[] = "phase", during[] = "during:";
    *range = (struct asked_range){0};
    if (strncmp(text, word, strlen(word)) == 0)
        return phase_read(text + strlen(word), &range->phase);
    if (strncmp(text, during, strlen(during)) == 0)
        return asked_range_name(text + strlen(during), range);
    const char *colon = strchr(text, ':');
    autofree char *from = colon ? mem_strndup(text, (size_t)(colon - text)) : NULL;
    bool is_right = from && (*from || colon[1]) && (!*from || asked_time_read(from, &range->from)) &&
                    (!colon[1] || asked_time_read(colon + 1, &range->to));
    return is_right;
}

static double nanos_of(const struct asked_time *time, uint64_t end, double otherwise)
{
    return !time->is_given ? otherwise : round(time->value * (time->is_share ? (double)end : NANOS));
}

static uint64_t until(double nanos, uint64_t end)
{
    return nanos < (double)end ? (uint64_t)nanos : end;
}

char *asked_range_in(const struct asked_range *asked, const struct timeline *timeline, struct time_range *range)
{
    uint64_t end = timeline->end;
    double from = nanos_of(&asked->from, end, 0), to = nanos_of(&asked->to, end, INFINITY);
    *range = (struct time_range){until(from, end), until(to, end)};
    if (range->from < range->to)
        return NULL;
    if (from >= to)
        return mem_strdup("this piece of time is empty: its end is not after its begin");
    return mem_printf("this piece of time is empty: the time line ends at %.6g s", (double)end / NANOS);
}

#include "viewer-tui/db/time-ranges.h"

#include <stdlib.h>

static int by_begin(const void *left, const void *right)
{
    const struct time_range *a = left, *b = right;
    return (a->from > b->from) - (a->from < b->from);
}

void time_ranges_join(time_ranges *ranges)
{
    size_t n = 0;
    if (ranges->n)
        qsort(ranges->at, ranges->n, sizeof *ranges->at, by_begin);
    for (size_t i = 0; i < ranges->n; i++) {
        struct time_range range = ranges->at[i], *last = n ? &ranges->at[n - 1] : NULL;
        if (range.from >= range.to)
            continue;
        if (last && range.from <= last->to)
            last->to = range.to > last->to ? range.to : last->to;
        else
            ranges->at[n++] = range;
    }
    ranges->n = n;
}

void time_ranges_cut(time_ranges *ranges, struct time_range range)
{
    for (size_t i = 0; i < ranges->n; i++) {
        struct time_range *each = &ranges->at[i];
        each->from = each->from > range.from ? each->from : range.from;
        each->to = each->to < range.to ? each->to : range.to;
    }
    time_ranges_join(ranges);
}

time_ranges time_ranges_copy(const time_ranges *ranges)
{
    time_ranges copy = {0};
    for (size_t i = 0; i < ranges->n; i++)
        vec_push(&copy, ranges->at[i]);
    return copy;
}

struct time_range time_ranges_span(const time_ranges *ranges)
{
    return (struct time_range){ranges->at[0].from, ranges->at[ranges->n - 1].to};
}

double time_ranges_seconds(const time_ranges *ranges)
{
    double seconds = 0;
    for (size_t i = 0; i < ranges->n; i++)
        seconds += (double)(ranges->at[i].to - ranges->at[i].from) * 1e-9;
    return seconds;
}

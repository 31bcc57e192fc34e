#include "viewer-tui/timeline/thread-regions.h"

#include <math.h>
#include <stdlib.h>

/* Nanoseconds of the time line; what lies outside of it is at its ends. */
static uint64_t time_of(double seconds, const struct timeline *timeline)
{
    double time = round(fmin(fmax(seconds * 1e9, 0), (double)timeline->end));
    return time < (double)timeline->end ? (uint64_t)time : timeline->end;
}

static int compare_regions(const void *left, const void *right)
{
    const struct thread_region *a = left, *b = right;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    if (a->profile != b->profile)
        return a->profile < b->profile ? -1 : 1;
    return (a->end < b->end) - (a->end > b->end);
}

thread_regions thread_regions_of(const struct threads *threads, const struct timeline *timeline)
{
    thread_regions regions = {0};
    for (size_t i = 0; i < threads->list.n; i++) {
        const struct thread *thread = &threads->list.at[i];
        const json_t *start = json_object_get(thread->process, "time_line_begin");
        size_t r;
        json_t *region;
        if (!json_is_number(start))
            continue;
        json_array_foreach(json_object_get(thread->described, "regions"), r, region)
        {
            const json_t *end = json_object_get(region, "end");
            double from = json_number_value(start) + run_number(region, "begin");
            double to = json_is_number(end) ? json_number_value(start) + json_number_value(end) : INFINITY;
            vec_push(&regions, ((struct thread_region){thread->profile, time_of(from, timeline), time_of(to, timeline),
                                                       run_text(region, "name")}));
        }
    }
    if (regions.n)
        qsort(regions.at, regions.n, sizeof *regions.at, compare_regions);
    return regions;
}

const struct thread_region *thread_region_next(const thread_regions *regions, uint64_t time, int step)
{
    const struct thread_region *before = NULL;
    for (size_t i = 0; i < regions->n; i++) {
        if (step > 0 && regions->at[i].begin > time)
            return &regions->at[i];
        if (step < 0 && regions->at[i].begin < time)
            before = &regions->at[i];
    }
    return before;
}

void thread_regions_add(const thread_regions *regions, uint32_t profile, uint64_t time, bool ascii, struct text *out)
{
    bool is_first = true;
    for (size_t i = 0; i < regions->n && regions->at[i].begin <= time; i++) {
        const struct thread_region *region = &regions->at[i];
        if (region->profile != profile || time >= region->end)
            continue;
        text_say(out, ascii, "%s%s", is_first ? "; in " : " > ", region->name);
        is_first = false;
    }
}

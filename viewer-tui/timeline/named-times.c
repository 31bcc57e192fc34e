#include "viewer-tui/timeline/named-times.h"

#include "lib/hash-tables.h"
#include "viewer-tui/base/text.h"
#include "viewer-tui/db/time-samples.h"
#include "viewer-tui/tree/pattern.h"

#include <string.h>

/* Names of regions that a message lists. */
#define MOST_NAMES 5

/* The names of the first regions; the caller frees. */
static char *first_names(const thread_regions *regions)
{
    struct strtab names = {0};
    struct text out = {0};
    for (size_t i = 0, n = 0; i < regions->n && n <= MOST_NAMES; i++)
        if (strtab_id(&names, regions->at[i].name) == n) {
            text_say(&out, false, "%s%s", n ? ", " : "; there are: ", n < MOST_NAMES ? regions->at[i].name : "...");
            n++;
        }
    strtab_free(&names);
    return out.at;
}

static time_ranges times_of_regions(const thread_regions *regions, const char *name)
{
    time_ranges times = {0};
    for (size_t i = 0; i < regions->n; i++)
        if (strcmp(regions->at[i].name, name) == 0)
            vec_push(&times, ((struct time_range){regions->at[i].begin, regions->at[i].end}));
    time_ranges_join(&times);
    return times;
}

/* Adds the times of a thread's records with a mark. Between two samples that have one the thread stays there, unless it
 * pauses for longer than the second one's time: a worker that sleeps between two regions has no samples then. */
static void add_times(const struct timeline *timeline, const struct timeline_thread *thread, const bool *marks,
                      time_ranges *times)
{
    struct time_samples sample = time_samples_from(timeline, thread, 0);
    uint64_t marked = UINT64_MAX; /* end of the last sample with a mark */
    for (uint64_t before = 0; time_samples_next(&sample); before = sample.end) {
        bool is_marked = false;
        for (uint64_t i = sample.first; i < sample.next; i++) {
            uint32_t place = sample.records[i].place;
            is_marked |= place < timeline->header.n_places && marks[place];
        }
        if (!is_marked)
            continue;
        bool stays = marked == before && sample.begin - before <= sample.end - sample.begin;
        vec_push(times, ((struct time_range){stays ? before : sample.begin, sample.end}));
        marked = sample.end;
    }
}

static time_ranges times_of_procedures(const struct timeline *timeline, const struct place_scopes *scopes,
                                       const char *name)
{
    size_t n;
    struct pattern *pattern = pattern_new(name);
    autofree bool *marks = place_marks_of_name(scopes, pattern, &n);
    time_ranges times = {0};
    for (uint32_t t = 0; t < timeline->header.n_threads; t++)
        add_times(timeline, &timeline->threads[t], marks, &times);
    time_ranges_join(&times);
    pattern_free(pattern);
    return times;
}

time_ranges named_times_find(const thread_regions *regions, const struct timeline *timeline,
                             const struct place_scopes *scopes, const char *name, char **cause)
{
    time_ranges times = times_of_regions(regions, name);
    if (times.n == 0)
        times = times_of_procedures(timeline, scopes, name);
    if (times.n == 0) {
        autofree char *names = regions->n ? first_names(regions) : NULL;
        *cause = mem_printf("no region or procedure '%s' ran%s", name, names ? names : "; the program names no regions");
    }
    return times;
}

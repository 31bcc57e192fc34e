#include "viewer-tui/timeline/named-times.h"

#include "viewer-tui/base/text.h"
#include "viewer-tui/tree/pattern.h"

#include <stdlib.h>
#include <string.h>

/* ---- names that are near ---- */

#define NEAR_NAMES  5
#define LONGEST_NAME 64

/* Letters to insert, to delete or to replace that make one name of the other. */
static size_t distance(const char *one, const char *other)
{
    size_t row[LONGEST_NAME + 1], n = strnlen(other, LONGEST_NAME);
    for (size_t k = 0; k <= n; k++)
        row[k] = k;
    for (size_t i = 0; one[i]; i++) {
        size_t corner = row[0];
        row[0] = i + 1;
        for (size_t k = 1; k <= n; k++) {
            size_t replaced = corner + (one[i] != other[k - 1]);
            size_t least = row[k] < row[k - 1] ? row[k] + 1 : row[k - 1] + 1;
            corner = row[k];
            row[k] = replaced < least ? replaced : least;
        }
    }
    return row[n];
}

struct near_name {
    const char *name;
    size_t distance;
};

static int by_distance(const void *left, const void *right)
{
    const struct near_name *a = left, *b = right;
    return a->distance != b->distance ? (a->distance > b->distance) - (a->distance < b->distance)
                                      : strcmp(a->name, b->name);
}

static char *near_names(const thread_regions *regions, const char *wanted)
{
    autofree VEC(struct near_name) names = {0};
    struct text out = {0};
    size_t n = 0;
    for (size_t i = 0; i < regions->n; i++)
        vec_push(&names, ((struct near_name){regions->at[i].name, distance(wanted, regions->at[i].name)}));
    qsort(names.at, names.n, sizeof *names.at, by_distance);
    for (size_t i = 0; i < names.n && n < NEAR_NAMES; i++)
        if (i == 0 || strcmp(names.at[i].name, names.at[i - 1].name) != 0)
            text_say(&out, false, "%s%s", n++ ? ", " : "; there are: ", names.at[i].name);
    return out.at;
}

/* ---- times ---- */

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
    uint64_t now = 0, before = 0, marked = UINT64_MAX; /* ends: of this sample, the one before, the last with a mark */
    for (uint64_t i = 0; i < thread->n_records; i++) {
        struct timeline_piece piece = timeline_piece(timeline, thread, i);
        before = piece.end == now ? before : now;
        now = piece.end;
        if (!piece.place || !marks[piece.place - timeline->places])
            continue;
        bool stays = marked == before && piece.begin - before <= now - piece.begin;
        vec_push(times, ((struct time_range){stays ? before : piece.begin, now}));
        marked = now;
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
        char *names = regions->n ? near_names(regions, name) : NULL;
        *cause = mem_printf("no region or procedure '%s' ran%s", name, names ? names : "; the program names no regions");
        free(names);
    }
    return times;
}

#include "viewer-tui/db/timeline.h"

#include "lib/alloc.h"
#include "lib/binary-search.h"
#include "lib/safe-input.h"
#include "viewer-tui/base/task.h"
#include "viewer-tui/db/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Amounts have 64 - TRACE_FLAG_BITS bits. */
#define MOST_SHIFT (63 - TRACE_FLAG_BITS)

/* Runs end before that, a year after the begin, unless a file is damaged. Sums of a few times stay in 64 bits. */
#define LATEST_END 32e15

/* What is wrong with the header; NULL if nothing is. */
static const char *check_header(struct timeline *timeline)
{
    struct timeline_header *header = &timeline->header;
    if (!v4_read(&timeline->map, 0, header, sizeof *header))
        return "truncated: the header ends early";
    if (memcmp(header->magic, TIMELINE_MAGIC, sizeof header->magic) != 0)
        return "not a time line of hpcprof";
    if (header->version != TIMELINE_VERSION)
        return "of another version of hpcprof";
    if (header->unit == 0 || header->unit > UINT32_MAX || header->shift > MOST_SHIFT)
        return "corrupt: the unit of its times or amounts";
    timeline->threads =
        v4_array(&timeline->map, header->threads, header->n_threads, sizeof *timeline->threads, 8);
    timeline->places = v4_array(&timeline->map, header->places, header->n_places, sizeof *timeline->places, 8);
    bool has_wake_lists = header->threads >= sizeof *header && header->places >= sizeof *header;
    if (has_wake_lists)
        timeline->wake_lists =
            v4_array(&timeline->map, header->wake_lists, header->n_threads, sizeof *timeline->wake_lists, 8);
    return timeline->threads && timeline->places && (timeline->wake_lists || !has_wake_lists) ? NULL : "corrupt: its lists lie outside of the file";
}

/* The threads have no more records together than fit into the file, so a pass over all takes no longer than that. */
static const char *check_threads(struct timeline *timeline)
{
    const struct v4_map *map = &timeline->map;
    uint64_t most = map->size / sizeof(struct timeline_record);
    for (uint32_t i = 0; i < timeline->header.n_threads; i++) {
        const struct timeline_thread *thread = &timeline->threads[i];
        const struct timeline_record *records =
            v4_array(map, thread->records, thread->n_records, sizeof *records, 8);
        if (!records || thread->n_records > most - timeline->n_records)
            return "corrupt: records lie outside of the file";
        if (i > 0 && thread->profile <= thread[-1].profile)
            return "corrupt: its threads are not in order";
        timeline->n_records += thread->n_records;
        uint64_t last = thread->n_records ? records[thread->n_records - 1].time * timeline->header.unit : 0;
        if ((double)last >= LATEST_END)
            return "corrupt: its times";
        timeline->end = last > timeline->end ? last : timeline->end;
    }
    return timeline->n_records && timeline->header.n_places == 0 ? "corrupt: records, but no places" : NULL;
}

/* No wake-ups are better than some that are wrong. */
static const char *check_wake_ups(struct timeline *timeline)
{
    uint64_t left = timeline->map.size / sizeof(struct timeline_wake_up);
    for (uint32_t i = 0; timeline->wake_lists && i < timeline->header.n_threads; i++) {
        const struct timeline_wake_list *list = &timeline->wake_lists[i];
        if (list->n_wake_ups > left ||
            !v4_array(&timeline->map, list->wake_ups, list->n_wake_ups, sizeof(struct timeline_wake_up), 8))
            return "corrupt: wake-ups lie outside of the file";
        left -= list->n_wake_ups;
    }
    return NULL;
}

/* Without records at its end, as of a run by CPU time that slept then, the run is longer than they are. */
static void take_end_of_processes(struct timeline *timeline, const json_t *run)
{
    json_each (process, json_object_get(run, "processes")) {
        const json_t *begin = json_object_get(process, "time_line_begin");
        double end = (json_number_value(begin) + run_number(process, "wall")) * 1e9;
        if (json_is_number(begin) && end > (double)timeline->end && end < LATEST_END)
            timeline->end = (uint64_t)end;
    }
}

struct timeline *timeline_open(const char *folder, const json_t *run)
{
    struct stat status;
    autofree char *unreadable = NULL;
    struct timeline *timeline = mem_alloc(sizeof *timeline);
    struct v4_map *map = &timeline->map;
    map->path = mem_printf("%s/%s", folder, TIMELINE_FILE);
    map->bytes = input_map(map->path, &status, &unreadable);
    bool is_missing = !map->bytes && errno == ENOENT;
    map->size = map->bytes ? (uint64_t)status.st_size : 0;
    const char *cause = unreadable ? unreadable : check_header(timeline);
    if (!cause)
        cause = check_threads(timeline);
    if (!cause)
        cause = check_wake_ups(timeline);
    if (cause && !is_missing)
        problem_found(map->path, "%s", cause);
    bool is_sound = !cause;
    if (is_sound) {
        const json_t *event = json_array_get(json_object_get(run, "events"), timeline->header.event);
        timeline->event = run_text(event, "name");
        timeline->is_time = strcmp(run_text(event, "unit"), "s") == 0;
        timeline->period = run_number(event, "period");
        take_end_of_processes(timeline, run);
        return timeline;
    }
    timeline_close(timeline);
    return NULL;
}

void timeline_close(struct timeline *timeline)
{
    if (!timeline)
        return;
    v4_map_close(&timeline->map);
    free(timeline);
}

const struct timeline_thread *timeline_thread(const struct timeline *timeline, uint32_t profile)
{
    uint32_t n = timeline->header.n_threads;
    uint64_t at = partition_point(i, n, timeline->threads[i].profile < profile);
    return at < n && timeline->threads[at].profile == profile ? &timeline->threads[at] : NULL;
}

const struct timeline_record *timeline_records(const struct timeline *timeline, const struct timeline_thread *thread)
{
    return (const struct timeline_record *)(const void *)(timeline->map.bytes + thread->records);
}

const struct timeline_wake_up *timeline_wake_ups(const struct timeline *timeline, uint32_t thread, uint64_t *n)
{
    const struct timeline_wake_list *list = timeline->wake_lists ? &timeline->wake_lists[thread] : NULL;
    *n = list ? list->n_wake_ups : 0;
    return list ? (const struct timeline_wake_up *)(const void *)(timeline->map.bytes + list->wake_ups) : NULL;
}

uint64_t timeline_find(const struct timeline *timeline, const struct timeline_thread *thread, uint64_t time)
{
    const struct timeline_record *records = timeline_records(timeline, thread);
    return partition_point(i, thread->n_records, records[i].time * timeline->header.unit < time);
}

enum trace_state timeline_state(const struct timeline *timeline, const struct timeline_record *record)
{
    enum trace_state state = trace_state(record->amount);
    if (state > 0 && state < TRACE_STATES && record->place < timeline->header.n_places)
        return state;
    problem_found(timeline->map.path, "corrupt: a record");
    return TRACE_DROPPED;
}

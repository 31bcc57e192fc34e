/* The time line of a database: timeline.db (lib/trace-format.h), mapped.
 *
 * Times are nanoseconds from the time line's begin on. The file is not trusted: header, offsets and counts are checked
 * when it is opened, records when they are read. Damage is noted as a problem, and a damaged record says nothing. */
#ifndef VIEWER_TIMELINE_H
#define VIEWER_TIMELINE_H

#include "lib/trace-format.h"
#include "viewer-tui/db/v4-map.h"

#include <jansson.h>
#include <string.h>

struct timeline {
    struct v4_map map;
    struct timeline_header header;
    const struct timeline_thread *threads; /* header.n_threads of them, ascending by profile */
    const struct timeline_place *places;   /* header.n_places of them */
    const struct timeline_wake_list *wake_lists; /* parallel to threads; NULL: an earlier hpcprof has made the file */
    const char *event; /* in run.json, of which the records are; "" if unknown */
    bool is_time;      /* amounts are time, so that a record is about an interval */
    double period;     /* mean period of the event: seconds, or a count; 0 unknown */
    uint64_t end;      /* of the last record, or of the last process if that is later */
    uint64_t n_records; /* of all threads */
};

/* NULL if the database has none, or, with the problem noted, if it is damaged. `run`, run.json, may be NULL; it must
 * outlive the result. */
struct timeline *timeline_open(const char *folder, const json_t *run);
void timeline_close(struct timeline *timeline); /* NULL allowed */

/* The thread of a profile; NULL: it has no records. */
const struct timeline_thread *timeline_thread(const struct timeline *timeline, uint32_t profile);

/* The records of a thread, ascending by time. */
const struct timeline_record *timeline_records(const struct timeline *timeline, const struct timeline_thread *thread);

/* The wake-ups of threads[thread], ascending by time; *n is their number. */
const struct timeline_wake_up *timeline_wake_ups(const struct timeline *timeline, uint32_t thread, uint64_t *n);

/* The first record of the thread that ends at `time` or later; its number of records if none does. */
uint64_t timeline_find(const struct timeline *timeline, const struct timeline_thread *thread, uint64_t time);

/* The state of a record; TRACE_DROPPED, with the problem noted, if it is damaged. Then it has no place. */
enum trace_state timeline_state(const struct timeline *timeline, const struct timeline_record *record);

/* Whether it has the time in which a thread was on no CPU, too. */
static inline bool timeline_has_waits(const struct timeline *timeline)
{
    return strcmp(timeline->event, "REALTIME") == 0;
}

/* Units of the event: seconds, or a count. */
static inline double timeline_amount(const struct timeline *timeline, double fixed_point)
{
    return fixed_point / (double)(UINT64_C(1) << timeline->header.shift) * (timeline->is_time ? 1e-9 : 1);
}

#endif

/* The time line of a database: timeline.db (lib/trace-format.h), mapped.
 *
 * Times are nanoseconds from the time line's begin on. The file is not trusted: damage is noted as a
 * problem, and what is damaged is left out. */
#ifndef VIEWER_TIMELINE_H
#define VIEWER_TIMELINE_H

#include "lib/trace-format.h"
#include "viewer-tui/db/v4-map.h"

struct timeline {
    struct v4_map map;
    struct timeline_header header;
    const struct timeline_thread *threads;
    const struct timeline_place *places;
    uint64_t end; /* the last time of any record */
};

/* What a record says. */
struct timeline_piece {
    uint64_t begin, end; /* of the interval that it is a part of; begin = end if the amount is no time */
    uint64_t amount;     /* in the fixed point of the event */
    enum trace_state state;
    bool is_worker; /* it pays idleness */
    const struct timeline_place *place;
};

/* NULL if the database has none, or, with the problem noted, if it is damaged. */
struct timeline *timeline_open(const char *folder);
void timeline_close(struct timeline *timeline); /* NULL allowed */

/* The thread of a profile; NULL: it has no records. */
const struct timeline_thread *timeline_thread(const struct timeline *timeline, uint32_t profile);

/* The first record of the thread that ends at `time` or later; its number of records if none does. */
uint64_t timeline_find(const struct timeline *timeline, const struct timeline_thread *thread, uint64_t time);

/* The record at `index` < n_records. Records of one sample share `begin` and `end`. */
struct timeline_piece timeline_piece(const struct timeline *timeline, const struct timeline_thread *thread,
                                     uint64_t index);

#endif

/* A timeline.db made of records, in a folder of its own below /tmp. */
#ifndef TESTS_MADE_TIMELINE_H
#define TESTS_MADE_TIMELINE_H

#include "lib/alloc.h"
#include "viewer-tui/db/timeline.h"

#include <jansson.h>

struct made_record {
    uint32_t profile; /* ascending */
    uint32_t time;    /* of one profile ascending */
    uint64_t amount;  /* ns */
    enum trace_state state;
    uint32_t place;
    bool is_worker;
};

struct made_wake_up {
    uint32_t profile; /* ascending */
    uint32_t began, released, time, waker;
};

/* What the time line of a test is made of. */
struct made_timeline {
    struct timeline_place places[64];
    uint64_t n_places;
    const struct made_wake_up *wake_ups; /* of profiles that have records */
    size_t n_wake_ups;
    uint64_t step, window; /* of wake-ups; 0: they are complete */
    struct timeline_header header; /* what is not set, is */
    uint8_t bytes[1 << 20];
    size_t size;
    char folder[64];
    json_t *run;
};

extern struct made_timeline made;
extern struct timeline *timeline; /* of that file; NULL: it is damaged, or there is none */

/* Makes and opens the file, after the one before is closed, with `unit` ns and a shift of 4. Its places, and if it has any
 * its wake-ups, were set in `made`. The event is CPUTIME, or a count. */
void begin_timeline(const struct made_record *records, size_t n, uint64_t unit, bool is_time);

/* Writes its bytes and opens the file again. */
void reopen_timeline(void);

/* Closes the time line, deletes the folder, and forgets what was wrong with the file, and what it was made of. For
 * EACH_TEST, too. */
int end_timeline(void **state);

#endif

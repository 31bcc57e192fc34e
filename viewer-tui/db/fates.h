/* The fates of the samples of each event, added up over all threads of a run. run.json has them per
 * thread (doc/FORMAT-database.md). */
#ifndef VIEWER_FATES_H
#define VIEWER_FATES_H

#include "lib/alloc.h"
#include "viewer-tui/db/run.h"

#include <stdint.h>

struct fate_total {
    const char *name; /* "recorded", "dropped: out of memory", ... */
    uint64_t count;
    double amount; /* in the event's unit */
};

/* Number of threads that sampled the event from a source. */
struct source_use {
    const char *source, *note;
    uint64_t threads;
};

struct event_fates {
    const char *event;
    const char *unit;
    double period;      /* 0: it follows from the rate */
    double wanted_rate; /* requested samples per second of CPU time; 0: the period is fixed */
    double rate;        /* samples per second of the threads' own clocks; 0 unknown */
    VEC(struct fate_total) fates;
    VEC(struct source_use) sources;
};

struct fates {
    VEC(struct event_fates) events;
};

/* Adds up the fates. Texts point into `run`, which must outlive the result. Free with fates_free.
 */
void fates_read(struct fates *fates, const json_t *run);
void fates_free(struct fates *fates);

/* An explanation of a fate; NULL if its name explains itself. */
const char *fate_meaning(const char *name);

#endif

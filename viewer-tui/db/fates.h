/* What became of the samples of one event, added up over all threads of a run: run.json has it
 * per thread (doc/FORMAT-database.md). */
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

/* How many threads sampled the event from a source. */
struct source_use {
    const char *source, *note;
    uint64_t threads;
};

struct event_fates {
    const char *event;
    const char *unit;
    double period;      /* 0: it follows the rate */
    double wanted_rate; /* samples per second of CPU time asked for; 0: the period is fixed */
    double rate;        /* samples per second of the threads' own clocks, 0 unknown */
    VEC(struct fate_total) fates;
    VEC(struct source_use) sources;
};

struct fates {
    VEC(struct event_fates) events;
};

/* Adds up; the texts are those of `run`, which must outlive the result. The caller frees. */
void fates_read(struct fates *fates, const json_t *run);
void fates_free(struct fates *fates);

/* What a fate means, for people; NULL when its name says it all. */
const char *fate_meaning(const char *name);

#endif

/* The regions that a program names itself (include/hpctoolkit.h, ITT, NVTX), on its time line. */
#ifndef VIEWER_THREAD_REGIONS_H
#define VIEWER_THREAD_REGIONS_H

#include "viewer-tui/db/timeline.h"
#include "viewer-tui/threads/run-threads.h"

struct thread_region {
    uint32_t profile;    /* of the thread */
    uint64_t begin, end; /* of an open one: that of the time line */
    const char *name;    /* in run.json */
};

/* Ascending by begin, outer ones first; the owner frees it with vec_free. */
typedef VEC(struct thread_region) thread_regions;

/* Those of threads whose process is on the time line. */
thread_regions thread_regions_of(const struct threads *threads, const struct timeline *timeline);

/* The first region that begins after a time (step 1), or the last one before it (-1); NULL: there is none. */
const struct thread_region *thread_region_next(const thread_regions *regions, uint64_t time, int step);

/* Adds "; in sort > merge" if the thread is in regions at that time. */
void thread_regions_add(const thread_regions *regions, uint32_t profile, uint64_t time, bool ascii, struct text *out);

#endif

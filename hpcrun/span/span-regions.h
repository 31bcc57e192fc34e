/* Work and span of regions of the program that it names itself (include/hpctoolkit.h).
 *
 * A region begins and ends in the serial code between computations, or in an OpenCilk procedure that
 * is called, not spawned (frame-span.h). There everything is in series, so a region's work and span are
 * what those of the whole program have grown by. Regions may be nested and repeated; a region in a
 * region of the same name is a part of it.
 *
 * Normal context, while work and span are measured. Names are cut to REGION_NAME - 1 bytes. */
#ifndef HPCRUN_SPAN_SPAN_REGIONS_H
#define HPCRUN_SPAN_SPAN_REGIONS_H

#include "hpcrun/span/span-results.h"

#define REGIONS     64 /* regions with different names; more are not measured */
#define REGION_NAME 64

void span_region_start(const char *name);
void span_region_stop(const char *name);

/* Writes the sums so far to the log and to standard error, of an open region up to now. */
void span_region_dump(const char *name);

/* A region at the end of the image. */
struct region_sums {
    const char *name;
    uint64_t times;          /* that it was executed, with the last time if it is open */
    struct span_totals sums; /* of these; of the last time, up to the end */
    bool is_partial;         /* a start or stop was where it cannot be measured */
};

/* Region i, in the order of their first starts, after work_span_totals; false: there are no more. */
bool span_region_at_end(unsigned i, struct region_sums *sums);

#endif

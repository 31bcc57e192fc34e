/* Phases of a run: stretches of time between changes of its mix (change-points.h). The mix is counted in equal bins:
 *
 *   work by kinds of call paths      path-points.h
 *   samples in each other state      e.g. idle, off the CPU
 *   threads at work                  timeline/at-work.h; its noise: precision_of in run-phases.c
 *
 * Its error is in doc/metrics.md. */
#ifndef VIEWER_PHASES_H
#define VIEWER_PHASES_H

#include "viewer-tui/base/change-points.h"
#include "viewer-tui/db/database.h"
#include "viewer-tui/db/record-sums.h"

struct phase {
    struct time_range range;
    double states[TRACE_STATES];  /* seconds (or counts), summed over the threads */
    double paid[RECORD_METRICS];  /* what its records pay, in the metrics' units */
    double working;               /* threads that work or have overhead, on average; NAN if the event is no time */
    bool is_quiet;                /* nothing used a CPU in it */
    uint32_t procedure;           /* that tells it from the others (path_names_find), by its work, or where threads only
                                     wait by its waiting; NOTHING: there is none, or nothing was seen */
};

struct phases {
    struct phase at[MOST_PHASES];
    size_t n;      /* at least 1 */
    size_t n_bins; /* parts of the run that were compared; with fewer than LEAST_BINS no changes were looked for */
};

/* The phases of a time line. `db` is the logical projection of its database; its nodes must have been read. */
struct phases phases_find(struct database *db, const struct timeline *timeline);

/* Seconds of a phase. */
static inline double phase_length(const struct phase *phase)
{
    return (double)(phase->range.to - phase->range.from) * 1e-9;
}

/* The name of its procedure. If that has none, the name of its module: "salmon" in place of "<salmon+0x1063c0>". NULL:
 * it has no procedure. */
const char *phase_place(const struct database *db, const struct phase *phase, char buffer[NAME_SIZE]);

#endif

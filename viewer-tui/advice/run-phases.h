/* Phases of a run: stretches of time between changes of its mix, the states of its threads and the procedures of the
 * user's own code that they are in (change-points.h). */
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
    uint32_t procedure;           /* the user's own with most of the work, or where threads only wait of the waiting;
                                     NOTHING: none has a name, or nothing was seen */
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

/* The name of its procedure. If that has none, the name of its module: "salmon" in place of "<salmon+0x1063c0>". NULL: it has
 * no procedure. */
const char *phase_place(const struct database *db, const struct phase *phase, char buffer[NAME_SIZE]);

#endif

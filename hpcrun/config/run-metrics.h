/* Signal handler: everything here may be used there.
 *
 * The metrics of a run and their ids: every event pays one metric, REALTIME a second one, and time
 * events idleness and incomplete time, when agents may come. */
#ifndef HPCRUN_CONFIG_RUN_METRICS_H
#define HPCRUN_CONFIG_RUN_METRICS_H

#include "hpcrun/config/run-config.h"

#define MAX_METRICS (4 * MAX_EVENTS)

struct metric {
    const char *name;
    unsigned event;
};

struct metrics {
    unsigned count;
    struct metric at[MAX_METRICS];
    unsigned work[MAX_EVENTS];     /* of every event: the id of what it measured */
    unsigned blocked[MAX_EVENTS];  /* of wall-clock events: the part off the CPU; else NO_METRIC */
    unsigned idleness[MAX_EVENTS]; /* of time events: blame for idle workers; else NO_METRIC */
    unsigned incomplete[MAX_EVENTS]; /* of time events: the time in which not every worker had work;
                                        else NO_METRIC */
};

#define NO_METRIC UINT32_MAX

void metrics_init(struct metrics *metrics, const struct config *config);

#endif

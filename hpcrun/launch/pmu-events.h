/* Counters of the processor and the kernel: translates their names in PAPI and libpfm to the fields
 * of perf_event_open. Both libraries are loaded only if an event needs them, and only into the
 * launcher, never into the profiled process. */
#ifndef HPCRUN_LAUNCH_PMU_EVENTS_H
#define HPCRUN_LAUNCH_PMU_EVENTS_H

#include "hpcrun/config/run-config.h"

/* Fills in kind, perf_*, options and a first guess of the period for a PAPI preset (PAPI_TOT_CYC)
 * or a native event (perf::PAGE-FAULTS), and opens it once on trial. Returns NULL, or the reason
 * why it can't be sampled here (static text). */
const char *pmu_event(const char *name, struct event *event);

/* The result of pmu_event for an unknown name. */
extern const char pmu_no_such_event[];

/* Calls `visit` for every preset and native event. `why` is NULL, or the reason why it can't be
 * sampled here. Returns NULL, or the reason why events could not be listed. */
const char *pmu_list(void (*visit)(const char *name, const char *description, const char *why));

#endif

/* Events of the processor's and the kernel's performance monitoring: from their names in PAPI and
 * libpfm to what perf_event_open takes. Both libraries are opened only when an event asks for them,
 * and only in the launcher: the profiled process never has them. */
#ifndef HPCRUN_LAUNCH_PMU_EVENTS_H
#define HPCRUN_LAUNCH_PMU_EVENTS_H

#include "hpcrun/config/run-config.h"

/* Fills kind, perf_* and options of `event` for a PAPI preset (PAPI_TOT_CYC) or a native event
 * (perf::PAGE-FAULTS), and a first guess of the period, after opening it once on trial. Returns
 * NULL, or why the event can't be sampled here (a constant or the library's text, valid for good).
 */
const char *pmu_event(const char *name, struct event *event);

/* What pmu_event returns for a name that no machine has. */
extern const char pmu_no_such_event[];

/* Calls `visit` for every preset and every native event, with a description and, for one that can't
 * be sampled here, the reason, else NULL. Returns why nothing could be listed, or NULL. */
const char *pmu_list(void (*visit)(const char *name, const char *description, const char *why));

#endif

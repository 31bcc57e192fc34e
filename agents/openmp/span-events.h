/* Reports what libomp does to hpcrun, for work and span (struct agent_tasks in agent-events.h).
 *
 * With `hpcrun --work-span`, functions of span-events.c take the place of those of events.c, which they
 * call. Without it, libomp calls none of them. */
#ifndef AGENTS_OPENMP_SPAN_EVENTS_H
#define AGENTS_OPENMP_SPAN_EVENTS_H

#include "agents/agent.h"
#include "agents/openmp/ompt.h"

/* Normal context, before libomp is used. `is_runtime`: as in body-code.h. `events` NULL: nothing is
 * reported. */
void span_events_begin(const struct agent_tasks *events, bool (*is_runtime)(const void *address));

/* After events_register. False: libomp does not announce one of the events that are needed. */
bool span_events_register(ompt_set_callback_t set_callback);

#endif

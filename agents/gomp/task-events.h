/* Reports what libgomp does to hpcrun, for work and span (struct agent_tasks in agent-events.h).
 *
 * The wrappers in regions.c and tasks.c report regions and tasks of an observed copy of libgomp.
 * Waits are reported by functions of task-events.c, which take the place of libgomp's in the copy's
 * struct gomp_functions: wrappers of waits cost nothing more. Only one copy is observed. */
#ifndef AGENTS_GOMP_TASK_EVENTS_H
#define AGENTS_GOMP_TASK_EVENTS_H

#include "agents/agent.h"
#include "agents/gomp/gomp-copies.h"

/* Of hpcrun; NULL: no copy is observed. */
extern const struct agent_tasks *task_events;

/* Normal context. Reports events of this copy from now on. False if another copy is observed. */
bool task_events_report(struct gomp_functions *functions, const struct agent_tasks *events);

#endif

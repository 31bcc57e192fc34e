/* The start of a team. The thread that begins a region prepares the team, creates threads or wakes
 * them, and then waits until all of them have come. libgomp does all of that in GOMP_parallel, so its
 * slot says AGENT_SLOT_STARTING for both. The master's own samples find out by the interrupted code
 * whether it waits. */
#ifndef AGENTS_GOMP_TEAM_STARTS_H
#define AGENTS_GOMP_TEAM_STARTS_H

#include "agents/common/thread-slots.h"

/* Handler. Whether the sampled thread starts a team, and works at that. */
bool works_at_team_start(const struct agent_host *host, const struct agent_cursor *cursor);

#endif

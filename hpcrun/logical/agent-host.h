/* What hpcrun does for agents: the functions of struct agent_host (agents/agent.h). */
#ifndef HPCRUN_LOGICAL_AGENT_HOST_H
#define HPCRUN_LOGICAL_AGENT_HOST_H

#include "agents/agent.h"

#define AGENT_MOST_SLOT_BYTES 65536

const struct agent_host *host_for_agents(void);

#endif

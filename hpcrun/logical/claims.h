/* Signal handler: claims_agent and claims_find are used there; the rest is for normal context.
 *
 * The code addresses that agents have claimed. An agent is identified by its index in `agents`. */
#ifndef HPCRUN_LOGICAL_CLAIMS_H
#define HPCRUN_LOGICAL_CLAIMS_H

#include "agents/agent.h"

/* The agent that has claimed `pc`, or -1. O(log n) in the number of claims. */
int claims_agent(uint64_t pc);

/* agent_host.claim and agent_host.find_claim. */
bool claims_add(unsigned agent, const struct agent_claim *claims, size_t count);
bool claims_find(unsigned agent, uint64_t pc, struct agent_claim *found);

/* Removes the claims of all agents in an unloaded module. */
void claims_remove(uint64_t start, uint64_t end);

#endif

/* Signal handler: claims_agent and claims_around are used there; the rest is for normal context.
 *
 * Which code addresses agents have claimed. An agent is known by its index in the table. */
#ifndef HPCRUN_LOGICAL_CLAIMS_H
#define HPCRUN_LOGICAL_CLAIMS_H

#include "agents/agent.h"

/* The agent that has claimed `pc`, or -1. O(log n) in the number of claims. */
int claims_agent(uint64_t pc);

/* The claim of this agent that is around `pc`, as struct agent_host says. */
bool claims_around(unsigned agent, uint64_t pc, struct agent_claim *found);

/* Claims for an agent, as struct agent_host says: all or none. */
bool claims_add(unsigned agent, const struct agent_claim *claims, size_t count);

/* Gives up all claims in a module that is gone. */
void claims_give_up(uint64_t start, uint64_t end);

#endif

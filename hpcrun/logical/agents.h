/* Signal handler: agents_of, agents_claimed and the arrays are used there; the rest is for normal
 * context.
 *
 * The agents of this process (agents/agent.h): which are loaded, and which code addresses they have
 * claimed. The launcher names the agents that are installed and how their runtimes are recognised;
 * an agent is opened when a module of its runtime is seen in the process, at points where a program
 * may open libraries: when hpcrun starts, before a thread is created, after a dlclose. */
#ifndef HPCRUN_LOGICAL_AGENTS_H
#define HPCRUN_LOGICAL_AGENTS_H

#include "agents/agent.h"

#include <stdatomic.h>

#define MAX_AGENTS 8

/* Loaded agents, in order of loading; never unloaded. */
struct agents {
    _Atomic unsigned count;
    _Atomic uint32_t epoch; /* changes after agents were told of modules or threads */
    const struct agent *at[MAX_AGENTS];
    const char *name[MAX_AGENTS], *rules_version[MAX_AGENTS]; /* of its rules file */
};

extern struct agents agents;

/* Reads what the launcher said; no agent is opened yet. `list` is the value of HPCRUN_AGENTS:
 * "NAME|VERSION OF ITS RULES|PATH|RECOGNITION..." joined by ';', RECOGNITION being "note:OWNER",
 * "module:NAME" or "symbol:NAME". */
void agents_init(const char *list);

/* Looks at what modules were loaded and unloaded since the last look; opens agents, tells them. */
void agents_look(void);

/* In the child of a fork: nobody else is looking. */
void agents_after_fork(void);

/* Index of the agent that has claimed `pc`, or -1. O(log n) in the number of claims. */
int agents_of(uint64_t pc);

/* Claims for agent number `index`, and the one of its claims that is around `pc`, as struct
 * agent_host says. */
bool agents_claim(unsigned index, const struct agent_claim *claims, size_t count);
bool agents_claimed(unsigned index, uint64_t pc, struct agent_claim *found);

/* Gives up all claims in a module that is gone. */
void agents_give_up(uint64_t start, uint64_t end);

#endif

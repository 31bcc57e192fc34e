/* Signal handler: everything here is used there.
 *
 * The agents that this process has loaded (agents/agent.h). */
#ifndef HPCRUN_LOGICAL_AGENT_TABLE_H
#define HPCRUN_LOGICAL_AGENT_TABLE_H

#include "agents/agent.h"

#include <stdatomic.h>

#define MAX_AGENTS 8

/* In order of loading; never unloaded. */
struct agents {
    _Atomic unsigned count;
    _Atomic uint32_t epoch; /* changes after agents were told of modules or threads */
    const struct agent *at[MAX_AGENTS];
    const char *name[MAX_AGENTS], *rules_version[MAX_AGENTS]; /* of its rules file */
};

extern struct agents agents;

#endif

/* Signal handler: `agents` and workers_record are used there; lock-free.
 *
 * The agents that this process has loaded (agents/agent.h), and what the measurement file says of
 * them: agents that can't serve this process, and the numbers of workers over time. */
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

/* ---- refusals ----
 *
 * An agent refuses when its runtime is in the process but the agent can't serve it: call paths are
 * native then. Normal context, one call at a time, except for refusals_get. */

/* Notes that an agent can't serve this process, and tells the user, once for each agent and reason.
 * Texts are copied; what is too long is cut. */
void refusals_add(const char *agent, const char *why);

/* It can serve, after all. */
void refusals_withdraw(const char *agent);

struct refusal {
    const char *agent; /* its name */
    const char *why;   /* "" when it was taken back */
};

/* Refusal i in the order of their being noted; false when there are not so many. One that is taken
 * back is a further one. Any context and thread. */
bool refusals_get(unsigned i, struct refusal *refusal);

/* ---- workers ---- */

struct workers_change {
    uint64_t at; /* CLOCK_MONOTONIC, ns */
    uint32_t workers, n;
};

/* A sample saw these numbers. */
void workers_record(unsigned agent, uint32_t workers, uint32_t n);

/* The i-th change of an agent, in the order in which they were seen; false when there is none yet.
 */
bool workers_change(unsigned agent, uint32_t i, struct workers_change *change);

/* In the child of a fork: nothing was seen yet. */
void workers_forget(void);

#endif

/* Signal handler: `agents`, workers_record, workers_change and refusals_get may be used there;
 * lock-free.
 *
 * The agents that this process has loaded (agents/agent.h), and what the measurement file says of
 * them: agents that can't serve this process, and the numbers of workers over time. */
#ifndef HPCRUN_LOGICAL_AGENT_TABLE_H
#define HPCRUN_LOGICAL_AGENT_TABLE_H

#include "agents/agent.h"

#include <stdatomic.h>

#define MAX_AGENTS 12

/* In order of loading; agents are never unloaded. */
struct agents {
    _Atomic unsigned count;
    _Atomic uint32_t news;     /* changes when there is more for the measurement file: an agent, a
                               refusal, a number of workers */
    _Atomic uint32_t epoch;    /* changes after modules or threads were announced to agents */
    _Atomic bool hide_threads; /* some runtime's threads are not marked in their slots, so it is not
                                  known which ones are plain */
    const struct agent *at[MAX_AGENTS];
    const char *name[MAX_AGENTS], *rules_version[MAX_AGENTS]; /* of its rules file */
};

extern struct agents agents;

/* The index of an agent in `agents`; MAX_AGENTS if it is not there. */
unsigned agents_index(const struct agent *agent);

/* ---- refusals ----
 *
 * An agent refuses when its runtime is in the process but the agent can't serve it. Call paths are
 * native then. Normal context, one call at a time, except for refusals_get. */

/* Records that an agent can't serve this process, and reports it, once for each agent and reason.
 * The texts are copied, up to 63 and 255 bytes. */
void refusals_add(const char *agent, const char *why);

/* Records that the agent can serve after all. */
void refusals_withdraw(const char *agent);

struct refusal {
    const char *agent; /* its name */
    const char *why;   /* "" if an earlier refusal is withdrawn */
};

/* The i-th record; false if there are fewer. A withdrawal is a record of its own. */
bool refusals_get(unsigned i, struct refusal *refusal);

/* ---- workers ---- */

/* A change in the number of workers that a sample saw. */
struct workers_change {
    uint64_t at; /* CLOCK_MONOTONIC, ns */
    uint32_t workers,
        n; /* of the runtime; n of the law of metrics: workers that may work at once */
};

/* Records the numbers that a sample saw, if they changed. */
void workers_record(unsigned agent, uint32_t workers, uint32_t n);

/* The i-th change of an agent; false if there are fewer. */
bool workers_change(unsigned agent, uint32_t i, struct workers_change *change);

/* In the child of a fork: discards the changes. */
void workers_clear(void);

#endif

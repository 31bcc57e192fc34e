/* Agents whose runtime seems to be in the process, and that can't serve it: call paths are native.
 * Normal context, one at a time, but for refusals_get. */
#ifndef HPCRUN_LOGICAL_REFUSALS_H
#define HPCRUN_LOGICAL_REFUSALS_H

#include "hpcrun/logical/agent-table.h"

#include <stdbool.h>

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

#endif

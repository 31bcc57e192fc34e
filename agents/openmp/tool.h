/* The agent as a tool of OMPT: libomp calls ompt_start_tool, which this library exports, at the
 * program's first use of OpenMP. */
#ifndef AGENTS_OPENMP_TOOL_H
#define AGENTS_OPENMP_TOOL_H

#include "agents/agent.h"

#include <stdint.h>

/* Normal context. Why libomp will not have the agent as its tool; NULL: it will, as far as is known
 * before its first use. `libomp` is the handle of its module. */
const char *tool_why_not(void *libomp);

/* Any context. The same once libomp has looked for a tool: NULL as long as it has not refused. */
const char *tool_refusal(void);

/* Normal context. Called with the reason when libomp gets another tool. */
void tool_on_refusal(void (*call)(const char *why));

#endif

/* Normal context: opens agents (agents/agent.h) and tells them what modules come and go.
 *
 * The launcher names the agents that are installed and how their runtimes are recognised; an agent
 * is opened when a module of its runtime is seen in the process, at points where a program may open
 * libraries: when hpcrun starts, before a thread is created, after a dlclose. */
#ifndef HPCRUN_LOGICAL_AGENT_LOADER_H
#define HPCRUN_LOGICAL_AGENT_LOADER_H

/* Reads what the launcher said; no agent is opened yet. `list` is the value of HPCRUN_AGENTS:
 * "NAME|VERSION OF ITS RULES|PATH|RECOGNITION..." joined by ';', RECOGNITION being "note:OWNER",
 * "module:NAME" or "symbol:NAME". */
void agents_init(const char *list);

/* Looks at what modules were loaded and unloaded since the last look; opens agents, tells them. */
void agents_look(void);

/* In the child of a fork: nobody else is looking. */
void agents_after_fork(void);

#endif

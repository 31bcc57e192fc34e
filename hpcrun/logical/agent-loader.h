/* Normal context: opens agents (agents/agent.h) and announces loaded and unloaded modules to them.
 *
 * The launcher passes the installed agents and how to recognize their runtimes. An agent is opened
 * when a module of its runtime is in the process. This is checked where a program may open
 * libraries: just before main, before a thread is created, after a dlclose. */
#ifndef HPCRUN_LOGICAL_AGENT_LOADER_H
#define HPCRUN_LOGICAL_AGENT_LOADER_H

#include <stdint.h>

/* Parses the value of HPCRUN_AGENTS; opens nothing yet. Its entries are joined by ';':
 *
 *     NAME|RULES VERSION|PATH|RECOGNITION|RECOGNITION...
 *
 * RECOGNITION is "note:OWNER", "module:NAME", "symbol:NAME" or "threads:any", from the agent's
 * rules file. */
void agents_init(const char *list);

/* Opens agents whose runtime was loaded since the last call, and announces modules to all agents. Does
 * nothing if another thread does it at the moment. */
void agents_update(void);

/* Around a dlclose: the destructors that it runs may close libraries, too, and create threads. Until the outermost one
 * has ended, its thread updates nothing: an agent would open a library that has ended, and glibc 2.41 runs its
 * constructors again. The end waits for another thread's update, since callers in an unloaded module must not be taken
 * for those of the next module at its address. At most 10 ms, see agent-loader.c. */
void agents_unload_begin(void);
void agents_unload_end(void);

/* The program is about to create a thread with this start routine: opens the agent for plain threads,
 * if it may be used and the routine is no runtime's. Call it after agents_update. */
void agents_expect_thread(uint64_t routine);

/* In the child of a fork, where no other thread runs agents_update. */
void agents_after_fork(void);

#endif

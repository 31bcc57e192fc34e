/* Agents for the measured process. They run here, and read it through the unwinder's memory:
 *
 *     agents/pthread   plain threads: counts threads that work by their slots (logical/wait-slots.h), which
 *                      foreign-waits.h writes
 *     agents/python    begins with the module that has the interpreter */
#ifndef HPCRUN_OUTSIDE_LINKED_AGENTS_H
#define HPCRUN_OUTSIDE_LINKED_AGENTS_H

#include "hpcrun/outside/caught-memory.h"
#include "hpcrun/outside/module-image.h"

#include <ucontext.h>

/* The process has several threads: begins to use the agent for plain threads, unless the user wants none. True if
 * it has begun now: then the modules that are there must be added to it. */
bool plain_threads_begin(void);
void plain_threads_add(const struct module_image *image);

/* A module comes or goes. */
void linked_agents_add(const struct module_image *image);
void linked_agents_remove(const struct module_image *image);

/* What the reader's threads must know to read for an agent (agent.share); 0 bytes: there is nothing to read. */
size_t linked_agents_share(void *to, size_t room);

/* Whether an agent reads the process, and what it needs of a thread that does not run now (caught-memory.h); NULL:
 * nothing. The caller frees. */
bool linked_agents_are_read(void);
struct caught *linked_agents_catch(int tid, uint64_t time);

/* For the handler of SIGSEGV and SIGBUS: ends what reads a module's image, if something does. */
bool linked_agents_fix_up(ucontext_t *context);

#endif

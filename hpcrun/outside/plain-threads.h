/* The agent for plain threads (agents/pthread) for the measured process: it counts threads that work by their slots
 * (logical/wait-slots.h), which foreign-waits.h writes. It is the only agent that needs nothing of the process. */
#ifndef HPCRUN_OUTSIDE_PLAIN_THREADS_H
#define HPCRUN_OUTSIDE_PLAIN_THREADS_H

#include "hpcrun/outside/module-image.h"

/* The process has several threads: begins to use the agent, unless the user wants none. True if it has begun now: then
 * the modules that are there must be added. */
bool plain_threads_begin(void);

/* A module comes or goes. */
void plain_threads_add(const struct module_image *image);
void plain_threads_remove(const struct module_image *image);

#endif

/* What libomp tells of its threads: events of OMPT. They keep in the thread's slot
 * (common/thread-slots.h) whether it works or waits, and links to the contexts of what it runs
 * (scopes.h). Normal context, in the thread of the event. */
#ifndef AGENTS_OPENMP_EVENTS_H
#define AGENTS_OPENMP_EVENTS_H

#include "agents/openmp/ompt.h"

#include <stdbool.h>

/* Registers for all events. False: libomp does not announce one of them. */
bool events_register(ompt_set_callback_t set_callback);

/* Any context. Whether libomp has created a thread. */
bool events_have_threads(void);

#endif

/* The processes that are there when measuring begins: their events are opened, and they are known (traced-processes.h)
 * with their mappings. */
#ifndef HPCRUN_OUTSIDE_FIRST_PROCESSES_H
#define HPCRUN_OUTSIDE_FIRST_PROCESSES_H

#include "hpcrun/outside/given-processes.h"

/* False, after a message, if they can't be measured. A command is not executed yet. */
bool first_processes_begin(const struct outside_work *work);

/* The same for a command that has begun and gains rights: the kernel ends its events. */
bool first_processes_begin_again(void);

#endif

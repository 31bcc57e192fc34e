/* Threads of the reader, one on each CPU, which read at the instant of a sample (caught-memory.h) what an agent needs,
 * and the rest of a stack that is deeper than its copy. They run only if a measured process has an interpreter or deep
 * stacks. */
#ifndef HPCRUN_OUTSIDE_FRAME_CATCHER_H
#define HPCRUN_OUTSIDE_FRAME_CATCHER_H

#include "hpcrun/outside/caught-memory.h"

/* From now on samples of this process are caught. `queue`: its note is of agent.share, and stays until
 * catchers_forget; NULL: there is no agent, and may be one in a later call. Starts the threads with the first one.
 * Returns 0, or a negative errno: -ENOSPC: there are too many processes. */
int catchers_watch(int pid, const struct record_queue *queue);
void catchers_forget(int pid);

/* What was caught at a sample; NULL: nothing. Calls come in the order of time. It is valid until it is released, which
 * empties the queue of its catcher: an empty one begins again at its first page, which is in the CPU's cache. */
const struct caught *catchers_take(const struct perf_event_header *sample);
void catchers_release(void);

#endif

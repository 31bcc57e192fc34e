/* Normal context. The first and the last use of a record (thread.h) for a thread. */
#ifndef HPCRUN_THREAD_THREAD_START_H
#define HPCRUN_THREAD_THREAD_START_H

#include "hpcrun/thread/thread.h"

/* Initializes the fields that are new for every thread, for the calling one. Another thread's tid, clocks
 * and waits must be set after it. */
void thread_start_over(struct thread *thread);

/* The thread's end is written: its record leaves the list, and may be used for another one. */
void thread_retire(struct thread *thread);

#endif

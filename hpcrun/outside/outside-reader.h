/* Reads what the kernel reports of the measured processes, and gives each process image a worker (outside-worker.h), which
 * gets its records by a queue. The reader keeps only what it has to tell a worker. So the memory of every new worker,
 * a copy of the reader's, is that of a program that has measured nothing yet.
 *
 *     the kernel's rings  -->  reader  -->  queue of process 100  -->  worker of 100: HOST-100-...-0.hpcrun
 *       (perf-rings.h)                 -->  queue of process 101  -->  worker of 101, a child of 100
 *
 * A worker begins at the first sample of an image: children that have none need no worker, and have no file.
 * An exec ends the worker of one image. */
#ifndef HPCRUN_OUTSIDE_OUTSIDE_READER_H
#define HPCRUN_OUTSIDE_OUTSIDE_READER_H

#include "hpcrun/outside/outside-work.h"

/* Measures these processes and their descendants until these processes have ended, the time is over, or the signal
 * SIGINT or SIGTERM comes; the whole system until then. Returns an exit status; prints a message if it is not 0. */
int outside_read(const struct outside_work *work);

#endif

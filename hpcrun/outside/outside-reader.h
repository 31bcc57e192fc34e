/* Reads what the kernel reports of the measured processes, and gives each process image a worker (outside-worker.h),
 * which gets its records by a queue. The reader keeps only what it has to tell a worker. So the memory of every new
 * worker, a copy of the reader's, is that of a program that has measured nothing yet.
 *
 *     the kernel's rings  -->  reader  -->  queue of process 100  -->  worker of 100: HOST-100-...-0.hpcrun
 *       (perf-rings.h)                 -->  queue of process 101  -->  worker of 101, a child of 100
 *
 * N busy threads on 2 CPUs make as many samples as 2 threads. What their number costs, and what keeps it from losing
 * samples:
 *
 *   a CPU for reader and workers    a session, a short slice, and priority (hpcrun/base/cpu-priority.h)
 *   events, 2 for each thread       they count only when all are open (perf_events_enable); rings are read while they
 *                                   are opened again
 *   a record for each thread        a worker makes it at the thread's first sample, about 0.1 ms (estimated);
 *                                   meanwhile samples wait in the rings (perf_rings_read), and their copies are small
 *                                   (stack_copies_begin)
 *   its stack                       /proc/PID/maps is read once for all threads (foreign-maps.h)
 *   what is too much all the same   smaller copies, then fewer samples (copy-size.h); losses are counted
 *                                   (record-queue.h, perf_events_take_losses)
 *
 * Events of a thread on each CPU, with `inherit`, are what perf offers for processes that run: one event for all
 * threads of a process exists only if the process's first thread had it before it created the others, as with a
 * command.
 *
 * A worker begins at the first sample of an image: children that have none need no worker, and have no file.
 * An exec ends the worker of one image. */
#ifndef HPCRUN_OUTSIDE_OUTSIDE_READER_H
#define HPCRUN_OUTSIDE_OUTSIDE_READER_H

#include "hpcrun/outside/given-processes.h"

/* Measures these processes and their descendants until these processes have ended, the time is over, or the signal
 * SIGINT, SIGTERM or SIGHUP comes; the whole system until then. Returns an exit status; prints a message if it is not
 * 0. */
int outside_read(const struct outside_work *work);

#endif

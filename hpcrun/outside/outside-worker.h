/* Measures one process image from outside, in a process of its own: all that the sampler keeps of a process
 * (process/process.h, code/module-instances.h, record/measurement-file.h) is of the measured one. */
#ifndef HPCRUN_OUTSIDE_OUTSIDE_WORKER_H
#define HPCRUN_OUTSIDE_OUTSIDE_WORKER_H

#include "hpcrun/outside/measured-process.h"
#include "hpcrun/outside/record-queue.h"

/* Records what comes through the queue, until that ends. `is_main`: the user asked for this process, so messages
 * about it are printed; those about others are in the log. Returns an exit status: OUTSIDE_TOO_LATE if the process has
 * ended before it was looked at, and too little is known of it. */
#define OUTSIDE_TOO_LATE 2
int outside_work(struct measured_image *image, struct record_queue *queue, bool is_main);

#endif

/* The workers of process images (outside-worker.h), as their parent sees them: it forks a worker, puts the records of
 * the process into its queue, and reaps it when it has written its measurement. */
#ifndef HPCRUN_OUTSIDE_IMAGE_WORKERS_H
#define HPCRUN_OUTSIDE_IMAGE_WORKERS_H

#include "hpcrun/outside/record-queue.h"
#include "hpcrun/outside/traced-processes.h"

struct worker_counts {
    uint64_t images;       /* that have or had a worker */
    int64_t unmeasured[3]; /* processes without a worker, by `lack`; the first number means nothing */
    uint64_t too_late;     /* workers whose image had ended before they could look at it */
    struct measured measured; /* by all that have ended */
    uint64_t without_sample;  /* processes that ended before they had one, so they needed no worker */
    bool is_damaged;       /* a worker has failed */
};
struct worker_counts *image_workers_counts(void);

/* `command`: the command line of the given process; NULL: unknown. `given`: the number of given processes; 0: all are
 * measured. */
void image_workers_init(char *const *command, size_t given);

/* Whether given processes have a line each at their ends: not if they are many. Then the reader's line says where the
 * measurement is. */
bool image_workers_have_lines(void);

/* Gives the image a worker, unless there are too many, of hpcrun's or of the user's processes, or too little memory. */
void image_worker_begin(struct traced *process);

/* There will be no more records of the image. Does nothing if it has no worker. */
void image_worker_end(struct traced *process, enum queue_end why);

/* Takes notice of the workers that have ended. */
void image_workers_reap(void);

/* Waits until all workers have ended, whatever signals come: else hpcrun would end before there are all
 * measurements. */
void image_workers_await(void);

#endif

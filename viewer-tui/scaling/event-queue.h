/* The next event of each worker in a simulation, earliest first. */
#ifndef VIEWER_EVENT_QUEUE_H
#define VIEWER_EVENT_QUEUE_H

#include "lib/alloc.h"

#include <stdint.h>

#define NO_WORKER UINT32_MAX

/* A binary heap. Zeroed memory is not a queue. */
struct event_queue {
    double *times;     /* by worker; INFINITY: it has no event */
    uint32_t *heap, n; /* workers with events */
    uint32_t *places;  /* by worker: index in the heap */
};

/* Workers have numbers below `workers`. The caller frees with event_queue_free. */
struct event_queue event_queue_make(uint32_t workers);
void event_queue_free(struct event_queue *queue);

/* Sets the time of the worker's event; INFINITY: it has none. */
void event_queue_set(struct event_queue *queue, uint32_t worker, double time);

/* The worker with the earliest event, of several with the same time the first one; NO_WORKER: there
 * is no event. */
uint32_t event_queue_first(const struct event_queue *queue);

#endif

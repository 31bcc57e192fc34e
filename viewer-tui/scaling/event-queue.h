/* Events of a simulation, earliest first. Each belongs to a worker in one of its states; when the
 * worker has changed its state, the event is void, and is dropped when it comes up. */
#ifndef VIEWER_EVENT_QUEUE_H
#define VIEWER_EVENT_QUEUE_H

#include "lib/alloc.h"

#include <stdbool.h>
#include <stdint.h>

struct event {
    double time;
    uint32_t worker, state;
};

/* A binary heap. */
struct event_queue {
    VEC(struct event) events;
};

void event_queue_add(struct event_queue *queue, struct event event);

/* The earliest event; NULL: there is none. */
const struct event *event_queue_first(const struct event_queue *queue);

void event_queue_drop_first(struct event_queue *queue);

#endif

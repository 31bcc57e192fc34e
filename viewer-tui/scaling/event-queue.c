#include "viewer-tui/scaling/event-queue.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

struct event_queue event_queue_make(uint32_t workers)
{
    struct event_queue queue = {.times = mem_alloc(workers * sizeof *queue.times),
                                .heap = mem_alloc(workers * sizeof *queue.heap),
                                .places = mem_alloc(workers * sizeof *queue.places)};
    for (uint32_t i = 0; i < workers; i++)
        queue.times[i] = INFINITY;
    return queue;
}

void event_queue_free(struct event_queue *queue)
{
    free(queue->times);
    free(queue->heap);
    free(queue->places);
}

/* Whether the event at a place comes before that at another one. */
static bool is_before(const struct event_queue *queue, uint32_t a, uint32_t b)
{
    uint32_t x = queue->heap[a], y = queue->heap[b];
    return queue->times[x] < queue->times[y] || (queue->times[x] == queue->times[y] && x < y);
}

static void swap(struct event_queue *queue, uint32_t a, uint32_t b)
{
    uint32_t x = queue->heap[a], y = queue->heap[b];
    queue->heap[a] = y;
    queue->heap[b] = x;
    queue->places[x] = b;
    queue->places[y] = a;
}

static void move_up(struct event_queue *queue, uint32_t at)
{
    for (; at > 0 && is_before(queue, at, (at - 1) / 2); at = (at - 1) / 2)
        swap(queue, at, (at - 1) / 2);
}

static void move_down(struct event_queue *queue, uint32_t at)
{
    for (;;) {
        uint32_t least = at, child = 2 * at + 1;
        for (uint32_t c = child; c < child + 2 && c < queue->n; c++)
            least = is_before(queue, c, least) ? c : least;
        if (least == at)
            break;
        swap(queue, at, least);
        at = least;
    }
}

static void take_out(struct event_queue *queue, uint32_t worker)
{
    uint32_t at = queue->places[worker], last = --queue->n;
    if (at == last)
        return;
    swap(queue, at, last);
    move_up(queue, at);
    move_down(queue, at);
}

void event_queue_set(struct event_queue *queue, uint32_t worker, double time)
{
    bool was_in = isfinite(queue->times[worker]);
    if (was_in && !isfinite(time))
        take_out(queue, worker);
    queue->times[worker] = time;
    if (!isfinite(time))
        return;
    if (!was_in) {
        queue->places[worker] = queue->n;
        queue->heap[queue->n++] = worker;
    }
    move_up(queue, queue->places[worker]);
    move_down(queue, queue->places[worker]);
}

uint32_t event_queue_first(const struct event_queue *queue)
{
    return queue->n ? queue->heap[0] : NO_WORKER;
}

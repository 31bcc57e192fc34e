#include "viewer-tui/scaling/event-queue.h"

/* Events of the same time come in the order of their workers, so that a simulation repeats. */
static bool is_before(const struct event *a, const struct event *b)
{
    return a->time < b->time || (a->time == b->time && a->worker < b->worker);
}

static void swap(struct event *a, struct event *b)
{
    struct event c = *a;
    *a = *b;
    *b = c;
}

void event_queue_add(struct event_queue *queue, struct event event)
{
    vec_push(&queue->events, event);
    struct event *at = queue->events.at;
    for (size_t i = queue->events.n - 1; i > 0; i = (i - 1) / 2) {
        if (!is_before(&at[i], &at[(i - 1) / 2]))
            break;
        swap(&at[i], &at[(i - 1) / 2]);
    }
}

const struct event *event_queue_first(const struct event_queue *queue)
{
    return queue->events.n ? queue->events.at : NULL;
}

void event_queue_drop_first(struct event_queue *queue)
{
    struct event *at = queue->events.at;
    size_t n = --queue->events.n, i = 0;
    at[0] = at[n];
    for (;;) {
        size_t least = i, child = 2 * i + 1;
        for (size_t c = child; c < child + 2 && c < n; c++)
            least = is_before(&at[c], &at[least]) ? c : least;
        if (least == i)
            break;
        swap(&at[i], &at[least]);
        i = least;
    }
}

#include "hpcrun/config/run-metrics.h"

static unsigned add(struct metrics *metrics, const char *name, unsigned event)
{
    metrics->at[metrics->count] = (struct metric){.name = name, .event = event};
    return metrics->count++;
}

void metrics_init(struct metrics *metrics, const struct config *config)
{
    metrics->count = 0;
    for (unsigned i = 0; i < config->event_count; i++) {
        const struct event *event = &config->events[i];
        metrics->work[i] = add(metrics, event_is_time(event) ? "work" : event->name, i);
        metrics->blocked[i] =
            event->kind == EVENT_REALTIME ? add(metrics, "blocked", i) : NO_METRIC;
        bool of_workers = event_is_time(event) && config->agents[0];
        metrics->idleness[i] = of_workers ? add(metrics, "idleness", i) : NO_METRIC;
        metrics->incomplete[i] = of_workers ? add(metrics, "incomplete", i) : NO_METRIC;
    }
}

#include "viewer-tui/db/fates.h"

#include "lib/measurement-format.h"

#include <string.h>

static struct event_fates *event_named(struct fates *fates, const char *name)
{
    for (size_t i = 0; i < fates->events.n; i++)
        if (strcmp(fates->events.at[i].event, name) == 0)
            return &fates->events.at[i];
    vec_push(&fates->events, (struct event_fates){.event = name, .unit = ""});
    return &fates->events.at[fates->events.n - 1];
}

static struct fate_total *fate_named(struct event_fates *event, const char *name)
{
    for (size_t i = 0; i < event->fates.n; i++)
        if (strcmp(event->fates.at[i].name, name) == 0)
            return &event->fates.at[i];
    vec_push(&event->fates, (struct fate_total){.name = name});
    return &event->fates.at[event->fates.n - 1];
}

static void count_source(struct event_fates *event, const char *source, const char *note)
{
    for (size_t i = 0; i < event->sources.n; i++) {
        struct source_use *use = &event->sources.at[i];
        if (strcmp(use->source, source) == 0 && strcmp(use->note, note) == 0) {
            use->threads++;
            return;
        }
    }
    vec_push(&event->sources, (struct source_use){source, note, 1});
}

/* The samples of an event, and the time on the threads' own clocks during which it was sampled. */
struct clock {
    double samples, seconds;
};

static void add_thread_event(struct fates *fates, const json_t *sampled, struct clock *clocks,
                             size_t n_clocks)
{
    struct event_fates *event = event_named(fates, run_text(sampled, "event"));
    count_source(event, run_text(sampled, "source"), run_text(sampled, "note"));
    double rate = run_number(sampled, "rate"), samples = run_number(sampled, "samples");
    size_t number = (size_t)(event - fates->events.at);
    if (rate > 0 && number < n_clocks) {
        clocks[number].samples += samples;
        clocks[number].seconds += samples / rate;
    }
    const char *name;
    json_t *described;
    json_object_foreach(json_object_get(sampled, "fates"), name, described)
    {
        struct fate_total *fate = fate_named(event, name);
        double count = run_number(described, "count");
        fate->count += count > 0 && count < 1e18 ? (uint64_t)count : 0; /* a damaged file may say anything */
        fate->amount += run_number(described, "amount");
    }
}

/* Events beyond this number get no rate. */
#define MOST_CLOCKS 64

void fates_read(struct fates *fates, const json_t *run)
{
    struct clock clocks[MOST_CLOCKS] = {0};
    *fates = (struct fates){0};
    json_each (described, json_object_get(run, "events")) {
        struct event_fates *event = event_named(fates, run_text(described, "name"));
        event->unit = run_text(described, "unit");
        event->period = run_number(described, "period");
        event->wanted_rate = run_number(described, "rate");
    }
    json_each (process, json_object_get(run, "processes"))
        json_each (thread, json_object_get(process, "threads"))
            json_each (described, json_object_get(thread, "events"))
                add_thread_event(fates, described, clocks, MOST_CLOCKS);
    for (size_t i = 0; i < fates->events.n && i < MOST_CLOCKS; i++)
        if (clocks[i].seconds > 0)
            fates->events.at[i].rate = clocks[i].samples / clocks[i].seconds;
}

void fates_free(struct fates *fates)
{
    for (size_t i = 0; i < fates->events.n; i++) {
        vec_free(&fates->events.at[i].fates);
        vec_free(&fates->events.at[i].sources);
    }
    vec_free(&fates->events);
}

const char *fate_meaning(const char *name)
{
    static const struct {
        uint64_t code;
        const char *meaning;
    } meanings[] = {
        {FATE_RECORDED, "in the views, at their call paths"},
        {FATE_IDLE, "worker without work, or waiting for the runtime; charged to no code"},
        {FATE_NOBODY_WORKING, "no worker was working; charged to no code"},
        {FATE_DROPPED_OWN_CODE, "the profiler itself was running"},
        {FATE_DROPPED_NO_MEMORY, "out of memory for recording"},
        {FATE_DROPPED_ENDING, "the thread or process was ending"},
        {FATE_DROPPED_BEING_WRITTEN, "measurements were being written"},
        {FATE_PARTIAL_NO_FDE, "code without unwind information"},
        {FATE_PARTIAL_NO_RULE, "unwind information that is not supported"},
        {FATE_PARTIAL_NOT_READABLE, "the stack could not be read"},
        {FATE_PARTIAL_NOT_A_RETURN_ADDRESS, "no return address on the stack"},
        {FATE_PARTIAL_TOO_DEEP, "the call path is too long"},
        {FATE_PARTIAL_NO_PROGRESS, "the unwinder made no progress"},
        {FATE_PARTIAL_BUDGET, "finding a caller without unwind information would take too long"},
        {FATE_KERNEL_UNATTRIBUTED, "kernel time; its call paths may not be sampled"},
    };
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (strcmp(name, fate_name(meanings[i].code)) == 0)
            return meanings[i].meaning;
    return NULL;
}

#include "hpcrun/life/sampling-switch.h"

#include "hpcrun/process/process.h"
#include "hpcrun/source/sample-source.h"
#include "hpcrun/thread/thread-list.h"

static void pause_events(struct thread *thread, void *data)
{
    (void)data;
    for (unsigned i = 0; i < thread->event_count; i++)
        source_pause(&thread->events[i]);
}

static void resume_events(struct thread *thread, void *data)
{
    (void)data;
    for (unsigned i = 0; i < thread->event_count; i++)
        source_resume(thread, &thread->events[i]);
}

static void close_events(struct thread *thread, void *data)
{
    (void)data;
    for (unsigned i = 0; i < thread->event_count; i++)
        source_close(&thread->events[i]);
}

void events_pause(void)
{
    threads_visit_events(pause_events, NULL);
}

void events_resume(void)
{
    threads_visit_events(resume_events, NULL);
}

void events_close(void)
{
    threads_visit_events(close_events, NULL);
}

void process_set_sampling(bool on)
{
    if (!process.active || atomic_exchange(&sampling.on, on) == on)
        return;
    if (on)
        events_resume();
    else
        events_pause();
}

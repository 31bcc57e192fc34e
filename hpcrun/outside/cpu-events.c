#include "hpcrun/outside/cpu-events.h"

#include "hpcrun/outside/image-workers.h"
#include "hpcrun/outside/perf-events.h"
#include "hpcrun/outside/perf-rings.h"
#include "hpcrun/outside/short-turns.h"
#include "hpcrun/outside/traced-processes.h"
#include "hpcrun/process/process.h"

#define INTERVAL_NS 250000000u

/* Samples of all CPUs in a second. One of another program takes about 10 us of its CPU (estimated), most of it to copy its
 * stack: that is a fifth of one CPU. */
#define MOST_SAMPLES 20000u

static struct {
    uint64_t looked;  /* CLOCK_MONOTONIC */
    unsigned reasons; /* enum wants_cpus */
    bool were_tried, are_open;
    const char *better; /* where they would be open; NULL: they are, or there is no reason */
} cpu_events;

/* Frames of an interpreter can be read after few samples of a thread that runs on soon: events of threads have fewer
 * samples where it waits. */
static void look_at(struct traced *process)
{
    unsigned wants = process->queue ? record_queue_wants_cpus(process->queue) : 0;
    cpu_events.reasons |= process->wish == QUEUE_WISHES_AGENT ? wants & ~(unsigned)SHORT_TURNS : wants;
}

static const char *what_is_better(void)
{
    const struct event *event = &process.config.events[0];
    if (event->kind != EVENT_CPUTIME)
        return "CPUTIME, measured by root,";
    if (perf_rings_cpus() * (1000000000u / event->period) > MOST_SAMPLES)
        return "a lower rate, measured by root,";
    return NULL;
}

bool cpu_events_are_wanted(uint64_t now)
{
    if (perf_events_are_of_system() || now - cpu_events.looked < INTERVAL_NS)
        return false;
    cpu_events.looked = now;
    traced_visit(look_at);
    if (image_workers_counts()->without_sample >= MANY_UNSEEN)
        cpu_events.reasons |= SHORT_LIVES;
    if (!cpu_events.reasons || cpu_events.were_tried)
        return false;
    cpu_events.better = what_is_better();
    cpu_events.were_tried = !cpu_events.better;
    return cpu_events.were_tried;
}

void cpu_events_note(bool are_open)
{
    cpu_events.are_open = are_open;
    cpu_events.better = are_open ? NULL : "root's hpcrun";
}

void cpu_events_add(struct text *line)
{
    if (cpu_events.are_open)
        text_add(line, "; samples by the CPUs' clocks, since threads wait often or end soon");
    if (cpu_events.better && cpu_events.reasons & SHORT_TURNS) {
        text_add(line, "; threads wait so often that perf slows them down");
        text_add(line, perf_events_see_kernel() ? ", and that the calls they wait in have too much CPU time: " : ": ");
        text_add(line, cpu_events.better);
        text_add(line, " does better");
    }
}

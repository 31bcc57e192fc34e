#include "hpcrun/launch/events.h"

#include "hpcrun/launch/pmu-events.h"
#include "hpcrun/source/source-perf.h"
#include "lib/diag.h"

#include <stdio.h>
#include <string.h>

#define DEFAULT_RATE 200.0

static void set_time_period(const struct event_request *request, struct event *event)
{
    double rate = request->rate > 0 ? request->rate : DEFAULT_RATE;
    event->period = request->period ? request->period : (uint64_t)(1e9 / rate + 0.5);
}

/* Where CPUTIME comes from here; said when it is not perf's task clock. */
static void explain_cpu_time(void)
{
    long result = perf_probe_task_clock();
    if (result < 0)
        diag_note(NULL, "CPUTIME uses POSIX timers: perf_event_open: %s", strerror((int)-result));
}

static void configure(const struct event_request *request, struct event *event)
{
    *event = (struct event){0};
    strcpy(event->name, request->name);
    if (strcmp(request->name, "CPUTIME") == 0) {
        event->kind = EVENT_CPUTIME;
        set_time_period(request, event);
        explain_cpu_time();
    } else if (strcmp(request->name, "REALTIME") == 0) {
        event->kind = EVENT_REALTIME;
        set_time_period(request, event);
    } else {
        const char *why = pmu_event(request->name, event);
        if (why)
            diag_fatal(NULL, "event %s can't be used: %s (hpcrun -L lists events)", request->name,
                       why);
        if (request->period)
            event->period = request->period;
        if (event->options & EVENT_EXCLUDE_KERNEL)
            diag_note(NULL, "event %s: what happens in the kernel is not counted: not permitted",
                      request->name);
    }
}

void events_configure(const struct options *options, struct config *config)
{
    static const struct event_request by_default = {.name = "CPUTIME"};
    if (options->event_count == 0) {
        configure(&by_default, &config->events[0]);
        config->events[0].options |= EVENT_CHOSEN_BY_DEFAULT;
        config->event_count = 1;
        return;
    }
    for (unsigned i = 0; i < options->event_count; i++) {
        for (unsigned k = 0; k < i; k++)
            if (strcmp(options->events[i].name, options->events[k].name) == 0)
                diag_usage("event %s is given twice", options->events[i].name);
        configure(&options->events[i], &config->events[i]);
    }
    config->event_count = options->event_count;
}

static void print_event(const char *name, const char *description, const char *why)
{
    if (why)
        printf("%-40s not here: %s\n", name, why);
    else
        printf("%-40s %s\n", name, description ? description : "");
}

int events_list(void)
{
    long result = perf_probe_task_clock();
    printf("%-40s time on a CPU (default, 200/s); source here: ", "CPUTIME");
    if (result == 0)
        printf("perf task-clock\n");
    else
        printf("POSIX timers (perf_event_open: %s)\n", strerror((int)-result));
    print_event("REALTIME", "time, waiting included; source: POSIX timers", NULL);
    const char *problem = pmu_list(print_event);
    if (problem)
        printf("PAPI presets and native events: %s\n", problem);
    return 0;
}

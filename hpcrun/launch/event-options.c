#include "hpcrun/launch/event-options.h"

#include "hpcrun/launch/pmu-events.h"
#include "hpcrun/source/source-perf.h"
#include "lib/alloc.h"
#include "lib/diag.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Mean time between samples, ns. */
static uint64_t interval_of(const struct event_request *request)
{
    return request->rate > 0 ? (uint64_t)(1e9 / request->rate + 0.5) : DEFAULT_INTERVAL;
}

static void set_time_period(const struct event_request *request, struct event *event)
{
    event->period = request->period ? request->period : interval_of(request);
}

/* Without a period, a counter is sampled by rate. No fixed count suits all: a period of 1 is right
 * for page faults, but samples each nanosecond of a clock. */
static void set_count_period(const struct event_request *request, struct event *event)
{
    if (request->period)
        event->period = request->period;
    else
        event->interval = interval_of(request);
}

/* The reason why the task clock is refused; static, until the next call. */
static const char *perf_refusal(long error)
{
    static char buffer[256];
    struct text text = TEXT(buffer);
    buffer[0] = '\0';
    perf_explain_refusal(&text, error);
    return buffer;
}

/* Prints the source of CPUTIME if it is without perf's task clock. */
static void explain_cpu_time(void)
{
    long result = perf_probe_task_clock();
    if (result < 0)
        diag_note(NULL, "CPUTIME uses POSIX timers: %s", perf_refusal(result));
}

/* An unknown event is a mistake in the command line: status 2. */
static void refuse_event(const char *name, const char *why)
{
    diag_error(NULL, "event %s can't be used: %s (hpcrun -L lists events)", name, why);
    exit(why == pmu_no_such_event ? 2 : 1);
}

static void configure(const struct event_request *request, struct event *event)
{
    assert(strlen(request->name) < MAX_EVENT_NAME);
    *event = (struct event){0};
    strcpy(event->name, request->name);
    if (strcmp(request->name, "CPUTIME") == 0) {
        event->kind = EVENT_CPUTIME;
        set_time_period(request, event);
    } else if (strcmp(request->name, "REALTIME") == 0) {
        event->kind = EVENT_REALTIME;
        set_time_period(request, event);
    } else {
        const char *why = pmu_event(request->name, event);
        if (why)
            refuse_event(request->name, why);
        set_count_period(request, event);
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

/* An event of pmu_list. */
struct listed_event {
    char *name, *description; /* owned */
    char *why;                /* why it can't be used; owned; NULL: it can */
};

static VEC(struct listed_event) listed;

static void remember_event(const char *name, const char *description, const char *why)
{
    vec_push(&listed,
             (struct listed_event){.name = mem_strdup(name),
                                   .description = mem_strdup(description ? description : ""),
                                   .why = why ? mem_strdup(why) : NULL});
}

static void forget_events(void)
{
    for (size_t i = 0; i < listed.n; i++) {
        free(listed.at[i].name);
        free(listed.at[i].description);
        free(listed.at[i].why);
    }
    vec_free(&listed);
}

void events_explain(const struct config *config)
{
    for (unsigned i = 0; i < config->event_count; i++) {
        const struct event *event = &config->events[i];
        if (event->kind == EVENT_CPUTIME)
            explain_cpu_time();
        if (event->options & EVENT_EXCLUDE_KERNEL)
            diag_note(NULL,
                      "event %s counts user code only: counting in the kernel is not permitted",
                      event->name);
    }
}

static void print_usable(void)
{
    for (size_t i = 0; i < listed.n; i++)
        if (!listed.at[i].why)
            printf("%-40s %s\n", listed.at[i].name, listed.at[i].description);
}

static void print_unusable(void)
{
    for (size_t i = 0; i < listed.n; i++)
        if (listed.at[i].why)
            printf("%-40s not here: %s\n", listed.at[i].name, listed.at[i].why);
}

/* Whether an earlier event in the list has the same reason. */
static bool reason_is_known(size_t which)
{
    for (size_t i = 0; i < which; i++)
        if (listed.at[i].why && strcmp(listed.at[i].why, listed.at[which].why) == 0)
            return true;
    return false;
}

static size_t count_reason(const char *why)
{
    size_t count = 0;
    for (size_t i = 0; i < listed.n; i++)
        count += listed.at[i].why && strcmp(listed.at[i].why, why) == 0;
    return count;
}

/* One line per reason. */
static void count_unusable(void)
{
    bool any = false;
    for (size_t i = 0; i < listed.n; i++) {
        if (!listed.at[i].why || reason_is_known(i))
            continue;
        printf("%s%zu more can't be used here: %s\n", any ? "" : "\n",
               count_reason(listed.at[i].why), listed.at[i].why);
        any = true;
    }
    if (any)
        printf("hpcrun -L all lists them\n");
}

int events_list(bool all)
{
    long result = perf_probe_task_clock();
    printf("%-40s time on a CPU (default, 200/s); source here: ", "CPUTIME");
    if (result == 0)
        printf("timers and perf task-clock\n");
    else
        printf("POSIX timers (%s)\n", perf_refusal(result));
    printf("%-40s time, waiting included; source: POSIX timers\n", "REALTIME");
    const char *problem = pmu_list(remember_event);
    print_usable();
    if (all)
        print_unusable();
    else
        count_unusable();
    forget_events();
    if (problem)
        printf("PAPI presets and native events: %s\n", problem);
    return 0;
}

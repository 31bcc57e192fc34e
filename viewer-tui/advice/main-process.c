#include "viewer-tui/advice/main-process.h"

#include "viewer-tui/base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double process_cpu(const json_t *process)
{
    size_t i;
    json_t *thread;
    double cpu = 0;
    json_array_foreach(json_object_get(process, "threads"), i, thread)
    {
        cpu += run_number(thread, "cpu");
    }
    return cpu;
}

/* A sample by the wall clock costs a thread that waits less than this (measured: 18 to 30 us next to other load). So
 * CPU time up to it may be hpcrun's own. */
#define SAMPLE_OF_WAITING 100e-6

static double work_of(const json_t *thread)
{
    size_t i;
    json_t *event;
    double samples = 0;
    json_array_foreach(json_object_get(thread, "events"), i, event)
    {
        if (strcmp(run_text(event, "event"), "REALTIME") == 0)
            samples += run_number(event, "samples");
    }
    return fmax(run_number(thread, "cpu") - SAMPLE_OF_WAITING * samples, 0);
}

/* An idle CPU takes so many seconds at most to wake up for a thread (measured: 13 us on average, in a virtual machine): a
 * part of the scheduler's account that others have not caused. */
#define WAKE_UP 100e-6

static void add_threads(struct main_process *main)
{
    size_t i;
    json_t *thread;
    json_array_foreach(json_object_get(main->process, "threads"), i, thread)
    {
        struct process_thread new = {
            .profile = (uint32_t)run_number(thread, "profile"),
            .index = (unsigned)run_number(thread, "index"),
            .name = run_text(thread, "name"),
            .start_routine = run_text(thread, "start_routine"),
            .is_initial = strcmp(run_text(thread, "kind"), "initial") == 0,
            .begin = run_number(thread, "begin"),
            .cpu = run_number(thread, "cpu"),
            .work = work_of(thread),
            .ready = fmax(run_number(thread, "ready") - WAKE_UP * run_number(thread, "timeslices"), 0),
            .wall = run_number(thread, "wall"),
        };
        vec_push(&main->threads, new);
    }
}

/* A thread begins or ends. */
struct change {
    double at;
    int by; /* 1 or -1 */
};

static int compare(const void *left, const void *right)
{
    const struct change *a = left, *b = right;
    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    return b->by - a->by;
}

/* A thread that ends may overlap with the next one for a moment: so many threads count that live for this share of the
 * time for which any does. */
#define NOTABLE_LIFE 0.05

/* The most threads that lived at the same time for the notable share of the time. */
static size_t most_of(const double *seconds_with, size_t n)
{
    double all = 0, with_more = 0;
    for (size_t alive = 1; alive <= n; alive++)
        all += seconds_with[alive];
    for (size_t alive = n; alive > 0; alive--) {
        with_more += seconds_with[alive];
        if (with_more >= NOTABLE_LIFE * all)
            return alive;
    }
    return 0;
}

/* A thread with less than this share of the CPU time is a helper, and all of these together have less than that. */
#define HELPER_SHARE  0.01
#define HELPERS_SHARE 0.05

static void find_helpers(struct main_process *main)
{
    double helpers = 0;
    for (size_t i = 0; i < main->threads.n; i++) {
        struct process_thread *thread = &main->threads.at[i];
        thread->is_helper = thread->work < HELPER_SHARE * main->cpu;
        helpers += thread->is_helper ? thread->work : 0;
    }
    for (size_t i = 0; i < main->threads.n; i++)
        main->threads.at[i].is_helper &= helpers < HELPERS_SHARE * main->cpu;
}

static size_t most_alive(const struct main_process *main, bool with_helpers)
{
    VEC(struct change) changes = {0};
    size_t alive = 0, n = main->threads.n;
    double *seconds_with = mem_alloc((n + 1) * sizeof *seconds_with); /* by number of threads alive */
    for (size_t i = 0; i < main->threads.n; i++) {
        const struct process_thread *thread = &main->threads.at[i];
        if (!with_helpers && thread->is_helper)
            continue;
        vec_push(&changes, ((struct change){thread->begin, 1}));
        vec_push(&changes, ((struct change){thread->begin + thread->wall, -1}));
    }
    if (changes.n)
        qsort(changes.at, changes.n, sizeof *changes.at, compare);
    for (size_t i = 0; i + 1 < changes.n; i++) {
        alive += (size_t)changes.at[i].by;
        seconds_with[alive <= n ? alive : n] += changes.at[i + 1].at - changes.at[i].at;
    }
    size_t most = most_of(seconds_with, n);
    vec_free(&changes);
    free(seconds_with);
    return most;
}

static double ready_of(const struct main_process *main)
{
    double seconds = 0;
    for (size_t i = 0; i < main->threads.n; i++)
        seconds += main->threads.at[i].ready;
    return json_is_number(json_object_get(main->process, "ready")) ? seconds : NAN;
}

/* Another process matters if it has this share of the main one's CPU time. */
#define MATTERS 0.1

/* The process with the most CPU time, and what all have. */
static struct main_process find_process(const json_t *run)
{
    size_t i;
    json_t *process;
    struct main_process main = {.executable = "", .command = "", .ready = NAN};
    json_array_foreach(json_object_get(run, "processes"), i, process)
    {
        double cpu = process_cpu(process);
        main.cpu_of_run += cpu;
        if (main.process && cpu <= main.cpu)
            continue;
        main.process = process;
        main.cpu = cpu;
    }
    json_array_foreach(json_object_get(run, "processes"), i, process)
    {
        main.n_others += process != main.process && process_cpu(process) >= MATTERS * main.cpu;
    }
    main.is_only_one = main.n_others == 0;
    return main;
}

struct main_process main_process_of(const json_t *run)
{
    struct main_process main = find_process(run);
    if (!main.process)
        return main;
    main.executable = path_name(run_text(main.process, "executable"));
    main.command = run_text(main.process, "command");
    main.wall = run_number(main.process, "wall");
    main.cpus = run_number(main.process, "cpus");
    main.throttled = fmin(run_number(main.process, "throttled"), main.wall); /* the kernel adds up CPUs */
    main.quota = run_number(main.process, "quota");
    add_threads(&main);
    main.ready = ready_of(&main);
    find_helpers(&main);
    main.most_alive = most_alive(&main, true);
    main.most_working = most_alive(&main, false);
    return main;
}

double main_process_most_running(const struct main_process *process)
{
    double threads = (double)process->most_alive;
    double most = process->cpus > 0 && process->cpus < threads ? process->cpus : threads;
    return most > 1 ? most : 1;
}

#include "viewer-tui/advice/main-process.h"

#include "viewer-tui/base/text.h"
#include "viewer-tui/timeline/at-work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A sample by the wall clock costs a thread that waits less than this (measured: 18 to 30 us next to other load). So
 * CPU time up to it may be hpcrun's own. */
#define SAMPLE_OF_WAITING 100e-6

/* The longest time, in seconds, that an idle CPU takes to wake up for a thread (measured: 13 us on average, in a
 * virtual machine): a part of the scheduler's account that others have not caused. */
#define WAKE_UP 100e-6

/* The seconds for which a thread of run.json was ready, at least. */
static double thread_ready(const json_t *thread)
{
    return fmax(run_number(thread, "ready") - WAKE_UP * run_number(thread, "timeslices"), 0);
}

/* Adds a thread of run.json. */
static void add_thread(struct main_process *main, const json_t *thread)
{
    double wall_samples = 0, waited = 0, nobody = 0, unpaid = 0, nobody_by_wall = 0;
    json_each (event, json_object_get(thread, "events")) {
        const char *name = run_text(event, "event");
        const json_t *fates = json_object_get(event, "fates");
        double idle = run_number(json_object_get(fates, "idle thread"), "amount");
        double without_work = run_number(json_object_get(fates, "nobody working"), "amount");
        if (strcmp(name, "REALTIME") == 0) {
            wall_samples += run_number(event, "samples");
            unpaid += idle + without_work;
            nobody_by_wall += without_work;
        }
        if (strcmp(name, "CPUTIME") == 0) {
            waited += idle;
            nobody += without_work;
        }
    }
    double cpu = run_number(thread, "cpu");
    struct process_thread new = {
        .profile = (uint32_t)run_number(thread, "profile"),
        .index = (unsigned)run_number(thread, "index"),
        .name = run_text(thread, "name"),
        .start_routine = run_text(thread, "start_routine"),
        .is_initial = strcmp(run_text(thread, "kind"), "initial") == 0,
        .begin = run_number(thread, "begin"),
        .cpu = cpu,
        .work = fmax(cpu - SAMPLE_OF_WAITING * wall_samples, 0),
        .ready = thread_ready(thread),
        .wall = run_number(thread, "wall"),
        .idle = waited,
        .nobody = nobody,
        .nobody_by_wall = nobody_by_wall,
        .unpaid = unpaid,
    };
    main->ready += new.ready;
    main->waited += waited + nobody;
    vec_push(&main->threads, new);
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
    for (size_t i = 0; i < main->threads.n; i++) {
        struct process_thread *thread = &main->threads.at[i];
        thread->is_helper &= helpers < HELPERS_SHARE * main->cpu;
        main->ready_to_work += thread->is_helper ? 0 : thread->ready;
        if (!main->busiest || thread->cpu > main->busiest->cpu)
            main->busiest = thread;
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

typedef VEC(struct change) change_list;

static void add_life(change_list *changes, double begin, double end)
{
    vec_push(changes, ((struct change){begin, 1}));
    vec_push(changes, ((struct change){end, -1}));
}

/* Of up to n threads. *mean: of those on average, while any lives; NULL: not asked for. Sorts the changes. */
static size_t most_at_once(change_list *changes, size_t n, double *mean)
{
    size_t alive = 0;
    double *seconds_with = mem_alloc((n + 1) * sizeof *seconds_with); /* by number of threads alive */
    double all = 0, sum = 0, with_more = 0;
    vec_sort(changes, compare);
    for (size_t i = 0; i + 1 < changes->n; i++) {
        alive += (size_t)changes->at[i].by;
        seconds_with[alive <= n ? alive : n] += changes->at[i + 1].at - changes->at[i].at;
    }
    for (alive = 1; alive <= n; alive++) {
        all += seconds_with[alive];
        sum += (double)alive * seconds_with[alive];
    }
    if (mean)
        *mean = all > 0 ? sum / all : 0;
    for (alive = n; alive > 0; alive--) {
        with_more += seconds_with[alive];
        if (with_more >= NOTABLE_LIFE * all)
            break;
    }
    free(seconds_with);
    return alive;
}

static size_t most_alive(const struct main_process *main, bool with_helpers, double *mean)
{
    autofree change_list changes = {0};
    for (size_t i = 0; i < main->threads.n; i++) {
        const struct process_thread *thread = &main->threads.at[i];
        if (with_helpers || !thread->is_helper)
            add_life(&changes, thread->begin, thread->begin + thread->wall);
    }
    return most_at_once(&changes, main->threads.n, mean);
}

size_t main_process_runnable(const struct main_process *main, const struct timeline *timeline, struct time_range range)
{
    autofree change_list changes = {0};
    if (!timeline->is_time || !(timeline->period > 0))
        return main->most_working;
    for (size_t i = 0; i < main->threads.n; i++) {
        const struct process_thread *of = &main->threads.at[i];
        const struct timeline_thread *thread = of->is_helper ? NULL : timeline_thread(timeline, of->profile);
        time_ranges stretches = {0};
        if (!thread)
            continue;
        struct at_work at_work = at_work_of(timeline, thread, timeline->period * 1e9 * thread->step, 0);
        at_work_stretches(timeline, thread, at_work.gap, range, &stretches);
        for (size_t s = 0; s < stretches.n; s++)
            add_life(&changes, fmax((double)stretches.at[s].from, (double)range.from),
                     fmin((double)stretches.at[s].to, (double)range.to));
        vec_free(&stretches);
    }
    return most_at_once(&changes, main->threads.n, NULL);
}

/* The CPU seconds of a process in run.json. */
static double process_cpu(const json_t *process)
{
    double cpu = 0;
    json_each (thread, json_object_get(process, "threads"))
        cpu += run_number(thread, "cpu");
    return cpu;
}

/* Another process matters if it has this share of the main one's CPU time. */
#define MATTERS 0.1

/* The process with the most CPU time, and what all have. */
static struct main_process find_process(const json_t *run)
{
    struct main_process main = {.executable = "", .command = ""};
    json_each (process, json_object_get(run, "processes")) {
        double cpu = process_cpu(process);
        main.cpu_of_run += cpu;
        if (main.process && cpu <= main.cpu)
            continue;
        main.process = process;
        main.cpu = cpu;
    }
    json_each (process, json_object_get(run, "processes"))
        main.n_others += process != main.process && process_cpu(process) >= MATTERS * main.cpu;
    json_each (process, json_object_get(run, "processes"))
        json_each (thread, json_object_get(process, "threads"))
            main.ready_of_others += process == main.process ? 0 : thread_ready(thread);
    main.is_only_one = main.n_others == 0;
    return main;
}

struct main_process main_process_of(const json_t *run)
{
    struct main_process main = find_process(run);
    if (main.process) {
        main.executable = path_name(run_text(main.process, "executable"));
        main.command = run_text(main.process, "command");
        main.wall = run_number(main.process, "wall");
        main.wall_of_run = run_times_of(run).wall;
        json_each (process, json_object_get(run, "processes")) /* none is launched, as with hpcrun -p */
            main.wall_of_run = fmax(main.wall_of_run, run_number(process, "wall"));
        main.cpus = run_number(main.process, "cpus");
        main.throttled = fmin(run_number(main.process, "throttled"), main.wall); /* the kernel adds up CPUs */
        main.quota = run_number(main.process, "quota");
        json_each (thread, json_object_get(main.process, "threads"))
            add_thread(&main, thread);
        find_helpers(&main);
        main.most_alive = most_alive(&main, true, NULL);
        main.most_working = most_alive(&main, false, &main.mean_working);
        main.most_runnable = main.most_working;
    }
    if (!json_is_number(json_object_get(main.process, "ready")))
        main.ready = main.ready_to_work = NAN;
    main.most_running = (double)main.most_alive;
    if (main.cpus > 0 && main.cpus < main.most_running)
        main.most_running = main.cpus;
    main.most_running = fmax(main.most_running, 1);
    return main;
}

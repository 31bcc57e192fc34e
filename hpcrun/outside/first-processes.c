#include "hpcrun/outside/first-processes.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/outside/foreign-maps.h"
#include "hpcrun/outside/image-workers.h"
#include "hpcrun/outside/kernel-code.h"
#include "hpcrun/outside/measured-process.h"
#include "hpcrun/outside/memory-limit.h"
#include "hpcrun/outside/perf-events.h"
#include "hpcrun/outside/perf-rights.h"
#include "hpcrun/outside/perf-rings.h"
#include "hpcrun/outside/stack-copies.h"
#include "hpcrun/process/process.h"
#include "hpcrun/source/sample-source.h"
#include "lib/diag.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    const struct outside_work *work;
    struct given_processes given; /* those that can be measured */
    unsigned missing;             /* threads without events */
} first;

static int open_process(int pid)
{
    return perf_events_open(pid, &first.missing);
}

static void count_thread(int tid, void *data)
{
    (void)tid;
    ++*(unsigned *)data;
}

static unsigned count_threads(void)
{
    unsigned count = 0;
    for (size_t i = 0; i < first.given.count; i++)
        measured_visit_threads(first.given.pids[i], count_thread, &count);
    return count;
}

/* Enough for the events of all threads and, by REALTIME, for the two files of each that its worker reads. A quarter
 * remains for other files (perf-events.c). */
static size_t enough_descriptors(void)
{
    size_t each = perf_rings_cpus(), events = perf_events_count() + first.missing * each;
    size_t files = process.config.events[0].kind == EVENT_REALTIME ? 2 * events / each : 0;
    return (events + files + 32) * 4 / 3;
}

static void report_missing(void)
{
    if (first.missing)
        diag_note(NULL, "%u thread%s not sampled: too few file descriptors; ulimit -n %zu suffices", first.missing,
                  first.missing == 1 ? " is" : "s are", enough_descriptors());
    if (!perf_events_see_kernel() && config_wants_kernel_frames(&process.config))
        diag_note(NULL, "no kernel frames: %s; as root, allow it by: sysctl kernel.perf_event_paranoid=1",
                  sources_fallback_reason());
}

static bool open_events(bool at_exec)
{
    const struct outside_work *work = first.work;
    kernel_code_init();
    int pid = work->is_all ? -1 : first.given.pids[0];
    int error = perf_rings_map(memory_limit_of_rings(), work->is_all);
    if (error == 0)
        error = perf_events_prepare(&process.config.events[0], at_exec);
    if (!perf_rights_suffice(pid, error))
        return false;
    stack_copies_begin(count_threads());
    bool is_open = work->is_all    ? perf_rights_suffice(pid, perf_events_open_system())
                   : work->command ? perf_rights_suffice(pid, open_process(pid))
                                   : given_open(&first.given, open_process);
    if (is_open && !at_exec) {
        stack_copies_slow_down();
        perf_events_enable();
    }
    if (is_open)
        report_missing();
    return is_open;
}

static void add_map(const struct mapping *mapping, void *data)
{
    struct traced *process = data;
    struct perf_event_header *record = perf_record_of_mapping(process->pid, mapping);
    if (record)
        traced_map_add(process, mapping, record);
    free(record);
}

/* A process that runs already gets its worker at once, so that it is in the list of processes. Of many, the others
 * get theirs at their first sample. */
static bool begin_running(struct traced *given)
{
    traced_maps_clear(given);
    bool is_there = foreign_maps_visit(given->pid, add_map, given);
    if (is_there && image_workers_counts()->images < record_queues_count() / 2)
        image_worker_begin(given);
    return is_there;
}

/* `is_awaited`: the measurement does not end before the process. Returns 0, or a negative errno. */
static int begin_given(int pid, bool is_awaited)
{
    struct traced *given = traced_add(pid, sys_clock(CLOCK_MONOTONIC));
    if (!given)
        return -ENOMEM;
    if (is_awaited)
        traced_give(given);
    int error = traced_watch(given);
    if (error == 0 && !first.work->command && !begin_running(given))
        error = -ESRCH;
    if (error != 0)
        traced_remove(given);
    return error;
}

/* Since they were opened, processes may have ended. Descendants may; of those of --name, one that has not is enough. */
static bool begin_all_given(void)
{
    size_t asked = first.given.asked;
    for (size_t i = 0; i < first.given.count; i++) {
        int error = begin_given(first.given.pids[i], i < asked || asked == 0);
        bool is_last = i + 1 == first.given.count;
        if (error == 0 || (i >= asked && (!is_last || traced_running() > 0)))
            continue;
        diag_error(NULL, "process %d: %s", first.given.pids[i], error == -ESRCH ? "it has ended" : strerror(-error));
        return false;
    }
    return true;
}

/* hpcrun-outside, and the hpcrun that waits for it. */
static bool is_ours(int pid)
{
    char name[64] = "";
    measured_name(pid, pid, name, sizeof name);
    return strcmp(name, OUTSIDE_PROGRAM) == 0 || pid == getppid();
}

/* A process of the system: its worker begins at its first sample. Threads of the kernel have no mappings. */
static void add_running(int pid)
{
    struct traced *added = is_ours(pid) ? NULL : traced_add(pid, sys_clock(CLOCK_MONOTONIC));
    if (!added)
        return;
    foreign_maps_visit(pid, add_map, added);
    if (!added->maps)
        traced_remove(added);
}

static bool begin_system(void)
{
    DIR *processes = opendir("/proc");
    if (!processes)
        diag_fatal("/proc", "%s", strerror(errno));
    for (struct dirent *entry; (entry = readdir(processes));)
        if (atoi(entry->d_name) > 0)
            add_running(atoi(entry->d_name));
    closedir(processes);
    return true;
}

/* hpcrun, the parent, passes its signals on. */
static void say_how_to_end(void)
{
    const struct given_processes *given = &first.given;
    char name[64] = "the whole system", others[64] = "";
    if (given->count > 0) {
        int pid = given->pids[0];
        measured_name(pid, pid, name, sizeof name - sizeof "[2147483647]");
        snprintf(name + strlen(name), sizeof name - strlen(name), "[%d]", pid);
    }
    if (given->count > 1)
        snprintf(others, sizeof others, " and %zu other process%s", given->count - 1, given->count == 2 ? "" : "es");
    diag_note(NULL, "measuring %s%s; Ctrl-C or kill %d ends it", name, others, getppid());
}

bool first_processes_begin_again(void)
{
    perf_events_await_end();
    struct traced *given = traced_find(first.given.pids[0]);
    return open_events(false) && given && begin_running(given);
}

bool first_processes_begin(const struct outside_work *work)
{
    first.work = work;
    first.given = work->given;
    bool has_begun = open_events(work->command != NULL) && (work->is_all ? begin_system() : begin_all_given());
    if (has_begun && !work->command && !process.config.quiet)
        say_how_to_end();
    return has_begun;
}

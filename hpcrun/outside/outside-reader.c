#include "hpcrun/outside/outside-reader.h"

#include "hpcrun/base/cpu-priority.h"
#include "hpcrun/base/own-fds.h"
#include "hpcrun/base/sys.h"
#include "hpcrun/outside/cpu-events.h"
#include "hpcrun/outside/first-processes.h"
#include "hpcrun/outside/frame-catcher.h"
#include "hpcrun/outside/image-workers.h"
#include "hpcrun/outside/kernel-code.h"
#include "hpcrun/outside/memory-limit.h"
#include "hpcrun/outside/perf-events.h"
#include "hpcrun/outside/perf-rings.h"
#include "hpcrun/outside/reading-report.h"
#include "hpcrun/outside/record-router.h"
#include "hpcrun/outside/stack-copies.h"
#include "hpcrun/outside/traced-processes.h"
#include "hpcrun/process/process.h"
#include "lib/diag.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define WAIT_MS      50
/* The reader sleeps for REST_MS between two readings: the rings have room for the samples of 10 ms. Each reading wakes
 * workers, which takes 50 us of CPU time. So it sleeps for LONG_REST_MS if no other program has begun in the last
 * QUIET_NS: what is read of a new program in /proc must be read before it ends, which may be after milliseconds. If the
 * last reading had fewer than FEW_SAMPLES, since the programs have no CPU or nothing to do, and no thread has
 * begun either, it sleeps for LONGEST_REST_MS: 48 samples with 62 KB of caught memory each fit into a queue. The rings
 * must have room for twice the time. */
#define REST_MS         4
#define LONG_REST_MS    16
#define LONGEST_REST_MS 48
#define QUIET_NS        1000000000u
#define FEW_SAMPLES     12u
#define NS_PER_MS       1000000u
#define STACK_BYTES  (1u << 20) /* more than a worker takes */
#define EXEC_WAIT_MS 1 /* a program may end soon: /proc is to be read before */
#define END_WAIT_MS  2

static uint64_t read_until; /* CLOCK_MONOTONIC of the last record, or later */

static volatile sig_atomic_t is_interrupted;

static void on_interrupt(int signal)
{
    (void)signal;
    is_interrupted = 1;
}

/* SIGHUP is ignored below nohup, and SIGINT where a command gets the terminal's (main.c). The caller may have blocked
 * signals: those that end the measurement, and, for workers, those of faults. */
static void handle_signals(void)
{
    static const int may_be_ignored[] = {SIGINT, SIGHUP};
    struct sigaction interrupt = {.sa_handler = on_interrupt}, before;
    sigset_t none;
    sigaction(SIGTERM, &interrupt, NULL);
    for (size_t i = 0; i < sizeof may_be_ignored / sizeof *may_be_ignored; i++)
        if (sigaction(may_be_ignored[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(may_be_ignored[i], &interrupt, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* ---- begin ---- */

/* A bit longer than what was asked for: see perf-events.h. */
static uint64_t outside_period(uint64_t period)
{
    return (period + period / 37) | 1;
}

/* A module of the process may lie right below the stack of its worker, which could not grow then. */
static void grow_stack(void)
{
    char room[STACK_BYTES];
    *(volatile char *)room = 0;
}

static bool begin(const struct outside_work *work)
{
    struct event *event = &process.config.events[0];
    cpu_priority_leave_session();
    cpu_priority_take();
    event->period = outside_period(event->period);
    grow_stack();
    handle_signals();
    memory_limit_set(work->memory);
    image_workers_init(work->command, work->is_all ? 0 : work->given.count);
    record_router_init(work->gains_rights, event->kind == EVENT_REALTIME);
    if (!record_queues_map())
        diag_fatal(NULL, "no memory for queues");
    if (!first_processes_begin(work))
        return false;
    if (!work->command)
        return true;
    char go = 1;
    bool goes = write(work->go, &go, 1) == 1;
    close(work->go);
    return goes;
}

/* ---- the end ---- */

/* A process that has ended has no more records. */
static void end_if_read(struct traced *process)
{
    if (process->ended && process->ended <= read_until) {
        image_worker_end(process, QUEUE_PROCESS_ENDED);
        traced_remove(process);
    }
}

static void end_measurement(struct traced *process)
{
    bool runs = !process->ended && kill(process->pid, 0) == 0;
    image_worker_end(process, runs ? QUEUE_MEASUREMENT_ENDED : QUEUE_PROCESS_ENDED);
}

/* Some may wait for room in a queue, a second at most. */
static void read_rest(void)
{
    const uint64_t stopped = sys_clock(CLOCK_MONOTONIC);
    while ((read_until = perf_rings_read(false, record_route)) < stopped) {
        record_queues_wake(read_until);
        poll(NULL, 0, END_WAIT_MS);
    }
    perf_rings_read(true, record_route);
}

static uint64_t deadline_of(double seconds)
{
    uint64_t now = sys_clock(CLOCK_MONOTONIC);
    return seconds > 0 ? now + (uint64_t)(seconds * 1e9) : UINT64_MAX;
}

/* Once, while there is time to make room: the measurements are written again at their ends. */
static void say_write_error(const struct traced *process)
{
    static bool is_said;
    int error = record_queue_write_error(process->queue);
    if (error != 0 && !is_said)
        diag_note(NULL, "%s: measurements stay in memory until their ends; then they must find room", strerror(error));
    is_said |= error != 0;
}

static void look_at_worker(struct traced *process)
{
    if (!process->queue)
        return;
    memory_limit_add(process->worker);
    say_write_error(process);
}

static void keep_to_memory_limit(void)
{
    if (memory_limit_is_due()) {
        record_queues_trim();
        memory_limit_measure(perf_rings_bytes());
        traced_visit(look_at_worker);
    }
    record_queues_refuse(memory_limit_is_reached());
}

/* Its worker may have found an interpreter, or deep stacks, or none of these since. */
static void grant_wish(struct traced *process)
{
    enum queue_wish wish = process->queue ? record_queue_wish(process->queue) : process->wish;
    if (wish == process->wish)
        return;
    process->wish = wish;
    if (wish == QUEUE_WISHES_NOTHING) {
        catchers_forget(process->pid);
        process->is_caught = false;
        return;
    }
    int error = catchers_watch(process->pid, wish == QUEUE_WISHES_AGENT ? process->queue : NULL);
    process->is_caught |= error == 0;
    if (error != 0 && wish == QUEUE_WISHES_AGENT)
        diag_note(NULL, "process %d: frames of its interpreter can't be read: %s%s", process->pid, strerror(-error),
                  error == -EMFILE ? " (ulimit -n)" : "");
}

static void fit_events(void)
{
    if (cpu_events_are_wanted(sys_clock(CLOCK_MONOTONIC)))
        cpu_events_note(stack_copies_take_cpus(record_route));
    stack_copies_fit(record_route);
}

static bool may_rest(int ms, uint64_t last_begin)
{
    return read_until > last_begin + QUIET_NS && stack_copies_have_room(2 * (unsigned)ms);
}

static int time_to_rest(void)
{
    const struct record_counts counts = record_router_take_counts();
    const struct event *event = &process.config.events[0];
    if (!may_rest(LONG_REST_MS, counts.program_begun))
        return REST_MS;
    bool is_calm = counts.samples < FEW_SAMPLES && event->kind == EVENT_CPUTIME && event->period >= NS_PER_MS &&
                   may_rest(LONGEST_REST_MS, counts.thread_begun);
    return is_calm ? LONGEST_REST_MS : LONG_REST_MS;
}

static int time_to_wait(bool waits_for_exec)
{
    return waits_for_exec ? EXEC_WAIT_MS : traced_ending() ? END_WAIT_MS : WAIT_MS;
}

int outside_read(const struct outside_work *work)
{
    const struct worker_counts *counts = image_workers_counts();
    bool is_good = begin(work), runs = is_good;
    uint64_t deadline = deadline_of(work->seconds);
    while (runs && !is_interrupted && sys_clock(CLOCK_MONOTONIC) < deadline) {
        bool waits_for_exec = work->command && !record_router_saw_exec();
        if (!waits_for_exec)
            traced_wait_for_end(time_to_rest());
        perf_rings_wait(traced_ends_fd(), time_to_wait(waits_for_exec));
        traced_note_ends();
        keep_to_memory_limit();
        read_until = perf_rings_read(false, record_route);
        record_queues_wake(read_until);
        if (record_queues_have_wishes())
            traced_visit(grant_wish);
        if (traced_ending())
            traced_visit(end_if_read);
        runs = work->is_all || traced_running() > 0;
        if (waits_for_exec && record_router_saw_exec() && work->gains_rights)
            runs = first_processes_begin_again();
        if (!waits_for_exec)
            fit_events();
        image_workers_reap();
    }
    perf_events_stop();
    read_rest();
    traced_visit(end_measurement);
    image_workers_await();
    bool is_empty = !work->is_all && counts->images == 0;
    if (!is_good || (is_empty && counts->unmeasured[LACKS_ROOM] + counts->unmeasured[LACKS_MEMORY] == 0))
        return 1;
    fds_init();
    kernel_code_save();
    report_reading();
    return counts->is_damaged || is_empty ? 1 : 0;
}

#include "hpcrun/outside/outside-worker.h"

#include "hpcrun/base/own-fds.h"
#include "hpcrun/code/module-instances.h"
#include "hpcrun/life/process-summary.h"
#include "hpcrun/outside/foreign-modules.h"
#include "hpcrun/outside/foreign-threads.h"
#include "hpcrun/outside/kernel-code.h"
#include "hpcrun/outside/measured-process.h"
#include "hpcrun/outside/perf-rings.h"
#include "hpcrun/process/process-notes.h"
#include "hpcrun/process/process.h"
#include "hpcrun/process/report.h"
#include "hpcrun/record/chunk-writer.h"
#include "hpcrun/record/flush.h"
#include "hpcrun/record/measurement-file.h"
#include "hpcrun/record/perf-map.h"
#include "hpcrun/record/process-chunks.h"
#include "hpcrun/source/sample-source.h"
#include "hpcrun/source/source-perf.h"
#include "lib/diag.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_MS        50
#define EXEC_WAIT_MS   1 /* a program may end soon: /proc is to be read before */
#define WRITE_INTERVAL 10000000000u
#define STACK_BYTES    (1u << 20) /* more than it takes */

static struct {
    const struct outside_work *work;
    uint64_t period;
    bool has_begun;      /* the image is known */
    uint64_t exec_at;    /* CLOCK_MONOTONIC at which another image has begun; 0: none has */
    uint64_t began_at;   /* the same of this image, or of the measurement */
    uint64_t lost;       /* samples */
    uint64_t written_at; /* CLOCK_MONOTONIC */
} worker;

static volatile sig_atomic_t is_interrupted;

static void on_interrupt(int signal)
{
    (void)signal;
    is_interrupted = 1;
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    (void)info;
    if (foreign_threads_fix_up(context))
        return;
    struct sigaction usual = {.sa_handler = SIG_DFL};
    sigaction(signal, &usual, NULL); /* it comes again */
}

static void handle_signals(void)
{
    struct sigaction fault = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    struct sigaction interrupt = {.sa_handler = on_interrupt};
    sigaction(SIGSEGV, &fault, NULL);
    sigaction(SIGBUS, &fault, NULL);
    struct sigaction before;
    sigaction(SIGTERM, &interrupt, NULL);
    if (sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGINT, &interrupt, NULL);
}

/* ---- the image ---- */

static bool begin_image(void)
{
    const struct outside_work *work = worker.work;
    if (!measured_identify(work->pid, work->command, worker.began_at))
        return false;
    worker.has_begun = true;
    fds_init();
    metrics_init(&process.metrics, &process.config);
    modules_init(process.executable, &(struct known_code){0});
    kernel_code_init();
    report_init();
    measurement_init();
    sampling.collapse_recursion = process.config.collapse_recursion;
    atomic_store(&sampling.on, true);
    process.active = true;
    note_begin();
    worker.written_at = process.began_wall;
    return true;
}

static void on_exec(uint64_t time)
{
    if (worker.has_begun || worker.work->gains_rights) {
        worker.exec_at = worker.exec_at ? worker.exec_at : time;
        return;
    }
    worker.began_at = time;
    begin_image();
}

static bool is_of_image(uint64_t time)
{
    return worker.has_begun && time >= worker.began_at &&
           (worker.exec_at == 0 || time < worker.exec_at);
}

static void on_map(const struct mapping *mapping, uint64_t time)
{
    if (is_of_image(time))
        foreign_modules_add(mapping);
}

static void on_sample(const struct perf_sample *sample)
{
    if (is_of_image(sample->time))
        foreign_threads_sample(sample);
}

static void on_lost(uint64_t samples)
{
    worker.lost += samples;
    foreign_threads_lose(samples, worker.period);
}

static void on_end(int tid, uint64_t time)
{
    if (is_of_image(time))
        foreign_threads_end(tid, time);
}

static const struct perf_visitor visitor = {
    .exec = on_exec, .map = on_map, .sample = on_sample, .lost = on_lost, .end = on_end};

/* ---- the end ---- */

static void add_seconds(struct text *line, uint64_t ns)
{
    text_add_decimal(line, ns / 1000000, 3);
    text_add(line, " s");
}

/* "measured from outside: reading took 0.012 s CPU; 3 samples lost; ..." */
static void report_reading(void)
{
    char buffer[512];
    struct text line = TEXT(buffer);
    struct foreign_time time = foreign_threads_time();
    text_add(&line, "measured from outside: reading took ");
    add_seconds(&line, sys_clock(CLOCK_PROCESS_CPUTIME_ID));
    text_add(&line, " CPU");
    if (worker.lost) {
        text_add(&line, ", too slow for ");
        text_add_number(&line, worker.lost);
        text_add(&line, " samples, which are lost");
    }
    if (!perf_rings_see_kernel() && time.used > time.sampled + time.used / 100) {
        text_add(&line, "; no samples of ");
        add_seconds(&line, time.used - time.sampled);
        text_add(&line, " CPU, most of it in the kernel: ");
        text_add(&line, sources_fallback_reason());
    }
    if (foreign_modules_missing()) {
        text_add(&line, "; code without names: ");
        text_add_number(&line, foreign_modules_missing());
        text_add(&line, " files could not be read");
    }
    if (process.config.quiet)
        report_log(&line);
    else
        report_error(&line);
}

/* *detail: the number of a signal, else the exit status. */
static enum process_state end_state(bool has_ended, int *detail)
{
    int status = has_ended ? measured_exit_status() : -1;
    *detail = 0;
    if (worker.exec_at)
        return PROCESS_EXEC;
    if (!has_ended)
        return PROCESS_RUNS_ON;
    if (status < 0) /* its parent knows */
        return PROCESS_EXIT;
    *detail = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    return WIFSIGNALED(status) ? PROCESS_SIGNAL : PROCESS_EXIT;
}

static void end_image(bool has_ended)
{
    struct chunk chunk;
    int detail;
    enum process_state state = end_state(has_ended, &detail);
    measured_read_cpu();
    bool is_lost = !foreign_threads_write(true);
    kernel_code_save();
    if (measurement_create() && chunk_memory(&chunk)) {
        is_lost |= !process_chunks_write_modules(&chunk);
        is_lost |= !perf_map_write(&chunk);
        process_chunks_write_clock(&chunk, state, detail);
        chunk_release(&chunk);
    } else {
        is_lost = true;
    }
    report_reading();
    summarize(state, detail, state == PROCESS_EXEC, is_lost);
    measurement_close();
}

/* ---- the work ---- */

/* What root can do about kernel.perf_event_paranoid. */
#define REMEDY                                                                                     \
    "; as root, allow it by: sysctl kernel.perf_event_paranoid=2, or for hpcrun alone by: setcap " \
    "cap_perfmon+ep %s"

static void explain(int pid, int error)
{
    char who[32], buffer[256] = "", self[PATH_MAX] = "";
    struct text reason = TEXT(buffer);
    snprintf(who, sizeof who, "process %d", pid);
    if (error == -ESRCH) {
        diag_error(who, "it has ended");
        return;
    }
    perf_explain_refusal(&reason, error);
    bool is_level = strstr(buffer, "perf_event_paranoid");
    if (is_level && readlink("/proc/self/exe", self, sizeof self - 1) > 0)
        diag_error(NULL, "can't measure from outside: %s" REMEDY, buffer, self);
    else
        diag_error(NULL, "can't measure from outside: %s", buffer);
}

bool outside_may_sample(int pid)
{
    int error = perf_rings_probe(pid);
    if (error != 0)
        explain(pid, error);
    return error == 0;
}

static bool open_events(void)
{
    unsigned missing;
    int error = perf_rings_open(worker.work->pid, worker.period, worker.work->command, &missing);
    if (error != 0) {
        explain(worker.work->pid, error);
        return false;
    }
    if (missing)
        diag_note(NULL, "%u threads are not sampled: too few file descriptors (ulimit -n)",
                  missing);
    return true;
}

/* A bit longer than what was asked for: see perf-rings.h. */
static uint64_t outside_period(uint64_t period)
{
    return (period + period / 37) | 1;
}

/* A module of the process may lie right below the stack of this one, which could not grow then. */
static void grow_stack(void)
{
    char room[STACK_BYTES];
    *(volatile char *)room = 0;
}

static bool begin(void)
{
    grow_stack();
    struct event *event = &process.config.events[0];
    event->period = worker.period = outside_period(event->period);
    handle_signals();
    process.pid = worker.work->pid;
    process.config.launched_pid = process.pid;
    worker.began_at = sys_clock(CLOCK_MONOTONIC);
    if (!open_events())
        return false;
    if (worker.work->command) {
        char go = 1;
        bool goes = write(worker.work->go, &go, 1) == 1;
        close(worker.work->go);
        return goes;
    }
    bool is_there = begin_image() && foreign_modules_read_maps();
    if (!is_there)
        explain(worker.work->pid, -ESRCH);
    return is_there;
}

static void write_now_and_then(void)
{
    uint64_t now = sys_clock(CLOCK_MONOTONIC);
    measured_read_cpu();
    if (!worker.has_begun || now - worker.written_at < WRITE_INTERVAL)
        return;
    worker.written_at = now;
    foreign_threads_write(false);
}

static uint64_t deadline_of(double seconds)
{
    uint64_t now = sys_clock(CLOCK_MONOTONIC);
    return seconds > 0 ? now + (uint64_t)(seconds * 1e9) : UINT64_MAX;
}

static bool wait_for_end(int pidfd)
{
    return perf_rings_wait(pidfd, worker.has_begun ? WAIT_MS : EXEC_WAIT_MS) ||
           (pidfd < 0 && kill(process.pid, 0) != 0);
}

enum outside_end outside_measure(const struct outside_work *work)
{
    worker.work = work;
    if (!begin())
        return OUTSIDE_FAILED;
    int pidfd = (int)sys2(SYS_pidfd_open, work->pid, 0);
    uint64_t deadline = deadline_of(work->seconds);
    bool has_ended = false;
    while (!has_ended && !is_interrupted && worker.exec_at == 0 &&
           sys_clock(CLOCK_MONOTONIC) < deadline) {
        has_ended = wait_for_end(pidfd);
        perf_rings_read(&visitor);
        write_now_and_then();
    }
    perf_rings_stop();
    perf_rings_read(&visitor);
    if (!worker.has_begun && worker.exec_at == 0)
        return OUTSIDE_FAILED;
    if (worker.has_begun)
        end_image(has_ended);
    else
        perf_rings_await_end();
    return worker.exec_at ? OUTSIDE_EXEC : OUTSIDE_ENDED;
}

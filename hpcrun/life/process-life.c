#include "hpcrun/life/process-life.h"

#include "hpcrun/base/own-fds.h"
#include "hpcrun/base/own-section.h"
#include "hpcrun/base/sys.h"
#include "hpcrun/life/process-summary.h"
#include "hpcrun/life/thread-life.h"
#include "hpcrun/logical/agent-loader.h"
#include "hpcrun/logical/agent-table.h"
#include "hpcrun/process/common-files.h"
#include "hpcrun/process/cpu-quota.h"
#include "hpcrun/process/identity.h"
#include "hpcrun/process/process-notes.h"
#include "hpcrun/process/process.h"
#include "hpcrun/process/report.h"
#include "hpcrun/record/append-file.h"
#include "hpcrun/record/arena-file.h"
#include "hpcrun/record/flush.h"
#include "hpcrun/record/measurement-file.h"
#include "hpcrun/record/perf-map.h"
#include "hpcrun/record/process-chunks.h"
#include "hpcrun/record/region-chunks.h"
#include "hpcrun/sample/handler.h"
#include "hpcrun/sample/span-tree.h"
#include "hpcrun/source/sample-source.h"
#include "hpcrun/thread/live-threads.h"

/* ---- the events of all threads ---- */

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

static void events_pause(void)
{
    threads_visit_events(pause_events, NULL);
}

static void events_resume(void)
{
    threads_visit_events(resume_events, NULL);
}

static void events_close(void)
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

/* ---- the end ---- */

/* Most time that the end of a process waits for threads in their handlers, which may be writing. */
#define END_WAIT_NS 2000000000u

/* Most time that it waits for a thread that is creating the file, at its first sample. It is
 * longer, since without the file everything is lost: with a hundred threads per CPU, such a thread
 * did not get the CPU for more than END_WAIT_NS. */
#define OPEN_WAIT_NS 10000000000u

/* Most time that a thread waits for another thread that is ending the process. */
#define OTHER_END_WAIT_NS 10000000000u

/* Skips a thread that did not leave its handler, since its data may be half changed (one that
 * entered it again only counts a late sample), a thread that began after the stop, which has no
 * data, and one that has written itself, which is about to leave the list. */
static void flush_last(struct thread *thread, void *data)
{
    bool *is_lost = data;
    if (thread->quiescent && !thread->written && !flush_thread(thread, true))
        *is_lost |= !thread->kept;
}

/* Sums of the threads that ended by themselves: none does between threads_quiesce and an exec that
 * fails. */
static struct flush_ends ends_before_last;

/* Enters work and span into the tree of the first thread that can still be written. */
static void enter_spans(struct thread *thread, void *data)
{
    bool *entered = data;
    if (!*entered && thread->quiescent && !thread->written)
        *entered = span_tree_enter(thread);
}

static void report_span_state(const struct span_state *known)
{
    char buffer[256];
    struct text line = TEXT(buffer);
    const struct span_knowledge *of = known->work.why ? &known->work : &known->span;
    if (of->state == RECORDED_LOWER_BOUND)
        text_add(&line, "the span is a lower bound: ");
    else if (!known->work.why)
        text_add(&line, "the span was not measured: ");
    else
        text_add(&line, known->span.state == RECORDED_NOTHING ? "work and span were not measured: "
                                                              : "work was not measured: ");
    text_add(&line, of->why);
    report_loss(&line);
}

/* Returns how well they are known. Before an exec, the next image may have more to say. */
static struct span_state record_spans(enum process_state state)
{
    bool entered = false;
    threads_visit(enter_spans, &entered);
    struct span_state known = span_tree_state();
    bool is_complete = !known.work.why && !known.span.why;
    if (!is_complete && (entered || state != PROCESS_EXEC))
        report_span_state(&known);
    return known;
}

static bool write_spans(struct chunk *chunk, const struct span_state *known)
{
    if (!known->has_run)
        return true;
    const struct span_knowledge *of[] = {&known->work, &known->span, &known->burdened_span};
    const unsigned ids[] = {process.metrics.strand_work, process.metrics.span,
                            process.metrics.burdened_span};
    struct known_metric metrics[3];
    for (unsigned i = 0; i < 3; i++)
        metrics[i] = (struct known_metric){ids[i], of[i]->state, of[i]->why, of[i]->error};
    bool good = process_chunks_write_states(chunk, metrics, 3);
    if (known->work.state != RECORDED_NOTHING)
        good &= region_chunks_write(chunk);
    return good;
}

static void write_everything(enum process_state state, int detail, bool continues)
{
    struct chunk chunk;
    bool is_lost = false;
    threads_quiesce(END_WAIT_NS);
    measurement_await(OPEN_WAIT_NS);
    ends_before_last = flush_totals()->ends;
    file_forget_failures();
    struct span_state spans = {0};
    if (process.config.work_span)
        spans = record_spans(state);
    threads_visit(flush_last, &is_lost);
    if (measurement_create() && chunk_memory(&chunk)) {
        is_lost |= !process_chunks_write_modules(&chunk);
        is_lost |= !process_chunks_write_agents(&chunk);
        is_lost |= !perf_map_write(&chunk, (uid_t)sys0(SYS_geteuid), process.began_real);
        is_lost |= !write_spans(&chunk, &spans);
        process_chunks_write_clock(&chunk, state,
                                   detail); /* the list of processes says the end, too */
        chunk_release(&chunk);
    } else {
        is_lost = true;
    }
    arena_file_end();
    summarize(state, detail, continues, is_lost);
}

/* The tid of the thread that writes at the image's end, or one of these. */
enum { WRITER_NONE = 0, WRITER_DONE = -1 };
static _Atomic int last_writer = WRITER_NONE;

/* Whether the caller must write. If another thread is writing, waits for it: the caller would end
 * the process in the middle of that. */
static bool become_last_writer(void)
{
    const struct timespec nap = {.tv_nsec = 1000000};
    uint64_t deadline = sys_clock(CLOCK_MONOTONIC) + OTHER_END_WAIT_NS;
    int self = sys_gettid();
    for (;;) {
        int writer = WRITER_NONE;
        if (atomic_compare_exchange_strong(&last_writer, &writer, self))
            return true;
        if (writer == WRITER_DONE || writer == self || sys_clock(CLOCK_MONOTONIC) > deadline)
            return false;
        sys2(SYS_nanosleep, &nap, NULL);
    }
}

/* Only the calling thread's: the clocks of other threads still run. */
static void count_own_overdue(struct thread *thread, void *data)
{
    (void)data;
    if (thread == thread_self)
        handler_count_overdue(thread);
}

/* Stops sampling and writes everything, with every signal blocked, so that no signal ends the
 * process meanwhile. `continues`: the process continues as another image that is measured. Returns
 * true for the first caller; for others false, after that is done. */
static bool stop_and_write(enum process_state state, int detail, bool continues)
{
    if (!process.active)
        return false;
    uint64_t mask = own_section_begin();
    bool first = become_last_writer();
    if (first) {
        atomic_store(&sampling.stopping, true);
        events_pause();
        threads_visit_events(count_own_overdue, NULL);
        write_everything(state, detail, continues);
        /* A pending sampling signal would otherwise reach the new image of an exec, which has no
         * handler for it yet, and kill it. */
        sys_take_pending(sys_mask_bit(process.signal));
        atomic_store(&last_writer, WRITER_DONE);
    }
    own_section_end(mask);
    return first;
}

bool process_end(enum process_state state, int detail)
{
    bool first = stop_and_write(state, detail, false);
    if (first)
        measurement_close();
    return first;
}

void process_withdraw(const char *why)
{
    char buffer[256];
    struct text line = TEXT(buffer);
    text_add(&line, why);
    text_add(&line, ": not measured any more");
    report_loss(&line);
    process_end(PROCESS_RUNNING, 0);
    span_tree_stop();
    events_close();
    report_after_fork();
    common_files_release();
    fds_release_reserve();
    process.active = false;
    process.withdrawn = true;
}

void process_before_change_of_rights(void)
{
    uint64_t mask = own_section_begin();
    process.rights_changed = true;
    common_files_keep();
    if (measurement_create() && thread_self)
        arena_file_begin_thread(thread_self);
    own_section_end(mask);
}

bool process_before_exec(bool is_measured)
{
    return stop_and_write(PROCESS_EXEC, 0, is_measured);
}

void process_reset_end(void)
{
    atomic_store(&sampling.stopping, false);
    atomic_store(&last_writer, WRITER_NONE);
}

void process_exec_failed(void)
{
    int error = errno;
    flush_restore_ends(&ends_before_last);
    process_reset_end();
    if (atomic_load(&sampling.on))
        events_resume();
    span_tree_exec_failed();
    errno = error;
}

/* ---- fork ---- */

void process_before_fork(void)
{
    threads_lock_for_fork();
}

void process_after_fork_in_parent(void)
{
    threads_unlock_after_fork();
}

void process_after_fork_in_child(enum fork_way way)
{
    threads_unlock_after_fork();
    fds_after_fork();
    report_after_fork();
    measurement_leave_to_parent();
    arena_file_after_fork();
    perf_map_after_fork(process.pid);
    identify_process();
    cpu_quota_restart();
    if (way == FORK_BARE)
        process.began_cpu = 0; /* so that the time until now counts as one without samples */
    process.origin = ORIGIN_FORK;
    process_reset_end();
    notes_after_fork();
    note_begin();
    measurement_init();
    process_chunks_clear();
    workers_clear();
    agents_after_fork();
    flush_clear_totals();
    span_tree_stop();
    thread_after_fork();
}

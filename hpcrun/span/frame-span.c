#include "hpcrun/span/frame-span.h"

#include "hpcrun/span/span-frames.h"
#include "hpcrun/span/task-threads.h"

#include <stddef.h>

static struct {
    uint64_t burden;
    uint64_t (*root_site)(uint64_t site);
    _Atomic bool is_on, is_open, has_run, has_overlaps, is_confused;
} frames;

void frame_span_init(uint64_t burden, uint64_t (*root_site)(uint64_t site))
{
    frames.burden = burden << STRAND_SHIFT;
    frames.root_site = root_site;
    frames.is_on = true;
}

void frame_span_stop(void)
{
    frames.is_on = false;
}

bool frame_span_has_run(void)
{
    return frames.has_run;
}

/* ---- strands ---- */

/* The calling thread; NULL if events are off, or without memory. */
static struct task_thread *this_thread(void)
{
    if (!frames.is_on)
        return NULL;
    struct task_thread *thread = task_thread_mine();
    if (!thread)
        span_fail();
    return thread;
}

/* The thread's strand ends, if it executes one. Returns its frame, which is not current any more. */
static struct span_frame *stop(struct task_thread *thread)
{
    struct span_frame *frame = thread->frame;
    if (!frame)
        return NULL;
    uint64_t time = strand_end(&thread->clock);
    thread->frame = NULL;
    frame_add_strand(frame, thread->tally, time);
    return frame;
}

/* The last thing that an event does. */
static void go_on(struct task_thread *thread, struct span_frame *frame)
{
    thread->frame = frame;
    strand_begin(&thread->clock);
}

/* The frame with this address, where the thread's last one was `frame`. A computation may continue in
 * another thread than the one that began it. A procedure left without its end, as by longjmp, is
 * still current. */
static struct span_frame *resolve(struct span_frame *frame, const void *address)
{
    if (!frame)
        return frame_find(address);
    if (frame->address && frame->address != address)
        frames.is_confused = true;
    return frame;
}

/* ---- procedures ---- */

static struct span_frame *new_frame(struct task_thread *thread, struct span_frame *caller,
                                    uint32_t context, const void *address)
{
    struct span_frame *frame = frame_new(&thread->memory, caller, context, address);
    if (!frame)
        span_fail();
    else if (caller)
        frame->begin = frame_here(caller);
    return frame;
}

static void begin_root(struct task_thread *thread, const void *code, const void *site,
                       const void *address)
{
    if (!span_serial_ends()) {
        frames.has_overlaps = true;
        return;
    }
    frames.is_open = frames.has_run = true;
    uint64_t root = site ? frames.root_site((uint64_t)site) : 0;
    uint32_t context = span_context_of(CONTEXT_PROGRAM, (uint64_t)code, root);
    struct span_frame *frame = new_frame(thread, NULL, context, address);
    if (!frame)
        return;
    frame->serial_thread = sys_gettid();
    frame->observer = thread;
    frame_list(frame, address);
    go_on(thread, frame);
}

static void begin_call(struct task_thread *thread, struct span_frame *caller, const void *code,
                       const void *site, const void *address)
{
    uint64_t from = (uint64_t)(caller->is_task ? caller->spawn : site);
    uint32_t context = span_context_of(caller->context, (uint64_t)code, from);
    go_on(thread, new_frame(thread, caller, context, address));
}

static void enters(const void *code, const void *site, const void *address)
{
    struct task_thread *thread = this_thread();
    if (!thread)
        return;
    struct span_frame *caller = stop(thread);
    if (caller)
        begin_call(thread, caller, code, site, address);
    else
        begin_root(thread, code, site, address);
}

/* The frame has ended: its prefixes are its longest paths. */
static void finish(struct span_frame *frame, struct task_thread *thread)
{
    if (!frame_sync(frame, &thread->memory))
        span_fail();
}

static void end_root(struct span_frame *root, struct task_thread *thread)
{
    frame_end_computation(root, &thread->memory);
    if (root->observer->frame == root)
        root->observer->frame = NULL; /* another thread has executed the rest */
    frames.is_open = false;
}

/* The end of a procedure whose strand has ended. Returns its caller. */
static struct span_frame *end_procedure(struct span_frame *frame, struct task_thread *thread)
{
    struct span_frame *caller = frame->caller;
    finish(frame, thread);
    if (caller)
        frame_return(frame, &thread->memory);
    else
        end_root(frame, thread);
    frame_free(frame, &thread->memory);
    return caller;
}

static void leaves(const void *address)
{
    struct task_thread *thread = this_thread();
    if (!thread)
        return;
    struct span_frame *frame = stop(thread);
    if (!frame)
        frame = frame_find(address);
    if (!frame)
        return;
    if (frame->is_task) {
        frames.is_confused = true;
        return;
    }
    int serial_thread = frame->serial_thread;
    struct span_frame *caller = end_procedure(frame, thread);
    if (caller)
        go_on(thread, caller);
    else
        span_serial_begins_in(serial_thread);
}

/* ---- tasks ---- */

/* The task's frame is made before the runtime lets another worker continue with the spawning one. */
static struct span_frame *make_task(struct span_frame *spawner, struct task_thread *thread)
{
    struct span_frame *task = new_frame(thread, spawner, spawner->context, NULL);
    if (!task)
        return NULL;
    task->is_task = true;
    task->spawn = spawner->spawn;
    spawner->child = task;
    thread->tally->by[task->context].spawns++;
    return task;
}

static void detaches(const void *site, const void *address)
{
    struct task_thread *thread = this_thread();
    if (!thread)
        return;
    struct span_frame *frame = resolve(stop(thread), address);
    thread->paused = NULL;
    if (!frame) {
        if (span_is_serial())
            frames.is_confused = true;
        return;
    }
    if (!frame->is_listed)
        frame_list(frame, address);
    if (!frame->is_task)
        frame->spawn = site;
    thread->paused = make_task(frame, thread);
}

static void task_begins(void)
{
    struct task_thread *thread = this_thread();
    struct span_frame *task = thread ? thread->paused : NULL;
    if (!task)
        return;
    thread->paused = NULL;
    go_on(thread, task);
}

static void end_task(struct span_frame *task, struct task_thread *thread)
{
    finish(task, thread);
    lock_enter(&task->caller->lock);
    frame_join(task, &thread->memory);
    lock_leave(&task->caller->lock);
    frame_free(task, &thread->memory);
}

static void task_ends(void)
{
    struct task_thread *thread = this_thread();
    struct span_frame *task = thread ? stop(thread) : NULL;
    if (!task)
        return;
    if (task->is_task)
        end_task(task, thread);
    else
        frames.is_confused = true;
}

static void continues(const void *address, bool unwinds)
{
    struct task_thread *thread = this_thread();
    struct span_frame *frame = thread ? frame_find(address) : NULL;
    if (!frame)
        return;
    lock_enter(&frame->lock);
    bool is_stolen = frame->child;
    if (is_stolen && !frame_cut(frame, &thread->memory))
        span_fail();
    lock_leave(&frame->lock);
    thread->tally->steals += is_stolen;
    if (!unwinds)
        frame_add_burden(frame, frames.burden);
    else if (!frame_sync(frame, &thread->memory))
        span_fail();
    go_on(thread, frame);
}

/* Only this thread can continue with a frame that has not spawned. */
static void syncs(const void *address)
{
    struct task_thread *thread = this_thread();
    struct span_frame *frame = thread ? resolve(stop(thread), address) : NULL;
    if (frame)
        thread->paused = frame->is_listed ? NULL : frame;
}

static void synced(const void *address)
{
    struct task_thread *thread = this_thread();
    if (!thread)
        return;
    struct span_frame *frame = thread->paused ? thread->paused : frame_find(address);
    thread->paused = NULL;
    if (!frame)
        return;
    if (!frame_sync(frame, &thread->memory))
        span_fail();
    go_on(thread, frame);
}

/* ---- results ---- */

static bool now(struct span_totals *totals)
{
    struct task_thread *thread = frames.is_on ? task_thread_existing() : NULL;
    struct span_frame *frame = thread ? stop(thread) : NULL;
    if (!frame)
        return work_span_now(totals);
    struct frame_lengths here = frame_here(frame);
    *totals = span_totals_so_far();
    totals->work.time += here.work;
    totals->span.time += here.span[PLAIN];
    totals->burdened_span.time += here.span[BURDENED];
    go_on(thread, frame);
    return true;
}

bool frame_span_now_in_series(struct span_totals *totals)
{
    const struct task_thread *thread = frames.is_on ? task_thread_existing() : NULL;
    for (const struct span_frame *at = thread ? thread->frame : NULL; at; at = at->caller)
        if (at->is_task)
            return false;
    return now(totals);
}

/* Whether nothing else runs than what the thread executes. */
static bool is_alone(const struct span_frame *frame)
{
    for (; frame; frame = frame->caller)
        if (frame->open > 0 || frame->result)
            return false;
    return true;
}

void frame_span_end(void)
{
    struct task_thread *thread = frames.is_open && frames.is_on ? task_thread_existing() : NULL;
    if (!thread || !thread->frame || !is_alone(thread->frame))
        return;
    frames.is_on = false;
    struct span_frame *frame = stop(thread), *caller;
    for (; frame; frame = caller) {
        caller = frame->caller;
        if (frame->is_task)
            end_task(frame, thread);
        else
            end_procedure(frame, thread);
    }
}

const char *frame_span_problem(void)
{
    const struct task_thread *thread = task_thread_existing();
    bool may_end = thread && thread->frame && is_alone(thread->frame);
    if (frames.has_overlaps)
        return "several threads ran Cilk procedures at the same time";
    if (frames.is_confused)
        return "-fcilktool's hooks do not match: a longjmp, or parts compiled without it";
    if (frames.is_open && !may_end)
        return "the program ended in a Cilk computation";
    return NULL;
}

const struct frame_events frame_span_events = {.enters = enters,
                                               .leaves = leaves,
                                               .detaches = detaches,
                                               .task_begins = task_begins,
                                               .task_ends = task_ends,
                                               .continues = continues,
                                               .syncs = syncs,
                                               .synced = synced,
                                               .now = now,
                                               .problem = frame_span_problem};

#include "agents/openmp/events.h"

#include "agents/common/task-records.h"
#include "agents/openmp/scopes.h"

static _Atomic bool has_created_threads;

bool events_have_threads(void)
{
    return atomic_load_explicit(&has_created_threads, memory_order_relaxed);
}

/* -------- frames -------- */

/* Address of a task's frames - address of its data. They are fields of one structure of libomp; some
 * events have both. 0: not known yet. */
static _Atomic int64_t frame_offset;

static void learn_offset(const ompt_data_t *task, const ompt_frame_t *frame)
{
    if (!task || !frame || atomic_load_explicit(&frame_offset, memory_order_relaxed))
        return;
    atomic_store(&frame_offset, (int64_t)((const char *)frame - (const char *)task));
}

const ompt_frame_t *events_frames(const ompt_data_t *task)
{
    int64_t offset = atomic_load_explicit(&frame_offset, memory_order_relaxed);
    return offset && task ? (const ompt_frame_t *)((const char *)task + offset) : NULL;
}

/* Sets the registers of a context to those of the call in a task's enter frame, which is a frame of
 * libomp with a frame pointer. Its caller is the program, or a function of libomp that the program
 * called. sp is 0 if libomp tells no frame but only its return address. */
static void set_caller(struct creation_context *context, const ompt_frame_t *frame,
                       const void *caller)
{
    const uint64_t *words = frame ? frame->enter_frame.ptr : NULL;
    context->pc = words ? words[1] : (uint64_t)caller;
    context->sp = words ? (uint64_t)&words[2] : 0;
    context->bp = words ? words[0] : 0;
}

/* -------- scopes of the thread -------- */

static struct scope *innermost(const struct agent_slot *slot)
{
    return slot->ompt.link;
}

static struct scope *outer(const struct scope *scope)
{
    return (struct scope *)scope->link.up;
}

static void push(struct agent_slot *slot, struct body_link link, ompt_data_t *task,
                 struct task_record *record)
{
    struct scope *scope = scope_take(slot);
    if (!scope)
        return;
    link.up = slot->ompt.link;
    scope->link = link;
    scope->frame = events_frames(task);
    scope->task = task;
    scope->before = slot_state(slot);
    scope->record = record;
    link_publish(&slot->ompt, &scope->link);
    slot_set_state(slot, AGENT_SLOT_WORKING);
}

/* The thread continues what is outside of its innermost scope. */
static void pop(struct agent_slot *slot)
{
    struct scope *scope = innermost(slot);
    slot_set_state(slot, scope->before); /* first: a thread without a link must not seem to work */
    link_withdraw(&slot->ompt, &scope->link);
    scope_give_back(slot, scope);
}

/* Makes the scope of a task, which the thread executes, the innermost one; false: the task has none.
 * Scopes inside of it are parts of untied tasks: libomp does not tell their ends. Such a task may
 * have ended in another thread, so nothing may refer to its record. */
static bool return_to(struct agent_slot *slot, const ompt_data_t *task)
{
    const struct scope *scope = innermost(slot);
    while (scope && scope->task != task)
        scope = outer(scope);
    while (scope && innermost(slot) != scope)
        pop(slot);
    return scope != NULL;
}

/* -------- threads -------- */

static void thread_begin(int type, ompt_data_t *thread)
{
    (void)thread;
    struct agent_slot *slot = slot_mine();
    if (type == ompt_thread_worker) {
        slot->pool = RUNTIME_OMPT;
        slot_set_state(slot, AGENT_SLOT_IDLE);
        atomic_store(&has_created_threads, true);
    }
    slot_join(slot, RUNTIME_OMPT);
}

static void thread_end(ompt_data_t *thread)
{
    (void)thread;
    atomic_fetch_and(&slot_mine()->runtimes, ~(uint32_t)RUNTIME_OMPT);
}

/* -------- regions -------- */

static void parallel_begin(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *parallel,
                           unsigned threads, int flags, const void *caller)
{
    (void)threads;
    (void)flags;
    struct agent_slot *slot = own_slot;
    struct scope *scope = slot ? scope_take(slot) : NULL;
    parallel->ptr = scope;
    if (!scope)
        return;
    struct parallel_region *region = &scope->region;
    learn_offset(task, frame);
    return_to(slot, task);
    region->context.kind = CONTEXT_ON_STACK;
    region->context.up = (uint64_t)slot->ompt.link;
    region->context.thread = slot->thread;
    set_caller(&region->context, frame, caller);
    region->master = slot;
    slot_join(slot, RUNTIME_OMPT);
}

static void parallel_end(ompt_data_t *parallel, ompt_data_t *task, int flags, const void *caller)
{
    (void)task;
    (void)flags;
    (void)caller;
    struct agent_slot *slot = own_slot;
    if (!slot || !parallel->ptr)
        return;
    slot_set_state(slot, AGENT_SLOT_WORKING);
    scope_give_back(slot, parallel->ptr);
    parallel->ptr = NULL;
}

static void begin_implicit(struct agent_slot *slot, const ompt_data_t *parallel, ompt_data_t *task)
{
    struct scope *begun = parallel ? parallel->ptr : NULL;
    if (!begun)
        return;
    struct parallel_region *region = &begun->region;
    slot_join(slot, RUNTIME_OMPT);
    push(slot,
         (struct body_link){
             .context = &region->context, .is_inline = slot == region->master, .region = region},
         task, NULL);
}

/* libomp tells the end in a worker when the thread gets its next region: it waited until then. */
static void end_implicit(struct agent_slot *slot, const ompt_data_t *task)
{
    if (!return_to(slot, task))
        return;
    bool is_master = innermost(slot)->link.is_inline;
    pop(slot);
    slot_set_state(slot, is_master ? AGENT_SLOT_WORKING : AGENT_SLOT_IDLE);
}

static void implicit_task(int endpoint, ompt_data_t *parallel, ompt_data_t *task, unsigned threads,
                          unsigned number, int flags)
{
    (void)threads;
    (void)number;
    (void)flags;
    struct agent_slot *slot = own_slot;
    if (slot && endpoint == ompt_scope_begin)
        begin_implicit(slot, parallel, task);
    if (slot && endpoint == ompt_scope_end)
        end_implicit(slot, task);
}

/* -------- explicit tasks -------- */

/* The data of a task that runs in the call that creates it. Else its record; NULL: it has none. */
static char undeferred;

/* The link at which the frames end that created a task: not those of undeferred tasks, nor those of a
 * region whose body libomp does not call, as with if(0). */
static const struct body_link *link_around(const struct agent_slot *slot, uint64_t sp)
{
    struct scope *scope = innermost(slot);
    for (; scope; scope = outer(scope)) {
        struct body_link *link = &scope->link;
        if (!link->sp && scope->frame)
            link->sp = scope->frame->exit_frame.value;
        if (!link->is_inline || (!link->is_inline_task && link->sp > sp))
            return link;
    }
    return NULL;
}

static struct task_record *new_record(struct agent_slot *slot, const ompt_frame_t *frame,
                                      const void *caller)
{
    struct creation_context site;
    set_caller(&site, frame, caller);
    const struct body_link *around = link_around(slot, site.sp);
    if (!around)
        return NULL;
    uint64_t sp = site.sp < around->sp ? site.sp : 0;
    return record_new(&slot->ompt, around, site.pc, sp, site.bp);
}

static void task_create(ompt_data_t *creator, const ompt_frame_t *frame, ompt_data_t *task,
                        int flags, int has_dependences, const void *caller)
{
    (void)has_dependences;
    struct agent_slot *slot = own_slot;
    if (!slot || !(flags & ompt_task_explicit))
        return;
    learn_offset(creator, frame);
    return_to(slot, creator);
    task->ptr =
        flags & ompt_task_undeferred ? (void *)&undeferred : new_record(slot, frame, caller);
}

/* A task without a record continues in the context in which its thread runs. */
static void begin_task(struct agent_slot *slot, ompt_data_t *task)
{
    const struct scope *scope = innermost(slot);
    bool is_inline = task->ptr == &undeferred || !scope;
    struct task_record *record = is_inline ? NULL : task->ptr;
    push(slot,
         (struct body_link){.context = record  ? &record->context
                                       : scope ? scope->link.context
                                               : NULL,
                            .is_inline = is_inline,
                            .is_inline_task = is_inline,
                            .region = scope ? scope->link.region : NULL},
         task, record);
}

static void end_task(struct agent_slot *slot, const ompt_data_t *task)
{
    if (!return_to(slot, task))
        return;
    struct task_record *record = innermost(slot)->record;
    pop(slot);
    if (record)
        record_end(&slot->ompt, record);
}

bool events_is_end(int status)
{
    return status == ompt_task_complete || status == ompt_task_cancel || status == ompt_task_detach;
}

bool events_is_switch(int status)
{
    return status != ompt_task_early_fulfill && status != ompt_task_late_fulfill &&
           status != ompt_taskwait_complete;
}

static void task_schedule(ompt_data_t *prior, int status, ompt_data_t *next)
{
    struct agent_slot *slot = own_slot;
    if (!slot || !events_is_switch(status))
        return;
    if (events_is_end(status))
        end_task(slot, prior);
    else
        return_to(slot, prior);
    if (next && !events_is_end(status))
        begin_task(slot, next);
}

/* -------- waiting -------- */

/* A worker leaves the barrier at a region's end when it gets the next region; `parallel` is then
 * NULL. It works when its implicit task begins. */
static void sync_region_wait(int kind, int endpoint, ompt_data_t *parallel, ompt_data_t *task,
                             const void *caller)
{
    (void)kind;
    (void)task;
    (void)caller;
    struct agent_slot *slot = slot_mine();
    if (endpoint == ompt_scope_begin)
        slot_set_state(slot, AGENT_SLOT_IDLE);
    else if (parallel)
        slot_set_state(slot, AGENT_SLOT_WORKING);
}

static void mutex_acquire(int kind, unsigned hint, unsigned implementation, uint64_t lock,
                          const void *caller)
{
    (void)hint;
    (void)implementation;
    (void)lock;
    (void)caller;
    if (kind != ompt_mutex_test_lock && kind != ompt_mutex_test_nest_lock)
        slot_set_state(slot_mine(), AGENT_SLOT_IDLE);
}

static void mutex_acquired(int kind, uint64_t lock, const void *caller)
{
    (void)kind;
    (void)lock;
    (void)caller;
    slot_set_state(slot_mine(), AGENT_SLOT_WORKING);
}

/* In place of mutex_acquired if the thread has the lock already. */
static void nest_lock(int endpoint, uint64_t lock, const void *caller)
{
    (void)lock;
    (void)caller;
    if (endpoint == ompt_scope_begin)
        slot_set_state(slot_mine(), AGENT_SLOT_WORKING);
}

/* -------- registration -------- */

const struct ompt_events plain_events = {
    .parallel_begin = parallel_begin,
    .parallel_end = parallel_end,
    .implicit_task = implicit_task,
    .task_create = task_create,
    .task_schedule = task_schedule,
    .sync_region_wait = sync_region_wait,
    .mutex_acquire = mutex_acquire,
    .mutex_acquired = mutex_acquired,
    .nest_lock = nest_lock,
    .thread_end = thread_end,
};

bool events_register(ompt_set_callback_t set_callback)
{
    bool are_known = true;
#define EVENT(name)                                                                                \
    are_known &= set_callback(ompt_callback_##name, (ompt_callback_t)(name)) == ompt_set_always
    EVENT(thread_begin);
    EVENT(thread_end);
    EVENT(parallel_begin);
    EVENT(parallel_end);
    EVENT(implicit_task);
    EVENT(task_create);
    EVENT(task_schedule);
    EVENT(sync_region_wait);
    EVENT(mutex_acquire);
    EVENT(mutex_acquired);
    EVENT(nest_lock);
#undef EVENT
    return are_known;
}

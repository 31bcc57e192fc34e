#include "agents/openmp/events.h"

#include "agents/common/loaded-modules.h"
#include "agents/common/team-waits.h"
#include "agents/openmp/body-code.h"
#include "agents/openmp/lock-owners.h"
#include "agents/openmp/scopes.h"

_Atomic bool has_created_threads;

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

/* Registers at the call of a function: return address, and sp and bp of its caller. */
struct registers {
    uint64_t pc, sp, bp; /* sp 0: only pc is known */
};

/* Those of the call in a task's enter frame, which is a frame of libomp with a frame pointer. Its
 * caller is the program, or a function of libomp that the program called. `caller` is the return
 * address, if libomp tells no frame. */
static struct registers call_in(const ompt_frame_t *frame, const void *caller)
{
    const uint64_t *words = frame ? frame->enter_frame.ptr : NULL;
    if (!words)
        return (struct registers){.pc = (uint64_t)caller};
    return (struct registers){words[1], (uint64_t)&words[2], words[0]};
}

/* Those of the call of the event in whose function this stands: a call in libomp, so not shown. */
#define CALL_OF_EVENT ((struct registers){CALLER_PC, CALLER_SP, CALLER_BP})

/* -------- scopes of the thread -------- */

static struct scope *innermost(const struct agent_slot *slot)
{
    return slot->ompt.link;
}

static struct scope *outer(const struct scope *scope)
{
    return (struct scope *)scope->link.up;
}

static INLINED struct scope *push(struct agent_slot *slot, struct body_link link, ompt_data_t *task)
{
    struct scope *scope = scope_take(slot);
    if (!scope)
        return NULL;
    link.up = slot->ompt.link;
    scope->link = link;
    scope->frame = events_frames(task);
    scope->task = task;
    scope->before = atomic_load_explicit(&slot->state, memory_order_relaxed);
    scope->record = NULL;
    scope->left = NULL;
    link_publish(&slot->ompt, &scope->link);
    slot_set_state(slot, AGENT_SLOT_WORKING);
    return scope;
}

/* The thread continues what is outside of its innermost scope. That keeps its task's own record. */
static void pop(struct agent_slot *slot)
{
    struct scope *scope = innermost(slot);
    struct task_record *made = scope->link.record == scope->record ? NULL : scope->link.record;
    slot_set_state(slot, scope->before); /* first: a thread without a link must not seem to work */
    link_withdraw(&slot->ompt, &scope->link);
    slot->ompt.waits.count++;
    scope_give_back(slot, scope);
    if (made)
        record_end(&slot->ompt, made);
}

/* Makes the scope of a task that the thread executes the innermost one; false: it has none. */
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

/* The context of a construct that ends before the frames that began it by this call. */
static inline void set_context_on_stack(struct creation_context *context,
                                        const struct agent_slot *slot, struct registers call)
{
    context->kind = CONTEXT_ON_STACK;
    context->pc = call.pc;
    context->sp = call.sp;
    context->bp = call.bp;
    context->up = (uint64_t)slot->ompt.link;
    context->parent = 0;
    context->body = 0;
    context->thread = slot->thread;
}

static void parallel_begin(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *parallel,
                           unsigned threads, int flags, const void *caller)
{
    (void)threads;
    (void)flags;
    struct agent_slot *slot = slot_own();
    struct scope *scope = slot ? scope_take(slot) : NULL;
    parallel->ptr = scope;
    if (!scope)
        return;
    struct parallel_region *region = &scope->region;
    learn_offset(task, frame);
    set_context_on_stack(&region->context, slot, call_in(frame, caller));
    team_begin(slot, &slot->ompt, region);
    region->master = slot;
    slot_join(slot, RUNTIME_OMPT);
    team_starts(region);
}

static void parallel_end(ompt_data_t *parallel, ompt_data_t *task, int flags, const void *caller)
{
    (void)task;
    (void)flags;
    (void)caller;
    struct agent_slot *slot = slot_own();
    if (!slot || !parallel->ptr)
        return;
    struct scope *begun = parallel->ptr;
    team_end(&slot->ompt, &begun->region);
    slot_set_state(slot, AGENT_SLOT_WORKING);
    scope_give_back(slot, begun);
    parallel->ptr = NULL;
}

static void begin_implicit(struct agent_slot *slot, const ompt_data_t *parallel, ompt_data_t *task)
{
    struct scope *begun = parallel ? parallel->ptr : NULL;
    if (!begun)
        return;
    struct parallel_region *region = &begun->region;
    slot_join(slot, RUNTIME_OMPT);
    if (slot != region->master) {
        team_started(&slot->ompt, region);
        team_join(&slot->ompt, region->team);
    }
    push(slot,
         (struct body_link){
             .context = &region->context,
             .is_inline = slot == region->master,
             .region = region,
             .body = (uint64_t)body_code_of_region(parallel),
         },
         task);
}

/* A team's thread that is not its master has nothing outside of the region. libomp tells its end when
 * the thread gets its next region, as it waited until then; it may pass a copy of the task's data. */
static void end_of_worker(struct agent_slot *slot)
{
    if (!innermost(slot))
        return;
    while (innermost(slot))
        pop(slot);
    slot_set_state(slot, AGENT_SLOT_BARRIER);
}

/* libomp 14 does not say at the end of its wait that the thread is the master. */
static void end_of_master(struct agent_slot *slot, const ompt_data_t *task)
{
    if (!return_to(slot, task))
        return;
    team_goes_on(&slot->ompt);
    pop(slot);
    slot_set_state(slot, AGENT_SLOT_WORKING);
}

static void implicit_task(int endpoint, ompt_data_t *parallel, ompt_data_t *task, unsigned threads,
                          unsigned number, int flags)
{
    (void)threads;
    (void)flags;
    struct agent_slot *slot = slot_own();
    if (slot && endpoint == ompt_scope_begin)
        begin_implicit(slot, parallel, task);
    if (slot && endpoint == ompt_scope_end && number == 0)
        end_of_master(slot, task);
    if (slot && endpoint == ompt_scope_end && number != 0)
        end_of_worker(slot);
}

/* -------- explicit tasks --------
 *
 * An untied task whose body has scheduling points is executed in parts. libomp tells, e.g. of task 3
 * that task 2 has created:
 *
 *     switch 2 -> 3     a part begins
 *     switch 3 -> 2     it ends: the task will be queued again, and any thread may go on with it
 *     complete 3 -> 2   the last part ends
 *
 * In a team of one thread, and if the queue is full, the call that would queue the task executes its
 * next part: switch 3 -> 3, for that part's begin and for its end. */

/* The data of a task that runs in the call that creates it. Else its record; NULL: it has none. */
static char undeferred;

/* The link at which the frames end that created a task: not those of undeferred tasks, nor those of a
 * region whose body libomp does not call, as with if(0). */
static struct body_link *link_around(const struct agent_slot *slot, uint64_t sp)
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

/* Whether the thread executes a task of libomp's own that creates tasks of a taskloop, in the name of
 * the task that had the loop. */
static bool splits_taskloop(const struct scope *scope, const ompt_data_t *creator)
{
    return scope && (scope->record || scope->link.is_inline_task) && scope->task != creator;
}

/* `event` is the call of the event. While other threads create tasks of the same taskloop, the
 * creator's enter frame is changed by them. */
static struct task_record *new_record(struct agent_slot *slot, const ompt_data_t *creator,
                                      const ompt_frame_t *frame, const void *caller,
                                      struct registers event)
{
    struct scope *scope = innermost(slot);
    if (splits_taskloop(scope, creator))
        return record_new(&slot->ompt, &scope->link, event.pc, 0, 0, 0);
    struct body_link *around = link_around(slot, event.sp);
    if (!around)
        return NULL;
    struct registers site = call_in(frame, caller);
    if (site.sp < event.sp || site.sp >= around->sp)
        site = event;
    return record_new(&slot->ompt, around, site.pc, site.sp < around->sp ? site.sp : 0, site.bp, 0);
}

/* The creator's frames stay until the task has ended, and parts of the task lie on each other. */
static struct task_record *new_record_on_stack(struct agent_slot *slot, struct registers call)
{
    struct task_record *record = record_allocate(&slot->ompt, 0);
    if (!record)
        return NULL;
    set_context_on_stack(&record->context, slot, call);
    record->parent = NULL;
    record->region = NULL;
    record->group = record->inside = NULL;
    record->creator = &slot->ompt;
    record->is_ready = false;
    record_count_from_zero(record);
    return record;
}

/* if(0): the program runs the body between two calls of libomp, so the task's outer frame is one of
 * the program; in programs of gcc libomp runs it, and has put its own frame there already. In a team
 * of one thread, libomp says of all tasks that they are not deferred. */
bool events_is_at_once(const ompt_data_t *task)
{
    const ompt_frame_t *frames = events_frames(task);
    return frames && (frames->exit_frame.ptr || frames->exit_frame_flags & ompt_frame_application);
}

static void task_create(ompt_data_t *creator, const ompt_frame_t *frame, ompt_data_t *task,
                        int flags, int has_dependences, const void *caller)
{
    struct agent_slot *slot = slot_own();
    if (!slot || !(flags & ompt_task_explicit))
        return;
    learn_offset(creator, frame);
    bool is_deferred = !(flags & ompt_task_undeferred);
    if (is_deferred) {
        task->ptr = new_record(slot, creator, frame, caller, CALL_OF_EVENT);
        task_created(&slot->ompt, task->ptr, !has_dependences);
        task_offered(task->ptr);
    } else if (flags & ompt_task_untied && !events_is_at_once(task)) {
        task->ptr = new_record_on_stack(slot, call_in(frame, caller));
    } else {
        task->ptr = &undeferred;
    }
}

/* A task without a record continues in the context in which its thread runs. */
static void begin_task(struct agent_slot *slot, const ompt_data_t *prior, ompt_data_t *task)
{
    const struct scope *around = innermost(slot);
    struct task_record *record = task->ptr == &undeferred ? NULL : task->ptr;
    bool is_inline = task->ptr == &undeferred || (!record && !around);
    task_came(&slot->ompt, record ? record->parent : NULL);
    task_begun(&slot->ompt, record);
    struct scope *scope = push(slot,
                               (struct body_link){.context = record   ? &record->context
                                                             : around ? around->link.context
                                                                      : NULL,
                                                  .is_inline = is_inline,
                                                  .is_inline_task = is_inline,
                                                  .region = around ? around->link.region : NULL,
                                                  .body = (uint64_t)body_code_of_task(task),
                                                  .record = record},
                               task);
    if (!scope)
        return;
    scope->record = record;
    scope->left = prior;
}

/* Whether the innermost scope is a part of an untied task, which ends with this switch. */
static bool ends_part(const struct agent_slot *slot, const ompt_data_t *prior,
                      const ompt_data_t *next)
{
    const struct scope *scope = innermost(slot);
    return scope && scope->task == prior && scope->left == next;
}

/* The thread leaves the innermost scope, that of a task or of a part of it. Returns the task's record. */
static struct task_record *leave_task(struct agent_slot *slot)
{
    struct task_record *record = innermost(slot)->record;
    task_ends(&slot->ompt, record, innermost(slot)->before);
    pop(slot);
    return record;
}

static void end_task(struct agent_slot *slot, const ompt_data_t *task)
{
    if (!return_to(slot, task))
        return;
    struct task_record *record = leave_task(slot);
    if (record)
        record_end(&slot->ompt, record);
}

/* Whether a task that ends has not begun: it was cancelled, which libomp 14 says of a group's tasks, but not of a
 * region's. (One with dependences is never ready: its record is lost.) */
static bool never_begins(const ompt_data_t *task)
{
    const struct task_record *record = task->ptr;
    return record && task->ptr != &undeferred && record->is_ready;
}

/* Such a task is not ready any more. */
static void drop_task(struct agent_slot *slot, const ompt_data_t *task)
{
    task_begun(&slot->ompt, task->ptr);
    record_end(&slot->ompt, task->ptr);
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
    struct agent_slot *slot = slot_own();
    if (!slot || !events_is_switch(status))
        return;
    if (events_is_end(status) && never_begins(prior))
        drop_task(slot, prior);
    else if (events_is_end(status))
        end_task(slot, prior);
    else if (next && ends_part(slot, prior, next))
        leave_task(slot);
    else if (next)
        begin_task(slot, prior, next);
}

/* -------- waiting -------- */

/* A worker leaves the barrier at a region's end when it gets the next region; `parallel` is then
 * NULL. It works when its implicit task begins. */
static void sync_region_wait(int kind, int endpoint, ompt_data_t *parallel, ompt_data_t *task,
                             const void *caller)
{
    (void)task;
    (void)caller;
    struct agent_slot *slot = slot_mine();
    bool is_for_tasks = kind == ompt_sync_region_taskwait || kind == ompt_sync_region_taskgroup;
    struct task_record *record = slot->ompt.link ? ((struct body_link *)slot->ompt.link)->record : NULL;
    if (endpoint == ompt_scope_begin && is_for_tasks)
        wait_for_tasks(slot, &slot->ompt);
    else if (endpoint == ompt_scope_begin)
        slot_set_state(slot, AGENT_SLOT_BARRIER);
    else if (parallel)
        slot_set_state(slot, AGENT_SLOT_WORKING);
    if (is_for_tasks && endpoint == ompt_scope_begin)
        children_awaited(&slot->ompt, record);
    else if (is_for_tasks)
        children_ended(&slot->ompt, record);
    else if (endpoint == ompt_scope_begin)
        team_arrives(&slot->ompt);
    else if (parallel)
        team_goes_on(&slot->ompt);
}

/* Functions of libomp that take a lock only if it is free. */
static struct {
    _Atomic uint64_t start, size;
} testing[2];

void events_learn_libomp(const ElfW(Dyn) * dynamic, uint64_t bias)
{
    static const char *const names[] = {"__kmpc_test_lock", "__kmpc_test_nest_lock"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const ElfW(Sym) *symbol = dynamic_symbol(dynamic, bias, names[i]);
        atomic_store(&testing[i].size, 0);
        atomic_store(&testing[i].start, symbol ? bias + symbol->st_value : 0);
        atomic_store(&testing[i].size, symbol ? symbol->st_size : 0);
    }
}

int events_mutex_kind(int kind, uint64_t caller)
{
    for (size_t i = 0; i < sizeof testing / sizeof *testing; i++)
        if (caller - atomic_load_explicit(&testing[i].start, memory_order_relaxed) <
            atomic_load_explicit(&testing[i].size, memory_order_relaxed))
            return ompt_mutex_test_lock;
    return kind;
}

static void mutex_acquire(int kind, unsigned hint, unsigned implementation, uint64_t lock,
                          const void *caller)
{
    (void)hint;
    (void)implementation;
    (void)caller;
    kind = events_mutex_kind(kind, CALLER_PC);
    if (kind == ompt_mutex_test_lock || kind == ompt_mutex_test_nest_lock)
        return;
    struct agent_slot *slot = slot_mine();
    slot_waits_for(slot, lock);
    lock_wanted(slot, lock);
}

/* That of hpctoolkit_waited_for_lock: others of these are on the heap. */
static const char *name_of_lock(int kind)
{
    switch (kind) {
    case ompt_mutex_critical: return "<lock critical>";
    case ompt_mutex_atomic: return "<lock atomic>";
    case ompt_mutex_ordered: return "<lock ordered>";
    default: return NULL;
    }
}

static void mutex_acquired(int kind, uint64_t lock, const void *caller)
{
    (void)caller;
    struct agent_slot *slot = slot_mine();
    lock_taken(slot, lock);
    slot_has_lock(slot, (const void *)lock, name_of_lock(kind));
    held_note(slot, (const void *)lock);
}

static void mutex_released(int kind, uint64_t lock, const void *caller)
{
    (void)kind;
    (void)caller;
    held_forget(slot_own(), (const void *)lock);
}

/* In place of mutex_acquired if the thread has the lock already. */
static void nest_lock(int endpoint, uint64_t lock, const void *caller)
{
    (void)caller;
    if (endpoint == ompt_scope_begin)
        slot_has_lock(slot_mine(), (const void *)lock, NULL);
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
    EVENT(mutex_released);
    EVENT(nest_lock);
#undef EVENT
    return are_known;
}

/* Tasks and algorithms of TBB. The wrappers give tasks tables of virtual functions of their own
 * (task-contexts.h), so libtbb calls run_task or run_cancel in place of execute() and cancel(). The
 * callback of task_arena::execute is replaced by one of the agent's.
 *
 * Exceptions of the program pass through these frames. Clean-up functions then set the thread's state
 * and link right; they need the personality routine of GCC's libgcc_s, which is in every process with
 * C++ code. */
#include "agents/common/body-links.h"
#include "agents/tbb/task-wakers.h"
#include "agents/tbb/tbb-copies.h"
#include "agents/tbb/thread-limit.h"
#include "lib/opaque.h"

#include <string.h>

__asm__(".weak __gcc_personality_v0\n.weak _Unwind_Resume");

#define CLEANUP(function) __attribute__((cleanup(function)))

/* The thread may have changed: a task that was suspended is resumed by any. So the compiler must not
 * keep the address of the thread's slot over a call. */
static OPAQUE struct agent_slot *slot_now(void)
{
    return slot_mine();
}

/* A worker of libtbb joined when it began; other threads join with their first call. */
static inline struct agent_slot *slot_of_caller(void)
{
    struct agent_slot *slot = slot_mine();
    tbb_join(slot);
    return slot;
}

/* ---- the running task ---- */

/* In a function that calls code of the program. */
struct running {
    struct body_link link;
    enum agent_slot_state before;
    struct task_record *record; /* of a task; NULL: a callback */
};

static INLINED void begin(struct running *running, struct task_record *context,
                          struct task_record *record)
{
    struct agent_slot *slot = slot_mine();
    running->link = (struct body_link){.up = slot->tbb.link,
                                       .context = context ? &context->context : NULL,
                                       .sp = (uint64_t)&running->link};
    running->before = slot_state(slot);
    running->record = record;
    link_publish(&slot->tbb, &running->link);
    slot_set_state(slot, AGENT_SLOT_WORKING);
    PUBLISH();
    if (record) {
        struct agent_slot *owner = task_of(record)->queue;
        if (owner != slot)
            task_came(slot, record, owner);
        queue_remove(slot, owner);
    }
    slot->tbb.arrived = 0;
    if (__builtin_expect(record_kept(slot) && !running->link.up, 0))
        record_forget_kept(slot);
}

/* The record keeps the context of the link: it ends after it, or is kept before. */
static OPAQUE void end(struct running *running)
{
    struct agent_slot *slot = slot_mine();
    struct task_record *record = running->record;
    if (record && !running->link.up && record_keep_last(slot, record))
        record = NULL;
    slot_set_state(slot, running->before);
    link_withdraw(&slot->tbb, &running->link);
    wait_for_task(slot);
    if (record)
        record_end_task(slot, record);
}

/* ---- tables of tasks ---- */

struct execution;
typedef struct tbb_object *task_function(struct tbb_object *task, struct execution *execution);

static task_function run_task, run_cancel;

static inline bool is_wrapped(const struct tbb_object *task)
{
    return task->table[TASK_EXECUTE] == (uintptr_t)run_task;
}

/* The task gets a table of its own. It goes into the queue of the thread with this slot; NULL: into
 * one of its arena. */
static inline void wrap(struct tbb_object *task, struct task_record *record,
                        struct agent_slot *queue)
{
    if (!record)
        return;
    struct tbb_task *own = task_of(record);
    own->queue = queue;
    if (queue)
        queue_add(queue);
    uintptr_t *table = own->own_table + TABLE_PREFIX;
    own->table = task->table;
    memcpy(own->own_table, task->table - TABLE_PREFIX, sizeof own->own_table);
    table[TASK_EXECUTE] = (uintptr_t)run_task;
    table[TASK_CANCEL] = (uintptr_t)run_cancel;
    task->table = table;
}

/* A task that execute() returned: it runs next, in the same context, as if it were in the queue. */
static inline struct tbb_object *wrap_next(struct tbb_object *next)
{
    if (next && !is_wrapped(next)) {
        struct agent_slot *slot = slot_now();
        wrap(next, record_with_context(slot, context_of_thread(slot)), slot);
    }
    return next;
}

static INLINED struct tbb_object *run(struct tbb_object *task, struct execution *execution,
                                      int function)
{
    struct task_record *record = record_of_table(task->table);
    CLEANUP(end) struct running running;
    const uintptr_t *table = task->table = task_of(record)->table;
    begin(&running, task_of(record)->context, record);
    return wrap_next(((task_function *)table[function])(task, execution));
}

TRAMPOLINE static struct tbb_object *run_task(struct tbb_object *task, struct execution *execution)
{
    return run(task, execution, TASK_EXECUTE);
}

TRAMPOLINE static struct tbb_object *run_cancel(struct tbb_object *task,
                                                struct execution *execution)
{
    return run(task, execution, TASK_CANCEL);
}

/* ---- calls that create tasks ---- */

/* In a wrapper: the caller's functions and registers. */
#define BEGIN_CALL                                                                                 \
    const struct tbb_caller caller = {CALLER_PC, CALLER_SP, CALLER_BP};                            \
    const struct tbb_functions *real = tbb_functions_for(caller.pc);                               \
    struct agent_slot *slot = slot_of_caller()

static inline void wrap_spawned(struct agent_slot *slot, struct tbb_object *task,
                                const struct tbb_caller *caller, const void *group,
                                struct agent_slot *queue, bool is_submitted)
{
    if (is_wrapped(task))
        return;
    struct task_record *record = record_of_spawned(slot, caller, group, is_submitted);
    task_offered(record, queue);
    wrap(task, record, queue);
}

void tbb_spawn(struct tbb_object *task, void *group)
{
    BEGIN_CALL;
    wrap_spawned(slot, task, &caller, group, slot, false);
    real->spawn(task, group);
}

void tbb_spawn_in_slot(struct tbb_object *task, void *group, uint16_t arena_slot)
{
    BEGIN_CALL;
    wrap_spawned(slot, task, &caller, group, slot, false);
    real->spawn_in_slot(task, group, arena_slot);
}

void tbb_submit(struct tbb_object *task, void *group, void *arena, uintptr_t is_critical)
{
    BEGIN_CALL;
    wrap_spawned(slot, task, &caller, group, NULL, true);
    real->submit(task, group, arena, is_critical);
}

void tbb_enqueue(struct tbb_object *task, void *arena)
{
    BEGIN_CALL;
    wrap_spawned(slot, task, &caller, NULL, NULL, false);
    real->enqueue(task, arena);
}

void tbb_enqueue_in_group(struct tbb_object *task, void *group, void *arena)
{
    BEGIN_CALL;
    wrap_spawned(slot, task, &caller, group, NULL, false);
    real->enqueue_in_group(task, group, arena);
}

/* ---- calls that wait ---- */

/* A call in which the thread waits, but for the tasks that it runs meanwhile. In the slot, tbb.own
 * is the tbb::detail::d1::wait_context of the innermost one; NULL: it has none. */
struct waiting_call {
    struct body_link *link;
    enum agent_slot_state before;
    struct task_record *context; /* of an algorithm; NULL: none */
    void *wait;                  /* tbb.own in the call, and outside of it */
    void *wait_before;
    struct agent_slot *hidden;   /* its tasks cannot be taken in the call; NULL: all can */
    uint32_t hidden_tasks;       /* their number */
};

static INLINED void begin_wait(struct waiting_call *call, struct agent_slot *slot,
                               struct task_record *context, void *wait)
{
    *call = (struct waiting_call){.link = slot->tbb.link,
                                  .before = slot_state(slot),
                                  .context = context,
                                  .wait = wait,
                                  .wait_before = slot->tbb.own};
    slot->tbb.own = wait;
    slot_set_state(slot, AGENT_SLOT_IDLE);
    wait_for_task(slot);
}

static OPAQUE void end_wait(struct waiting_call *call)
{
    struct agent_slot *slot = slot_mine();
    PUBLISH();
    if (call->wait)
        tasks_ended(slot, call->wait);
    slot->tbb.arrived = 0;
    slot->tbb.link = call->link;
    slot_set_state(slot, call->before);
    slot->tbb.own = call->wait_before;
    if (call->hidden)
        queue_show(call->hidden, call->hidden_tasks);
    context_end_call(slot, call->context);
}

void tbb_execute_and_wait(struct tbb_object *task, void *group, void *wait, void *waiting_group)
{
    BEGIN_CALL;
    CLEANUP(end_wait) struct waiting_call call;
    struct task_record *context = context_of_call(slot, &caller, group);
    if (!is_wrapped(task))
        wrap(task, record_with_context(slot, context), slot);
    begin_wait(&call, slot, context, wait);
    real->execute_and_wait(task, group, wait, waiting_group);
}

/* A callback that the agent passes in place of the program's. */
struct callback {
    struct tbb_object object;
    struct tbb_object *original;
    struct task_record *context;
};

typedef bool callback_function(const struct tbb_object *callback);

TRAMPOLINE static bool run_callback(const struct callback *callback)
{
    CLEANUP(end) struct running running;
    begin(&running, callback->context, NULL);
    return ((callback_function *)callback->original->table[0])(callback->original);
}

static void no_destructor(void)
{
}

void tbb_execute(void *arena, struct tbb_object *delegate)
{
    static const struct {
        uintptr_t prefix[TABLE_PREFIX];
        void *functions[3];
    } table = {{0}, {(void *)run_callback, (void *)no_destructor, (void *)no_destructor}};
    BEGIN_CALL;
    CLEANUP(end_wait) struct waiting_call call;
    struct task_record *context = context_of_call(slot, &caller, NULL);
    struct callback callback = {{(const uintptr_t *)table.functions}, delegate, context};
    begin_wait(&call, slot, context, NULL);
    call.hidden = slot;
    call.hidden_tasks = queue_hide(slot);
    real->execute(arena, &callback.object);
}

/* In a wrapper: the thread waits until the wrapper returns. */
#define BEGIN_WAIT_FOR(wait)                                                                       \
    const struct tbb_functions *real = tbb_functions_for(CALLER_PC);                               \
    struct agent_slot *slot = slot_of_caller();                                                    \
    CLEANUP(end_wait) struct waiting_call call;                                                    \
    begin_wait(&call, slot, NULL, wait)
#define BEGIN_WAIT BEGIN_WAIT_FOR(NULL)

void tbb_wait(void *wait, void *group)
{
    BEGIN_WAIT_FOR(wait);
    real->wait(wait, group);
}

void tbb_wait_for_arena(void *arena)
{
    BEGIN_WAIT;
    real->wait_for_arena(arena);
}

void tbb_wait_on_address(void *address, void *delegate, uintptr_t context)
{
    BEGIN_WAIT;
    real->wait_on_address(address, delegate, context);
}

void tbb_wait_bounded_queue_monitor(void *monitor, size_t tag, ptrdiff_t target, void *delegate)
{
    BEGIN_WAIT;
    real->wait_bounded_queue_monitor(monitor, tag, target, delegate);
}

bool tbb_finalize(void *handle, intptr_t mode)
{
    BEGIN_WAIT;
    return real->finalize(handle, mode);
}

/* The last task of a wait has ended. */
void tbb_notify_waiters(uintptr_t wait)
{
    last_task_ended((const void *)wait);
    tbb_functions_for(CALLER_PC)->notify_waiters(wait);
}

/* The thread goes on with other tasks, on another stack, until this one is resumed. */
void tbb_suspend(void *callback, void *argument)
{
    BEGIN_WAIT;
    slot->tbb.link = NULL;
    real->suspend(callback, argument);
}

/* ---- the number of threads ---- */

_Atomic uint32_t tbb_thread_limit, tbb_threads;
static _Atomic int controls;

void tbb_create_control(struct tbb_control *control)
{
    const struct tbb_functions *real = tbb_functions_for(CALLER_PC);
    real->create_control(control);
    if (control->parameter != CONTROL_PARALLELISM || !real->active_value)
        return;
    atomic_fetch_add(&controls, 1);
    atomic_store(&tbb_thread_limit, (uint32_t)real->active_value(CONTROL_PARALLELISM));
}

/* Without a control, libtbb would be asked for its default, which it then keeps: it is not asked. */
void tbb_destroy_control(struct tbb_control *control)
{
    const struct tbb_functions *real = tbb_functions_for(CALLER_PC);
    bool is_counted = control->parameter == CONTROL_PARALLELISM && real->active_value;
    real->destroy_control(control);
    if (!is_counted)
        return;
    bool is_last = atomic_fetch_sub(&controls, 1) == 1;
    atomic_store(&tbb_thread_limit,
                 is_last ? 0 : (uint32_t)real->active_value(CONTROL_PARALLELISM));
}

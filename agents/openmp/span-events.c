#include "agents/openmp/span-events.h"

#include "agents/openmp/body-code.h"
#include "agents/openmp/events.h"
#include "agents/openmp/scopes.h"

#include <stdlib.h>

static const struct agent_tasks *tasks; /* hpcrun's */
static is_runtime_code *is_runtime;

void span_events_begin(const struct agent_tasks *events, bool (*runtime)(const void *address))
{
    tasks = events;
    is_runtime = runtime;
}

/* -------- what the thread executes --------
 *
 * A stack of implicit and explicit tasks, innermost last. Time in libomp is in no strand: between two
 * events where OMPT tells them, as for waits; what follows an event in libomp counts. */

struct running {
    const ompt_data_t *task;
    const ompt_data_t *left; /* the task that the thread left for this explicit one */
    void *handle;            /* hpcrun's, of the task or of its region; NULL: it is not observed */
    bool is_explicit;        /* else a member of a team */
    bool has_ended;          /* a member whose body has returned: it waits at the region's end */
    bool is_alone;    /* the member of a team of one thread, which has no barrier at its end */
    bool waits;       /* it is in a call of libomp that waits */
    bool is_paused;   /* the thread executes another task where it could go on */
    bool splits;      /* a task of libomp's own that creates tasks of a taskloop */
    bool is_in_parts; /* an untied task, of which this is a part */
    const void *code; /* of the body; NULL: unknown */
    const void *group_site;     /* where the program began the innermost taskgroup; NULL: none */
    const struct scope *league; /* of which it is a team; NULL: it is none */
};

struct running_stack {
    unsigned n, room;
    struct running at[];
};

/* The thread's stack; NULL: it has executed nothing yet. */
static struct running_stack *stack_mine(void)
{
    return slot_mine()->ompt.own;
}

static struct running *top(void)
{
    struct running_stack *stack = stack_mine();
    return stack && stack->n ? &stack->at[stack->n - 1] : NULL;
}

static void pop(void)
{
    stack_mine()->n--;
}

static bool is_on_stack(const ompt_data_t *task)
{
    const struct running_stack *stack = stack_mine();
    for (unsigned i = 0; stack && i < stack->n; i++)
        if (stack->at[i].task == task)
            return true;
    return false;
}

/* The stack with room for one more; NULL without memory. */
static struct running_stack *make_room(struct running_stack *stack)
{
    if (stack && stack->n < stack->room)
        return stack;
    unsigned room = stack ? 2 * stack->room : 32;
    struct running_stack *larger = realloc(stack, sizeof *larger + room * sizeof *larger->at);
    if (!larger)
        return NULL;
    if (!stack)
        larger->n = 0;
    larger->room = room;
    slot_mine()->ompt.own = larger;
    return larger;
}

static void push(struct running running)
{
    struct running_stack *stack = make_room(stack_mine());
    if (stack)
        stack->at[stack->n++] = running;
    else
        tasks->cannot_follow("memory ran out");
}

/* The innermost task waits from here on. */
static void begin_wait(enum agent_join what)
{
    struct running *running = top();
    if (!running || !running->handle || running->has_ended || running->waits)
        return;
    running->waits = true;
    tasks->waits(what);
}

static void end_wait(enum agent_join what)
{
    struct running *running = top();
    if (!running || !running->waits)
        return;
    running->waits = false;
    tasks->wait_ended(what);
}

/* A task begins where its thread goes on after the creation, or yields. */
static void begin_pause(void)
{
    struct running *running = top();
    if (!running || !running->handle || running->has_ended || running->waits)
        return;
    running->is_paused = true;
    tasks->waits(AGENT_JOIN_NOTHING);
}

static void end_pause(void)
{
    struct running *running = top();
    if (!running || !running->is_paused)
        return;
    running->is_paused = false;
    tasks->wait_ended(AGENT_JOIN_NOTHING);
}

/* The thread leaves the innermost task, an untied one. */
static void end_part(void)
{
    if (top()->handle)
        tasks->part_ended();
    pop();
    end_pause();
}

/* The bodies inside of a task on the stack are last parts of untied tasks. A thread reports that it leaves a
 * part before it does so. If the last part ends in between, libomp does not report its end: the thread that
 * leaves the earlier part then reports the end of the task. */
static void return_to(const ompt_data_t *task)
{
    if (!is_on_stack(task))
        return;
    while (top()->task != task && top()->is_in_parts)
        end_part();
    if (top()->task == task)
        return;
    tasks->cannot_follow("libomp reported events of its tasks in an order that is not known");
    while (top()->task != task)
        pop();
}

/* The task that waited goes on. libomp 14 may pass a copy of its data. */
static void return_to_waiting(void)
{
    while (top() && top()->handle && top()->is_in_parts && !top()->waits)
        end_part();
}

/* -------- regions --------
 *
 * A league is a region whose members are the teams. Each member of libomp's own region for it begins
 * another one, of one thread, whose body is that of the team: for hpcrun these are one. */

/* The return address of the call, or an address in its function, if the call is in libomp: that of a
 * taskloop, or the last one of a body. */
static const void *site_of(const void *caller)
{
    const struct running *running = top();
    if (!running || (caller && !is_runtime(caller)))
        return caller;
    if (running->group_site)
        return running->group_site;
    return running->code ? (const char *)running->code + 1 : caller;
}

static void parallel_begin(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *parallel,
                           unsigned threads, int flags, const void *caller)
{
    return_to(task);
    const struct scope *league = top() ? top()->league : NULL;
    const void *site = league ? league->site : site_of(caller);
    void *handle = league ? league->observed : tasks->region_begins(NULL, site);
    plain_events.parallel_begin(task, frame, parallel, threads, flags, caller);
    struct scope *scope = parallel->ptr;
    if (!scope) {
        tasks->cannot_follow("a region began in a thread that is not measured");
        return;
    }
    scope->observed = handle;
    scope->site = site;
    scope->is_league = flags & ompt_parallel_league;
    scope->is_team = league;
}

static void parallel_end(ompt_data_t *parallel, ompt_data_t *task, int flags, const void *caller)
{
    const struct scope *scope = parallel->ptr;
    void *handle = scope && !scope->is_team ? scope->observed : NULL;
    plain_events.parallel_end(parallel, task, flags, caller);
    if (handle)
        tasks->region_ended(handle);
}

static void begin_member(const ompt_data_t *parallel, const ompt_data_t *task, unsigned threads)
{
    const struct scope *scope = parallel ? parallel->ptr : NULL;
    if (!scope)
        return;
    if (scope->is_league) {
        push((struct running){.task = task, .league = scope});
        return;
    }
    const void *code = body_code_of_region(parallel);
    push((struct running){
        .task = task, .handle = scope->observed, .code = code, .is_alone = threads < 2});
    if (!scope->observed)
        return;
    tasks->region_code(scope->observed, code ? code : scope->site);
    tasks->member_begins(scope->observed);
}

/* The body has returned. */
static void end_member(struct running *member)
{
    if (member->has_ended)
        return;
    member->has_ended = true;
    if (member->handle)
        tasks->member_ended();
}

/* libomp tells the end in a worker when the thread gets its next region; end_member came before. The
 * data may then be a copy, but nothing is outside of a worker's region. */
static void implicit_task(int endpoint, ompt_data_t *parallel, ompt_data_t *task, unsigned threads,
                          unsigned number, int flags)
{
    const struct running_stack *stack = stack_mine();
    const ompt_data_t *ended = number != 0 && stack && stack->n > 0 ? stack->at[0].task : task;
    if (endpoint == ompt_scope_end && is_on_stack(ended)) {
        return_to(ended);
        end_member(top());
        pop();
    }
    plain_events.implicit_task(endpoint, parallel, task, threads, number, flags);
    if (endpoint == ompt_scope_begin)
        begin_member(parallel, task, threads);
}

/* -------- explicit tasks -------- */

/* In the data of an explicit task, in place of what events.c keeps there, which is in `own`. */
struct observed_task {
    void *own, *handle;
    const void *code, *group_site;
    bool splits, is_in_parts;
};

static unsigned kind_of(const ompt_data_t *task, int flags, int has_dependences)
{
    return (events_is_at_once(task) ? AGENT_TASK_AT_ONCE : 0) |
           (flags & ompt_task_final ? AGENT_TASK_FINAL : 0) |
           (flags & ompt_task_untied ? AGENT_TASK_IN_PARTS : 0) |
           (has_dependences ? AGENT_TASK_ORDERED : 0);
}

/* Keeps what the events of the task need; `of` has it, but for what events.c keeps. */
static void observe(ompt_data_t *task, const struct observed_task *of)
{
    struct observed_task *observed = malloc(sizeof *observed);
    if (observed) {
        *observed = *of;
        observed->own = task->ptr;
    } else {
        tasks->cannot_follow("memory ran out");
    }
    task->ptr = observed;
}

/* Of a taskloop with many tasks, libomp gives a part to a task of its own, which creates these, in the
 * name of the creator. Its work is that of the creator's procedure. The creator's taskwait, without a
 * group, would not join what it creates: then the span is a lower bound. */
static struct observed_task describe(const ompt_data_t *task, const struct running *creator)
{
    struct observed_task of = {.code = body_code_of_task(task)};
    of.splits = of.code && is_runtime(of.code);
    if (of.splits)
        of.code = creator ? creator->code : NULL;
    if (of.splits && creator)
        of.group_site = creator->group_site;
    return of;
}

/* What is created but is no explicit task is a `taskwait depend`, until ompt_taskwait_complete. */
static void task_create(ompt_data_t *creator, const ompt_frame_t *frame, ompt_data_t *task,
                        int flags, int has_dependences, const void *caller)
{
    bool is_explicit = flags & ompt_task_explicit;
    if (!top() || !top()->splits)
        return_to(creator);
    if (!is_explicit && has_dependences)
        begin_wait(AGENT_JOIN_UNKNOWN);
    if (!is_explicit) {
        plain_events.task_create(creator, frame, task, flags, has_dependences, caller);
        return;
    }
    const struct running *running = top();
    bool is_observed = running && running->handle;
    const void *site = site_of(caller);
    struct observed_task of = describe(task, running);
    of.is_in_parts = flags & ompt_task_untied;
    unsigned kind = kind_of(task, flags, has_dependences || (of.splits && !of.group_site));
    if (is_observed)
        of.handle = tasks->created(of.code ? of.code : site, site, kind);
    plain_events.task_create(creator, frame, task, flags, has_dependences, caller);
    observe(task, &of);
    if (is_observed)
        tasks->creation_ended();
}

/* Calls the function of events.c for a switch, with the data that it keeps of the next task. */
static void plain_switch(ompt_data_t *prior, int status, ompt_data_t *next)
{
    struct observed_task *observed = next->ptr;
    if (observed)
        next->ptr = observed->own;
    plain_events.task_schedule(prior, status, next);
    if (observed)
        next->ptr = observed;
}

/* The creator goes on, or waits for other tasks. */
static void end_task(ompt_data_t *task)
{
    const struct running *running = top();
    struct observed_task *observed = task->ptr;
    bool is_here = running && running->task == task && running->is_explicit;
    if (is_here && running->handle)
        tasks->task_ended();
    else if (!is_here && observed && observed->is_in_parts && observed->handle)
        tasks->ended_elsewhere(observed->handle);
    if (is_here)
        pop();
    task->ptr = observed ? observed->own : NULL;
    free(observed);
}

static void begin_task(const ompt_data_t *prior, const ompt_data_t *task)
{
    const struct observed_task *observed = task->ptr;
    struct running running = {.task = task, .left = prior, .is_explicit = true};
    if (observed) {
        running.handle = observed->handle;
        running.code = observed->code;
        running.group_site = observed->group_site;
        running.splits = observed->splits;
        running.is_in_parts = observed->is_in_parts;
    }
    push(running);
    if (running.handle)
        tasks->task_begins(running.handle);
}

/* A part of an untied task has ended, unless it was the last one (events.c). */
static bool ends_part(const ompt_data_t *prior, const ompt_data_t *next)
{
    const struct running *running = top();
    return running && running->is_in_parts && running->task == prior && running->left == next;
}

static void switch_to(ompt_data_t *prior, int status, ompt_data_t *next)
{
    if (ends_part(prior, next)) {
        struct observed_task *observed = prior->ptr;
        observed->group_site = top()->group_site;
        plain_switch(prior, status, next);
        end_part();
    } else {
        begin_pause();
        plain_switch(prior, status, next);
        begin_task(prior, next);
    }
}

static void task_schedule(ompt_data_t *prior, int status, ompt_data_t *next)
{
    bool is_switch = events_is_switch(status);
    if (is_switch)
        return_to(prior);
    if (is_switch && !events_is_end(status) && next) {
        switch_to(prior, status, next);
        return;
    }
    if (is_switch && events_is_end(status))
        end_task(prior);
    plain_events.task_schedule(prior, status, next);
    if (is_switch)
        end_pause();
    if (status == ompt_taskwait_complete)
        end_wait(AGENT_JOIN_UNKNOWN);
}

/* -------- waiting -------- */

static enum agent_join join_of(int kind)
{
    switch (kind) {
    case ompt_sync_region_barrier:
    case ompt_sync_region_barrier_implicit:
    case ompt_sync_region_barrier_explicit:
    case ompt_sync_region_barrier_implementation:
    case ompt_sync_region_barrier_implicit_workshare:
    case ompt_sync_region_barrier_implicit_parallel: return AGENT_JOIN_TEAM;
    case ompt_sync_region_taskwait: return AGENT_JOIN_CHILDREN;
    case ompt_sync_region_taskgroup: return AGENT_JOIN_GROUP;
    default: return AGENT_JOIN_NOTHING;
    }
}

/* Whether a barrier is that at the end of the region of the innermost task: libomp has forgotten the
 * frame that called the body, and its call in a worker has no caller in the program. */
static bool is_region_end(int kind, const void *caller)
{
    const struct running *running = top();
    if (!running || running->is_explicit || running->is_alone || join_of(kind) != AGENT_JOIN_TEAM)
        return false;
    const ompt_frame_t *frames = events_frames(running->task);
    return kind == ompt_sync_region_barrier_implicit_parallel || !caller ||
           (frames && !frames->exit_frame.ptr);
}

static void sync_region_wait(int kind, int endpoint, ompt_data_t *parallel, ompt_data_t *task,
                             const void *caller)
{
    bool begins = endpoint == ompt_scope_begin;
    if (begins)
        return_to(task);
    else
        return_to_waiting();
    if (begins && is_region_end(kind, caller))
        end_member(top());
    else if (begins)
        begin_wait(join_of(kind));
    plain_events.sync_region_wait(kind, endpoint, parallel, task, caller);
    if (!begins)
        end_wait(join_of(kind));
}

/* Of these events, only the beginning of a taskgroup is no wait. libomp 14 passes a copy of the data of
 * the task. */
static void sync_region(int kind, int endpoint, ompt_data_t *parallel, ompt_data_t *task,
                        const void *caller)
{
    struct running *running = top();
    (void)parallel;
    (void)task;
    if (kind != ompt_sync_region_taskgroup || !running)
        return;
    running->group_site = endpoint == ompt_scope_begin ? caller : NULL;
    if (endpoint == ompt_scope_begin && running->handle)
        tasks->group_begins();
}

static void mutex_acquire(int kind, unsigned hint, unsigned implementation, uint64_t lock,
                          const void *caller)
{
    kind = events_mutex_kind(kind, CALLER_PC);
    if (kind != ompt_mutex_test_lock && kind != ompt_mutex_test_nest_lock)
        begin_wait(kind == ompt_mutex_ordered ? AGENT_JOIN_UNKNOWN : AGENT_JOIN_NOTHING);
    plain_events.mutex_acquire(kind, hint, implementation, lock, caller);
}

static void mutex_acquired(int kind, uint64_t lock, const void *caller)
{
    plain_events.mutex_acquired(kind, lock, caller);
    end_wait(kind == ompt_mutex_ordered ? AGENT_JOIN_UNKNOWN : AGENT_JOIN_NOTHING);
}

static void nest_lock(int endpoint, uint64_t lock, const void *caller)
{
    plain_events.nest_lock(endpoint, lock, caller);
    if (endpoint == ompt_scope_begin)
        end_wait(AGENT_JOIN_NOTHING);
}

/* Of iterations (doacross); those of tasks are known from their creation. */
static void dependences(ompt_data_t *task, const ompt_dependence_t *of, int n)
{
    (void)task;
    if (n < 1 || (of->type != ompt_dependence_type_source && of->type != ompt_dependence_type_sink))
        return;
    begin_wait(AGENT_JOIN_UNKNOWN);
    end_wait(AGENT_JOIN_UNKNOWN);
}

static void thread_end(ompt_data_t *thread)
{
    free(stack_mine());
    slot_mine()->ompt.own = NULL;
    plain_events.thread_end(thread);
}

/* -------- registration -------- */

bool span_events_register(ompt_set_callback_t set_callback)
{
    bool are_known = true;
    if (!tasks)
        return true;
#define EVENT(name)                                                                                \
    are_known &= set_callback(ompt_callback_##name, (ompt_callback_t)(name)) == ompt_set_always
    EVENT(parallel_begin);
    EVENT(parallel_end);
    EVENT(implicit_task);
    EVENT(task_create);
    EVENT(task_schedule);
    EVENT(sync_region_wait);
    EVENT(sync_region);
    EVENT(mutex_acquire);
    EVENT(mutex_acquired);
    EVENT(nest_lock);
    EVENT(dependences);
    EVENT(thread_end);
#undef EVENT
    return are_known;
}

#include "hpcrun/span/task-span.h"

#include "hpcrun/span/task-paths.h"

#include <stdatomic.h>
#include <stddef.h>

static struct {
    uint64_t burden;
    uint64_t (*root_site)(uint64_t site);
    _Atomic bool is_on;
    bool is_open; /* the serial code has begun a region that has not ended */
    _Atomic bool has_overlaps, is_lower_bound;
    _Atomic(const char *) not_followed; /* why; NULL: everything was */
    uint64_t work;                      /* of all threads when the last region ended */
} tasks;

void task_span_init(uint64_t burden, uint64_t (*root_site)(uint64_t site))
{
    tasks.burden = burden << STRAND_SHIFT;
    tasks.root_site = root_site;
    tasks.is_on = true;
}

void task_span_stop(void)
{
    tasks.is_on = false;
}

void task_span_cannot_follow(const char *why)
{
    const char *none = NULL;
    atomic_compare_exchange_strong(&tasks.not_followed, &none, why);
    tasks.is_on = false;
}

/* ---- threads ---- */

/* The calling thread; NULL if events are off, or without memory. */
static struct task_thread *any_thread(void)
{
    if (!tasks.is_on)
        return NULL;
    struct task_thread *thread = task_thread_mine();
    if (!thread)
        span_fail();
    return thread;
}

/* The calling thread if it executes a task that is observed, else NULL. */
static struct task_thread *busy_thread(void)
{
    struct task_thread *thread = tasks.is_on ? task_thread_existing() : NULL;
    return thread && thread->top ? thread : NULL;
}

static void add_strand(struct task_thread *thread, struct span_task *task, uint64_t time)
{
    thread->work += time;
    span_tally_add(thread->tally, task->context, time);
    for (unsigned kind = 0; kind < KINDS; kind++)
        path_add_own(&task->path[kind], time, 1);
}

/* The strand of the top task, which is in parts, ends. Then `runner` executes the task. The strand may
 * have ended before: task_span_ended_elsewhere. */
static void stop_part(struct task_thread *thread, uint64_t time, struct task_thread *runner)
{
    struct span_task *task = thread->top;
    lock_enter(&task->lock);
    if (task->runner == thread) {
        add_strand(thread, task, time);
        task->runner = runner;
    }
    lock_leave(&task->lock);
}

/* The strand of the top task ends. */
static void stop(struct task_thread *thread)
{
    uint64_t time = strand_end(&thread->clock);
    if (thread->top->is_in_parts)
        stop_part(thread, time, thread);
    else
        add_strand(thread, thread->top, time);
}

/* The last thing that an event does. */
static void go_on(struct task_thread *thread)
{
    strand_begin(&thread->clock);
}

static void push(struct task_thread *thread, struct span_task *task)
{
    task->outer = thread->top;
    thread->top = task;
    go_on(thread);
}

static struct span_task *pop(struct task_thread *thread)
{
    struct span_task *task = thread->top;
    stop(thread);
    thread->top = task->outer;
    return task;
}

static void add_burden(struct span_task *task)
{
    path_add_own(&task->path[BURDENED], tasks.burden, 0);
}

/* ---- regions ---- */

/* The serial code begins a region. False if another thread is in one. */
static bool begin_root(void)
{
    if (!span_serial_ends()) {
        tasks.has_overlaps = true;
        return false;
    }
    tasks.is_open = true;
    return true;
}

static struct span_region *new_region(struct task_thread *thread, uint64_t site)
{
    if (!thread->top)
        return region_new(&thread->memory, CONTEXT_PROGRAM, tasks.root_site(site));
    return region_new(&thread->memory, thread->top->context, site);
}

void *task_span_region_begins(const void *code, const void *site)
{
    struct task_thread *thread = any_thread();
    if (!thread)
        return NULL;
    if (thread->top)
        stop(thread);
    else if (!begin_root())
        return NULL;
    struct span_region *region = new_region(thread, (uint64_t)site);
    if (!region) {
        span_fail();
        return NULL;
    }
    region->master = thread;
    region->creator = thread->top;
    if (code)
        region_set_code(region, (uint64_t)code);
    return region;
}

void task_span_region_code(void *region, const void *code)
{
    region_set_code(region, (uint64_t)code);
}

void task_span_member_begins(void *handle)
{
    struct span_region *region = handle;
    struct task_thread *thread = any_thread();
    struct span_task *member =
        thread ? task_new(&thread->memory, region, NULL, region->context) : NULL;
    if (!member) {
        span_fail();
        return;
    }
    if (thread != region->master)
        add_burden(member);
    atomic_fetch_add(&region->members, 1);
    push(thread, member);
}

static const char wrong_order[] = "the runtime reported events in an order that is impossible";

void task_span_member_ended(void)
{
    struct task_thread *thread = busy_thread();
    if (!thread)
        return;
    if (thread->top->parent) {
        task_span_cannot_follow(wrong_order);
        return;
    }
    struct span_task *member = pop(thread);
    struct span_region *region = member->region;
    task_arrives(member, &thread->memory);
    task_release(member, &thread->memory);
    atomic_fetch_sub(&region->members, 1);
}

/* The serial code goes on. */
static void end_root(struct task_thread *thread, uint32_t context,
                     struct critical_path longest[KINDS])
{
    struct critical_path *const path[KINDS] = {&longest[PLAIN], &longest[BURDENED]};
    uint64_t work = task_threads_work();
    span_add_computation(work - tasks.work, path, context, &thread->memory);
    tasks.work = work;
    tasks.is_open = false;
    span_serial_begins();
}

static void end_nested(struct task_thread *thread, uint32_t context,
                       struct critical_path longest[KINDS])
{
    struct span_task *creator = thread->top;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        span_change_owner(&longest[kind], &thread->memory, context, creator->context);
        span_append(&creator->path[kind], &thread->memory, &longest[kind]);
    }
    go_on(thread);
}

void task_span_region_ended(void *handle)
{
    struct span_region *region = handle;
    struct task_thread *thread = any_thread();
    struct critical_path longest[KINDS];
    uint32_t context = region->context;
    if (!thread)
        return;
    if (thread->top != region->creator || atomic_load(&region->members) > 0) {
        task_span_cannot_follow(wrong_order);
        return;
    }
    region_finish(region, longest, &thread->memory);
    if (thread->top)
        end_nested(thread, context, longest);
    else
        end_root(thread, context, longest);
}

/* ---- tasks ---- */

static struct span_task *create(struct task_thread *thread, const void *code, const void *site,
                                unsigned flags)
{
    struct span_task *parent = thread->top;
    uint32_t context = span_context_of(parent->context, (uint64_t)code, (uint64_t)site);
    struct span_task *task = task_new(&thread->memory, parent->region, parent, context);
    if (!task)
        return NULL;
    task->barriers = parent->barriers;
    task->group = parent->group;
    task->is_at_once = flags & AGENT_TASK_AT_ONCE || parent->is_final;
    task->is_final = flags & AGENT_TASK_FINAL || parent->is_final;
    task->is_many = flags & AGENT_TASK_MANY;
    task->is_in_parts = flags & AGENT_TASK_IN_PARTS;
    if (!task->is_at_once)
        task_copy_paths(task, parent, &thread->memory);
    return task;
}

static void count_spawn(struct task_thread *thread, struct span_task *task)
{
    thread->tally->by[task->parent->context].spawns++;
    if (!task->is_at_once)
        add_burden(task);
}

void *task_span_created(const void *code, const void *site, unsigned flags)
{
    struct task_thread *thread = busy_thread();
    if (!thread)
        return NULL;
    stop(thread);
    if (flags & AGENT_TASK_ORDERED)
        tasks.is_lower_bound = true;
    struct span_task *task = create(thread, code, site, flags);
    if (!task)
        span_fail();
    else if (task->is_many)
        task_keep(task);
    else
        count_spawn(thread, task);
    return task;
}

void task_span_creation_ended(void)
{
    struct task_thread *thread = busy_thread();
    if (thread)
        go_on(thread);
}

/* The lock orders the threads of two parts. */
static void begin_part(struct task_thread *thread, struct span_task *task)
{
    lock_enter(&task->lock);
    bool is_left = !task->runner;
    if (task->has_begun && !task->is_at_once)
        add_burden(task);
    task->has_begun = true;
    task->runner = thread;
    lock_leave(&task->lock);
    if (!is_left) {
        task_span_cannot_follow(wrong_order);
        return;
    }
    atomic_fetch_add(&task->references, 1);
    push(thread, task);
}

void task_span_task_begins(void *handle)
{
    struct span_task *task = handle;
    struct task_thread *thread = any_thread();
    if (!thread)
        return;
    if (task->is_many) {
        task = task_one_of(task, &thread->memory);
        if (!task) {
            span_fail();
            return;
        }
        count_spawn(thread, task);
    } else if (task->is_at_once && !task->has_begun) {
        task_copy_paths(task, task->parent, &thread->memory);
    }
    if (task->is_in_parts)
        begin_part(thread, task);
    else
        push(thread, task);
}

void task_span_task_ended(void)
{
    struct task_thread *thread = busy_thread();
    if (!thread)
        return;
    if (!thread->top->parent) {
        task_span_cannot_follow(wrong_order);
        return;
    }
    struct span_task *task = pop(thread);
    if (task->is_in_parts)
        task_release(task, &thread->memory);
    task_finish(task, &thread->memory);
}

void task_span_part_ended(void)
{
    struct task_thread *thread = busy_thread();
    if (!thread)
        return;
    struct span_task *task = thread->top;
    if (!task->is_in_parts) {
        task_span_cannot_follow(wrong_order);
        return;
    }
    stop_part(thread, strand_end(&thread->clock), NULL);
    thread->top = task->outer;
    task_release(task, &thread->memory);
}

/* The thread of the last part has not said yet that the part has ended: its strand ends here, at the
 * latest. */
void task_span_ended_elsewhere(void *handle)
{
    struct span_task *task = handle;
    struct task_thread *thread = any_thread();
    if (!thread)
        return;
    lock_enter(&task->lock);
    if (task->runner)
        add_strand(thread, task, strand_passed(&task->runner->clock));
    task->runner = NULL;
    lock_leave(&task->lock);
    task_finish(task, &thread->memory);
}

/* ---- joins ---- */

void task_span_waits(enum agent_join what)
{
    struct task_thread *thread = busy_thread();
    if (!thread)
        return;
    stop(thread);
    if (what == AGENT_JOIN_UNKNOWN)
        tasks.is_lower_bound = true;
    if (what == AGENT_JOIN_TEAM && !thread->top->parent)
        task_arrives(thread->top, &thread->memory);
}

/* What a task that is no member of a team passes is no barrier. */
static void join(struct span_task *task, enum agent_join what, struct worker_memory *memory)
{
    switch (what) {
    case AGENT_JOIN_CHILDREN: task_joins_children(task, memory); break;
    case AGENT_JOIN_GROUP:
        if (task->group)
            task_joins_group(task, memory);
        break;
    case AGENT_JOIN_TEAM:
        if (!task->parent)
            task_joins_team(task, memory);
        break;
    case AGENT_JOIN_NOTHING:
    case AGENT_JOIN_UNKNOWN: break;
    }
}

void task_span_wait_ended(enum agent_join what)
{
    struct task_thread *thread = busy_thread();
    if (!thread)
        return;
    join(thread->top, what, &thread->memory);
    if (thread->top->is_closed)
        task_leaves(thread->top);
    go_on(thread);
}

void task_span_group_begins(void)
{
    struct task_thread *thread = busy_thread();
    if (!thread)
        return;
    stop(thread);
    if (!task_begins_group(thread->top, &thread->memory))
        span_fail();
    go_on(thread);
}

/* ---- results ---- */

const char *task_span_problem(void)
{
    const char *not_followed = atomic_load(&tasks.not_followed);
    if (not_followed)
        return not_followed;
    if (tasks.has_overlaps)
        return "several threads ran parallel regions at the same time";
    if (tasks.is_open)
        return "the program ended in a parallel region";
    return NULL;
}

bool task_span_is_lower_bound(void)
{
    return tasks.is_lower_bound;
}

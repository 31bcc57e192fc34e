#include "hpcrun/span/task-paths.h"

#include <stdatomic.h>
#include <stddef.h>

/* Sizes of blocks (worker-memory.h). */
enum { TASK_SIZE = 1, REGION_SIZE = 1, GROUP_SIZE = 0 };

_Static_assert(sizeof(struct span_task) <= FIRST_BLOCK << TASK_SIZE, "a task has a block");
_Static_assert(sizeof(struct span_region) <= FIRST_BLOCK << REGION_SIZE, "a region has a block");
_Static_assert(sizeof(struct task_group) <= FIRST_BLOCK << GROUP_SIZE, "a group has a block");

/* ---- places ---- */

/* Under the lock of the place, if it has one. `path` has an owner in `context`, and is left as it is. */
static void offer(struct path_place *place, const struct critical_path path[KINDS],
                  uint32_t context, struct worker_memory *memory)
{
    for (unsigned kind = 0; kind < KINDS; kind++) {
        struct critical_path *longest = &place->path[kind];
        if (path[kind].length <= longest->length)
            continue;
        path_clear(longest, memory);
        if (!path_copy(longest, memory, &path[kind]))
            span_fail();
        span_change_owner(longest, memory, context, place->context);
    }
}

static void clear(struct critical_path path[KINDS], struct worker_memory *memory)
{
    for (unsigned kind = 0; kind < KINDS; kind++)
        path_clear(&path[kind], memory);
}

/* A task's paths become those of a place, which keeps them, if they are longer. */
static void take(struct span_task *task, const struct path_place *place,
                 struct worker_memory *memory)
{
    struct path_place own = {.context = task->context};
    for (unsigned kind = 0; kind < KINDS; kind++)
        own.path[kind] = task->path[kind];
    offer(&own, place->path, place->context, memory);
    for (unsigned kind = 0; kind < KINDS; kind++)
        task->path[kind] = own.path[kind];
}

static struct path_place *place_at(struct span_region *region, uint32_t barriers)
{
    return &region->before_barrier[barriers % 2];
}

/* To the next barrier of the task's team. The region's lock is the last one that a thread takes. */
static void offer_to_team(const struct span_task *task, uint32_t barriers,
                          const struct critical_path path[KINDS], struct worker_memory *memory)
{
    lock_enter(&task->region->lock);
    offer(place_at(task->region, barriers), path, task->context, memory);
    lock_leave(&task->region->lock);
}

/* ---- tasks ---- */

struct span_task *task_new(struct worker_memory *memory, struct span_region *region,
                           struct span_task *parent, uint32_t context)
{
    struct span_task *task = block_take(memory, TASK_SIZE);
    if (!task)
        return NULL;
    *task = (struct span_task){.references = 1,
                               .context = context,
                               .region = region,
                               .parent = parent,
                               .children.context = context};
    if (parent)
        atomic_fetch_add(&parent->references, 1);
    return task;
}

void task_release(struct span_task *task, struct worker_memory *memory)
{
    if (atomic_fetch_sub(&task->references, 1) > 1)
        return;
    clear(task->path, memory);
    clear(task->children.path, memory);
    block_free(memory, task, TASK_SIZE);
}

void task_copy_paths(struct span_task *task, const struct span_task *from,
                     struct worker_memory *memory)
{
    for (unsigned kind = 0; kind < KINDS; kind++) {
        if (!path_copy(&task->path[kind], memory, &from->path[kind]))
            span_fail();
        span_change_owner(&task->path[kind], memory, from->context, task->context);
    }
}

void task_keep(struct span_task *task)
{
    struct lock *lock = task->group ? &task->group->lock : &task->region->lock;
    struct span_task **list = task->group ? &task->group->many : &task->region->many;
    lock_enter(lock);
    task->outer = *list;
    *list = task;
    lock_leave(lock);
}

struct span_task *task_one_of(struct span_task *many, struct worker_memory *memory)
{
    struct span_task *task = task_new(memory, many->region, many->parent, many->context);
    if (!task)
        return NULL;
    task->barriers = many->barriers;
    task->group = many->group;
    task->is_at_once = many->is_at_once;
    task->is_final = many->is_final;
    task_copy_paths(task, many->is_at_once ? many->parent : many, memory);
    return task;
}

static void release_many(struct span_task *first, struct worker_memory *memory)
{
    for (struct span_task *task = first, *next; task; task = next) {
        struct span_task *parent = task->parent;
        next = task->outer;
        task_release(task, memory);
        task_release(parent, memory);
    }
}

/* To the parent, which may wait for its children. If it cannot until the next barrier, that joins
 * the task. */
static void offer_to_parent(const struct span_task *task, struct worker_memory *memory)
{
    struct span_task *parent = task->parent;
    lock_enter(&parent->lock);
    bool is_closed = parent->is_closed;
    offer(&parent->children, task->path, task->context, memory);
    lock_leave(&parent->lock);
    if (is_closed)
        offer_to_team(task, task->barriers, task->path, memory);
}

static void offer_to_group(const struct span_task *task, struct worker_memory *memory)
{
    lock_enter(&task->group->lock);
    offer(&task->group->place, task->path, task->context, memory);
    lock_leave(&task->group->lock);
}

/* Children that end from here on offer their paths to the region. So does this for those that have
 * ended. */
static void close_children(struct span_task *task, struct worker_memory *memory)
{
    lock_enter(&task->lock);
    task->is_closed = true;
    if (task->children.path[BURDENED].length > 0)
        offer_to_team(task, task->barriers, task->children.path, memory);
    lock_leave(&task->lock);
}

/* The parent of a task that runs at once waits in this thread. */
static void go_on_behind(const struct span_task *task, struct worker_memory *memory)
{
    const struct path_place place = {.context = task->context,
                                     .path = {task->path[PLAIN], task->path[BURDENED]}};
    take(task->parent, &place, memory);
}

void task_finish(struct span_task *task, struct worker_memory *memory)
{
    struct span_task *parent = task->parent;
    close_children(task, memory);
    if (task->is_at_once)
        go_on_behind(task, memory);
    else
        offer_to_parent(task, memory);
    if (task->group)
        offer_to_group(task, memory);
    task_release(task, memory);
    task_release(parent, memory);
}

bool task_begins_group(struct span_task *task, struct worker_memory *memory)
{
    struct task_group *group = block_take(memory, GROUP_SIZE);
    if (!group)
        return false;
    *group = (struct task_group){.outer = task->group, .place.context = task->region->context};
    task->group = group;
    return true;
}

/* ---- joins ---- */

void task_arrives(struct span_task *member, struct worker_memory *memory)
{
    close_children(member, memory);
    offer_to_team(member, member->barriers, member->path, memory);
}

void task_leaves(struct span_task *member)
{
    lock_enter(&member->lock);
    member->is_closed = false;
    lock_leave(&member->lock);
}

void task_joins_team(struct span_task *member, struct worker_memory *memory)
{
    lock_enter(&member->region->lock);
    take(member, place_at(member->region, member->barriers), memory);
    lock_leave(&member->region->lock);
    member->barriers++;
    lock_enter(&member->lock);
    member->is_closed = false;
    clear(member->children.path, memory);
    lock_leave(&member->lock);
}

void task_joins_children(struct span_task *task, struct worker_memory *memory)
{
    lock_enter(&task->lock);
    take(task, &task->children, memory);
    clear(task->children.path, memory);
    lock_leave(&task->lock);
}

void task_joins_group(struct span_task *task, struct worker_memory *memory)
{
    struct task_group *group = task->group;
    task->group = group->outer;
    take(task, &group->place, memory);
    clear(group->place.path, memory);
    release_many(group->many, memory);
    block_free(memory, group, GROUP_SIZE);
}

/* ---- regions ---- */

struct span_region *region_new(struct worker_memory *memory, uint32_t parent, uint64_t site)
{
    struct span_region *region = block_take(memory, REGION_SIZE);
    if (!region)
        return NULL;
    *region = (struct span_region){.context = CONTEXT_NONE, .parent = parent, .site = site};
    return region;
}

void region_set_code(struct span_region *region, uint64_t code)
{
    lock_enter(&region->lock);
    if (region->context == CONTEXT_NONE) {
        region->context = span_context_of(region->parent, code, region->site);
        region->before_barrier[0].context = region->before_barrier[1].context = region->context;
    }
    lock_leave(&region->lock);
}

void region_finish(struct span_region *region, struct critical_path longest[KINDS],
                   struct worker_memory *memory)
{
    struct path_place *even = &region->before_barrier[0], *odd = &region->before_barrier[1];
    offer(even, odd->path, region->context, memory);
    for (unsigned kind = 0; kind < KINDS; kind++)
        longest[kind] = even->path[kind];
    clear(odd->path, memory);
    release_many(region->many, memory);
    block_free(memory, region, REGION_SIZE);
}

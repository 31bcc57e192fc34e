#include "agents/tbb/task-contexts.h"

#include "agents/common/frame-copy.h"

#include <pthread.h>

/* Where a task spawns a task that spawns a task, and so on: from here on they have one context. */
#define MAX_DEPTH 128

/* The end of the initial thread's frames, of glibc's dynamic linker. */
extern void *__libc_stack_end;

/* ---- records ---- */

static struct task_record *new_record(struct agent_slot *slot, uint64_t bytes)
{
    struct task_record *record = record_allocate(&slot->tbb, sizeof(struct tbb_task) + bytes);
    if (!record)
        return NULL;
    struct tbb_task *task = task_of(record);
    record->parent = task->context = NULL;
    task->queue = NULL;
    task->depth = 0;
    atomic_init(&task->references, 1);
    return record;
}

static struct task_record *refer(struct task_record *record)
{
    if (record)
        atomic_fetch_add_explicit(&task_of(record)->references, 1, memory_order_relaxed);
    return record;
}

/* Whether it was the last reference. Nobody can add one to a record whose only reference is held
 * here, so this case needs no atomic subtraction, which takes 6 ns. */
static inline bool drop_reference(struct task_record *record)
{
    _Atomic uint32_t *references = &task_of(record)->references;
    return atomic_load_explicit(references, memory_order_acquire) == 1 ||
           atomic_fetch_sub_explicit(references, 1, memory_order_acq_rel) == 1;
}

static void release(struct agent_slot *slot, struct task_record *record)
{
    while (record && drop_reference(record)) {
        struct task_record *parent = record->parent;
        record_free(&slot->tbb, record);
        record = parent;
    }
}

/* ---- frames ---- */

/* The end of the frames outside of `sp`: the innermost task's, or the end of the thread's stack. The
 * initial thread is known by its stack: a system call would cost more than all the rest. */
static uint64_t end_of_frames(const struct agent_slot *slot, uint64_t sp)
{
    const struct body_link *link = slot->tbb.link;
    uint64_t initial = (uint64_t)__libc_stack_end;
    if (link)
        return link->sp;
    return initial - sp <= LARGEST_COPY ? initial : (uint64_t)pthread_self();
}

/* Bytes of the frames to copy; 0: none, or too many. */
static uint64_t bytes_of_frames(const struct agent_slot *slot, uint64_t sp, uint64_t most)
{
    uint64_t bytes = end_of_frames(slot, sp) - sp;
    return task_contexts == TASK_CONTEXTS_FULL && bytes <= most ? bytes : 0;
}

/* The kind is stored last: samples of other threads may be reading the context. */
static void copy_frames(struct task_record *record, uint64_t bytes)
{
    struct creation_context *context = &record->context;
    char *copy = (char *)(task_of(record) + 1);
    context->low = context->sp;
    context->high = context->sp + bytes;
    context->copy = (uint64_t)copy;
    frame_copy(copy, (const void *)context->sp, bytes);
    PUBLISH();
    context->kind = CONTEXT_COPY;
}

/* The record gets a context of its own, which continues in the thread's. */
static void set_context(struct agent_slot *slot, struct task_record *record,
                        enum creation_context_kind kind, const struct tbb_caller *caller,
                        const void *group)
{
    struct task_record *parent = context_of_thread(slot);
    struct tbb_task *task = task_of(record);
    struct creation_context *context = &record->context;
    /* One by one: for a whole struct gcc clears the memory by `rep stos`, which takes 6 ns. */
    context->kind = kind;
    context->pc = caller->pc;
    context->sp = caller->sp;
    context->bp = caller->bp;
    context->up = (uint64_t)slot->tbb.link;
    context->parent = (uint64_t)parent;
    context->body = 0;
    context->thread = slot->thread;
    record->parent = refer(parent);
    task->context = record;
    task->group = group;
    task->depth = parent ? task_of(parent)->depth + 1 : 0;
}

_Static_assert(offsetof(struct task_record, context) == 0, "a context's address is its record's");

/* ---- calls of algorithms ---- */

struct task_record *context_of_call(struct agent_slot *slot, const struct tbb_caller *caller,
                                    const void *group)
{
    struct task_record *record = new_record(slot, 0);
    if (record)
        set_context(slot, record, CONTEXT_ON_STACK, caller, group);
    return record;
}

void context_end_call(struct agent_slot *slot, struct task_record *call)
{
    if (!call)
        return;
    if (atomic_load_explicit(&task_of(call)->references, memory_order_acquire) > 1) {
        uint64_t bytes =
            bytes_of_frames(slot, call->context.sp, SMALL_MEMORY - sizeof(struct tbb_task));
        if (bytes)
            copy_frames(call, bytes);
        else
            call->context.kind = CONTEXT_SITE;
    }
    release(slot, call);
}

/* ---- tasks ---- */

struct task_record *record_with_context(struct agent_slot *slot, struct task_record *context)
{
    struct task_record *record = new_record(slot, 0);
    if (record)
        task_of(record)->context = record->parent = refer(context);
    return record;
}

/* Whether a task that is created in a context has this context. */
static bool is_shared(struct task_record *context, const void *group, bool is_submitted)
{
    if (task_contexts == TASK_CONTEXTS_OFF)
        return true;
    if (!context)
        return false;
    const struct tbb_task *task = task_of(context);
    bool is_algorithm = is_submitted || context->context.kind == CONTEXT_ON_STACK;
    return (is_algorithm && group && task->group == group) || task->depth >= MAX_DEPTH;
}

struct task_record *record_of_spawned(struct agent_slot *slot, const struct tbb_caller *caller,
                                      const void *group, bool is_submitted)
{
    struct task_record *context = context_of_thread(slot);
    if (is_shared(context, group, is_submitted))
        return record_with_context(slot, context);
    uint64_t bytes = bytes_of_frames(slot, caller->sp, LARGEST_COPY);
    struct task_record *record = new_record(slot, bytes);
    if (!record)
        return NULL;
    set_context(slot, record, CONTEXT_SITE, caller, group);
    if (bytes)
        copy_frames(record, bytes);
    return record;
}

static void keep(struct agent_slot *slot, struct task_record *record)
{
    struct task_record *before = slot->tbb.kept;
    PUBLISH();
    slot->tbb.kept = record;
    PUBLISH();
    release(slot, before);
}

bool record_keep_last(struct agent_slot *slot, struct task_record *record)
{
    if (slot->pool != RUNTIME_TBB || !queue_length(slot))
        return false;
    keep(slot, record);
    return true;
}

void record_end_task(struct agent_slot *slot, struct task_record *record)
{
    release(slot, record);
}

void record_forget_kept(struct agent_slot *slot)
{
    keep(slot, NULL);
}

/* Tasks. The wrappers pass run_task to libgomp in place of the task's function, and put a block
 * before the user's data. libgomp reads and writes the first words of what it takes for the user's
 * data: the block begins with copies of these words, and run_task copies them on. */
#include "agents/common/body-links.h"
#include "agents/common/ready-tasks.h"
#include "agents/gomp/task-events.h"

#include <stdlib.h>
#include <string.h>

/* Flags of GOMP_task and GOMP_taskloop. */
enum {
    FLAG_FINAL = 2,
    FLAG_DEPEND = 8,
    FLAG_IF = 1024,
    FLAG_NOGROUP = 2048,
    FLAG_REDUCTION = 4096,
    FLAG_DETACH = 8192,
};

/* What the first words of the user's data are for. */
enum mirrored {
    MIRRORED_NONE,
    MIRRORED_EVENT,  /* word 0: libgomp stores the event of a task that is detached */
    MIRRORED_BOUNDS, /* words 0 and 1: it stores the bounds of a taskloop's task */
};

struct task_block {
    uint64_t words[3]; /* libgomp's; word 2: pointer to a taskloop's reductions */
    void (*function)(void *);
    void (*copy_function)(void *to, void *from);
    void *source;    /* the user's data from which copy_function copies */
    uint64_t offset; /* of the user's data in the block's memory */
    uint32_t mirrored;
    struct task_record *record; /* NULL: `context` is what is known */
    const struct creation_context *context;
    struct parallel_region *region;
    void *observed; /* handle of its events; NULL: they are not reported */
};

#define USER_DATA(block) ((char *)(block) + (block)->offset)

static inline void copy_words(void *data, const struct task_block *block)
{
    if (block->mirrored != MIRRORED_NONE)
        memcpy(data, block->words, block->mirrored == MIRRORED_BOUNDS ? 16 : 8);
}

/* A record is the task's own if one task runs for it. */
static inline bool owns_record(const struct task_block *block)
{
    return block->record && block->mirrored != MIRRORED_BOUNDS;
}

static INLINED void run(void *data)
{
    struct task_block *block = data;
    struct agent_slot *slot = slot_mine();
    bool is_inline = slot->gomp.own == block;
    struct body_link link = {.up = slot->gomp.link,
                             .context = block->context,
                             .sp = (uint64_t)&link,
                             .is_inline = is_inline,
                             .region = block->region,
                             .body = (uint64_t)block->function};
    uint32_t before = atomic_load_explicit(&slot->state, memory_order_relaxed);
    link.record = owns_record(block) ? block->record : NULL;
    task_begun(&slot->gomp, link.record);
    copy_words(USER_DATA(block), block);
    slot->gomp.own = NULL;
    link_publish(&slot->gomp, &link);
    slot_set_state(slot, AGENT_SLOT_WORKING);
    if (block->observed)
        task_events->task_begins(block->observed);
    block->function(USER_DATA(block));
    if (block->observed)
        task_events->task_ended();
    bool waits_for_event = is_inline && block->mirrored == MIRRORED_EVENT;
    slot_set_state(slot, waits_for_event ? AGENT_SLOT_IDLE : before);
    slot->gomp.waits.count++;
    link_withdraw(&slot->gomp, &link);
    if (link.record)
        record_end(&slot->gomp, link.record);
}

TRAMPOLINE static void run_task(void *data)
{
    run(data);
}

TRAMPOLINE static void run_taskloop(void *data)
{
    run(data);
}

/* In place of the user's function that copies the data: this runs code of the program. */
static void copy_block(void *to, void *from)
{
    struct task_block *copy = to, *block = from;
    struct agent_slot *slot = slot_mine();
    enum agent_slot_state before = slot_state(slot);
    *copy = *block;
    copy->source = USER_DATA(copy);
    if (block->mirrored == MIRRORED_EVENT)
        copy_words(block->source, block);
    slot_set_state(slot, AGENT_SLOT_WORKING);
    block->copy_function(USER_DATA(copy), block->source);
    slot_set_state(slot, before);
}

/* ---- creation ---- */

/* The user's data lies behind the block at its alignment. libgomp copies both. A block with large
 * data is on the heap, as the creator's stack may be small. */
#define MOST_ON_STACK 4096

struct task_shape {
    uint64_t offset, bytes, align;
};

static inline struct task_shape shape_of(long size, long align)
{
    uint64_t at = align > 16 ? (uint64_t)align : 16;
    uint64_t offset = (sizeof(struct task_block) + at - 1) & ~(at - 1);
    return (struct task_shape){offset, offset + (uint64_t)size, at};
}

static inline void fill_block(struct task_block *block, const struct task_shape *shape,
                              region_function *function, void *data, copy_function *copy,
                              enum mirrored mirrored)
{
    memset(block->words, 0, sizeof block->words);
    block->function = function;
    block->copy_function = copy;
    block->source = data;
    block->offset = shape->offset;
    block->mirrored = mirrored;
    block->record = NULL;
    block->context = NULL;
    block->region = NULL;
    block->observed = NULL;
    if (!copy && shape->bytes > shape->offset)
        memcpy((char *)block + shape->offset, data, shape->bytes - shape->offset);
}

/* The context of what a thread creates outside of all constructs, or without a record: the context
 * in which the thread runs. The frames that end at the innermost link are copied, also if that is of a
 * task that runs in its GOMP_task call and the frames outside of it stand: its record has these. So a
 * creation takes the same time however deep such tasks are nested. */
static inline void set_context(struct task_block *block, struct agent_slot *slot, uint64_t pc,
                               uint64_t sp, uint64_t bp)
{
    struct body_link *link = slot->gomp.link;
    if (!link)
        return;
    if (link->context) /* else a serial task: its tasks run at once, in its frames */
        block->record = record_new(&slot->gomp, link, pc, sp, bp);
    block->context = block->record ? &block->record->context : link->context;
    block->region = link->region;
}

/* Memory for a block: `room`, aligned, or from the heap if that is too small. */
static inline struct task_block *place_block(char *room, uint64_t room_bytes,
                                             const struct task_shape *shape, void **heap)
{
    uint64_t needed = shape->bytes + shape->align;
    *heap = needed > room_bytes ? malloc(needed) : NULL;
    uint64_t at = (uint64_t)(*heap ? (char *)*heap : room);
    return (struct task_block *)((at + shape->align - 1) & ~(shape->align - 1));
}

static inline bool fits(const struct task_shape *shape)
{
    return shape->bytes + shape->align <= MOST_ON_STACK;
}

static void *report_task(region_function *fn, uint64_t site, bool is_deferred, unsigned flags,
                         unsigned more)
{
    unsigned kind = (is_deferred ? 0 : AGENT_TASK_AT_ONCE) |
                    (flags & FLAG_FINAL ? AGENT_TASK_FINAL : 0) |
                    (flags & FLAG_DEPEND ? AGENT_TASK_ORDERED : 0) | more;
    return task_events->created((const void *)(uintptr_t)fn, (const void *)site, kind);
}

void GOMP_task(region_function *fn, void *data, copy_function *copy, long size, long align,
               bool is_deferred, unsigned flags, void **depend, int priority, void *detach,
               FURTHER_PARAMETERS)
{
    const struct gomp_functions *real = gomp_functions_for(CALLER_PC);
    if (!real->is_traced) {
        real->GOMP_task(fn, data, copy, size, align, is_deferred, flags, depend, priority, detach,
                        FURTHER_ARGUMENTS);
        return;
    }
    struct agent_slot *slot = slot_mine();
    struct task_shape shape = shape_of(size, align);
    void *heap = NULL, *creating = slot->gomp.own;
    char *room = fits(&shape) ? __builtin_alloca(shape.bytes + shape.align) : NULL;
    struct task_block *block =
        place_block(room, room ? shape.bytes + shape.align : 0, &shape, &heap);
    bool has_event = flags & FLAG_DETACH && data && size >= 8;
    fill_block(block, &shape, fn, data, copy, has_event ? MIRRORED_EVENT : MIRRORED_NONE);
    set_context(block, slot, CALLER_PC, CALLER_SP, CALLER_BP);
    task_created(&slot->gomp, block->record, !(flags & FLAG_DEPEND));
    slot->gomp.own = block;
    if (real->is_observed)
        block->observed = report_task(fn, CALLER_PC, is_deferred, flags, 0);
    if (flags & (FLAG_DEPEND | FLAG_DETACH) && !is_deferred)
        slot_set_state(slot, AGENT_SLOT_IDLE);
    real->GOMP_task(run_task, block, copy ? copy_block : NULL, (long)shape.bytes, (long)shape.align,
                    is_deferred, flags, depend, priority, detach, 0, 0, 0, 0, 0, 0);
    if (real->is_observed)
        task_events->creation_ended();
    slot_set_state(slot, AGENT_SLOT_WORKING);
    slot->gomp.own = creating;
    free(heap);
}

/* ---- taskloop ---- */

/* For the block of all tasks of a taskloop. `context` is in the wrapper's frame, which lives until
 * the tasks have ended if the taskloop waits for them. */
static inline void set_loop_context(struct task_block *block, struct agent_slot *slot,
                                    const struct creation_context *context, bool waits)
{
    if (waits) {
        const struct body_link *link = slot->gomp.link;
        block->context = context;
        block->region = link ? link->region : NULL;
        return;
    }
    set_context(block, slot, context->pc, context->sp, context->bp);
    task_created(&slot->gomp, block->record, false);
    if (block->record)
        record_keep(block->record);
}

static bool ends_own_group(unsigned flags)
{
    return flags & FLAG_REDUCTION && !(flags & FLAG_NOGROUP);
}

static void report_loop(struct task_block *block, uint64_t site, unsigned flags)
{
    if (ends_own_group(flags))
        task_events->group_begins();
    block->observed = report_task(block->function, site, flags & FLAG_IF, flags, AGENT_TASK_MANY);
}

static void report_end_of_loop(unsigned flags)
{
    task_events->creation_ended();
    if (!ends_own_group(flags))
        return;
    task_events->waits(AGENT_JOIN_GROUP);
    task_events->wait_ended(AGENT_JOIN_GROUP);
}

/* To tell the creation of the tasks from waiting for them, the taskloop runs in a group that this
 * wrapper ends. One with reductions must end its group itself. */
#define TASKLOOP(name, type)                                                                       \
    void name(region_function *fn, void *data, copy_function *copy, long size, long align,         \
              unsigned flags, unsigned long tasks, int priority, type start, type stop, type step, \
              FURTHER_PARAMETERS)                                                                  \
    {                                                                                              \
        const struct gomp_functions *real = gomp_functions_for(CALLER_PC);                         \
        if (!real->is_traced) {                                                                    \
            real->name(fn, data, copy, size, align, flags, tasks, priority, start, stop, step,     \
                       FURTHER_ARGUMENTS);                                                         \
            return;                                                                                \
        }                                                                                          \
        struct agent_slot *slot = slot_mine();                                                     \
        struct task_shape shape = shape_of(size, align);                                           \
        struct creation_context context = {.kind = CONTEXT_ON_STACK,                               \
                                           .pc = CALLER_PC,                                        \
                                           .sp = CALLER_SP,                                        \
                                           .bp = CALLER_BP,                                        \
                                           .up = (uint64_t)slot->gomp.link,                        \
                                           .thread = slot->thread};                                \
        void *heap = NULL;                                                                         \
        char *room = fits(&shape) ? __builtin_alloca(shape.bytes + shape.align) : NULL;            \
        struct task_block *block =                                                                 \
            place_block(room, room ? shape.bytes + shape.align : 0, &shape, &heap);                \
        bool waits = !(flags & FLAG_NOGROUP), reduces = flags & FLAG_REDUCTION;                    \
        fill_block(block, &shape, fn, data, copy, MIRRORED_BOUNDS);                                \
        set_loop_context(block, slot, &context, waits);                                            \
        if (reduces && size >= 24)                                                                 \
            block->words[2] = ((const uint64_t *)data)[2];                                         \
        if (waits && !reduces)                                                                     \
            real->GOMP_taskgroup_start();                                                          \
        if (real->is_observed)                                                                     \
            report_loop(block, context.pc, flags);                                                 \
        slot_set_state(slot, reduces ? AGENT_SLOT_IDLE : AGENT_SLOT_WORKING);                      \
        real->name(run_taskloop, block, copy ? copy_block : NULL, (long)shape.bytes,               \
                   (long)shape.align, waits && !reduces ? flags | FLAG_NOGROUP : flags, tasks,     \
                   priority, start, stop, step, 0, 0, 0, 0, 0, 0);                                 \
        if (real->is_observed)                                                                     \
            report_end_of_loop(flags);                                                             \
        if (waits && !reduces) {                                                                   \
            wait_for_tasks(slot, &slot->gomp);                                                     \
            real->GOMP_taskgroup_end();                                                            \
        }                                                                                          \
        slot_set_state(slot, AGENT_SLOT_WORKING);                                                  \
        free(heap);                                                                                \
    }
TASKLOOP(GOMP_taskloop, long)
TASKLOOP(GOMP_taskloop_ull, ull)

/* It is interposed for its event: task-events.c. */
void GOMP_taskgroup_start(void)
{
    gomp_functions_for(CALLER_PC)->GOMP_taskgroup_start();
}

/* ---- cancellation ---- */

/* Tasks of the region may never run from here on. */
bool GOMP_cancel(int which, bool is_wanted)
{
    const struct gomp_functions *real = gomp_functions_for(CALLER_PC);
    struct agent_slot *slot = slot_mine();
    const struct body_link *link = slot->gomp.link;
    if (is_wanted && link && link->region) {
        atomic_store(&link->region->is_cancelled, true);
        tasks_cancelled(&slot->gomp);
    }
    return real->GOMP_cancel(which, is_wanted);
}

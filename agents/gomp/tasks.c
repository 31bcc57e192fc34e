/* Tasks. The wrappers pass run_task to libgomp in place of the task's function, and put a block
 * before the user's data. libgomp reads and writes the first words of what it takes for the user's
 * data: the block begins with copies of these words, and run_task copies them on.
 *
 * Programs nest tasks that are executed where they are created, thousands of them, on a stack that is
 * large enough for them alone. So the block is in the task's record wherever that is possible, and the
 * wrapper ends with a jump to libgomp's function: for each such task, only run_task's frame is added. */
#include "agents/common/body-links.h"
#include "agents/common/team-waits.h"
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

enum { CANCEL_TASKGROUP = 8 }; /* of GOMP_cancel */

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
    struct task_record *bare;   /* else: a record of which only the memory is used; NULL: none */
    const struct creation_context *context;
    struct parallel_region *region;
    void *observed; /* handle of its events; NULL: they are not reported */
    /* Address of the block that GOMP_task got. libgomp copies it, but for a task that is executed in
     * that call and that has no copy_function. */
    const struct task_block *original;
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

/* The tasks that were created with this one (team-waits.h); NULL: unknown. */
static inline const void *siblings(const struct task_block *block)
{
    if (block->mirrored == MIRRORED_BOUNDS)
        return block->context;
    return block->record ? block->record->parent : NULL;
}

static INLINED void run(void *data)
{
    struct task_block *block = data;
    struct agent_slot *slot = slot_mine();
    bool is_inline = block->original == block;
    struct body_link link = {.up = slot->gomp.link,
                             .context = block->context,
                             .sp = (uint64_t)&link,
                             .is_inline = is_inline,
                             .region = block->region,
                             .body = (uint64_t)block->function};
    uint32_t before = atomic_load_explicit(&slot->state, memory_order_relaxed);
    link.record = owns_record(block) ? block->record : NULL;
    task_came(&slot->gomp, siblings(block));
    task_begun(&slot->gomp, link.record);
    copy_words(USER_DATA(block), block);
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
    task_ends(&slot->gomp, link.record, before);
    if (block->mirrored == MIRRORED_BOUNDS)
        let_others_go(block->context);
    struct task_record *bare = block->bare;
    link_withdraw(&slot->gomp, &link);
    if (link.record)
        record_end(&slot->gomp, link.record);
    if (bare)
        record_free(&slot->gomp, bare);
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

/* The user's data lies behind the block at its alignment. libgomp copies both. */
struct task_shape {
    uint64_t offset, bytes, align;
};

static INLINED struct task_shape shape_of(long size, long align)
{
    uint64_t at = align > 16 ? (uint64_t)align : 16;
    uint64_t offset = (sizeof(struct task_block) + at - 1) & ~(at - 1);
    return (struct task_shape){offset, offset + (uint64_t)size, at};
}

/* Bytes that have room for a block of the shape, wherever they are. A multiple of 16. */
static inline uint64_t room_for(const struct task_shape *shape)
{
    return (shape->bytes + shape->align + 15) & ~15ull;
}

static inline struct task_block *align_block(void *room, const struct task_shape *shape)
{
    return (struct task_block *)(((uint64_t)room + shape->align - 1) & ~(shape->align - 1));
}

/* A block on the stack, or in `*heap` if it is large, as the creator's stack may be small. */
#define MOST_ON_STACK 4096
#define PLACE_BLOCK(shape, heap)                                                                   \
    (*(heap) = room_for(shape) > MOST_ON_STACK ? malloc(room_for(shape)) : NULL,                   \
     align_block(*(heap) ? *(heap) : __builtin_alloca(room_for(shape)), shape))

/* A block in a record. Larger ones would be allocated one by one. */
#define MOST_IN_RECORD 512

static INLINED void fill_block(struct task_block *block, const struct task_shape *shape,
                               region_function *function, void *data, copy_function *copy,
                               enum mirrored mirrored)
{
    memset(block->words, 0, sizeof block->words);
    block->function = function;
    block->copy_function = copy;
    block->source = data;
    block->offset = shape->offset;
    block->mirrored = mirrored;
    block->record = block->bare = NULL;
    block->context = NULL;
    block->region = NULL;
    block->observed = NULL;
    block->original = NULL;
    if (!copy && shape->bytes > shape->offset)
        memcpy((char *)block + shape->offset, data, shape->bytes - shape->offset);
}

/* Words of a frame that begins with a frame pointer: the caller's bp, and the return address. The
 * caller's frame is behind them. */
enum { FRAME_BP, FRAME_PC, FRAME_WORDS };

/* The record of a task that is created by the function of this frame, if a thread creates it in a
 * construct; NULL: none. Of a task outside of all regions, tasks are executed at once, in its frames.
 *
 * The frames that end at the innermost link are copied, also if that is of a task that runs in
 * its GOMP_task call and the frames outside of it stand: its record has these. So a creation takes the
 * same time however deep such tasks are nested. */
static INLINED struct task_record *record_for(struct agent_slot *slot, const uint64_t *frame,
                                              uint64_t room)
{
    struct body_link *link = slot->gomp.link;
    if (!link || !link->context)
        return NULL;
    return record_new(&slot->gomp, link, frame[FRAME_PC], (uint64_t)(frame + FRAME_WORDS),
                      frame[FRAME_BP], room);
}

/* record NULL: the context is that in which the thread runs. */
static INLINED void set_context(struct task_block *block, const struct agent_slot *slot,
                                struct task_record *record)
{
    const struct body_link *link = slot->gomp.link;
    if (!link)
        return;
    block->record = record;
    block->context = record ? &record->context : link->context;
    block->region = link->region;
}

static void *report_task(region_function *fn, uint64_t site, bool is_deferred, unsigned flags,
                         unsigned more)
{
    unsigned kind = (is_deferred ? 0 : AGENT_TASK_AT_ONCE) |
                    (flags & FLAG_FINAL ? AGENT_TASK_FINAL : 0) |
                    (flags & FLAG_DEPEND ? AGENT_TASK_ORDERED : 0) | more;
    return task_events->created((const void *)(uintptr_t)fn, (const void *)site, kind);
}

/* Creates a task whose block is not in a record, or whose creation does not end with libgomp's function.
 * `frame` is that of the wrapper. */
static __attribute__((noinline)) void create_task(const struct gomp_functions *real,
                                                  const uint64_t *frame, region_function *fn,
                                                  void *data, copy_function *copy, long size,
                                                  long align, bool is_deferred, unsigned flags,
                                                  void **depend, int priority, void *detach)
{
    struct agent_slot *slot = slot_mine();
    struct task_shape shape = shape_of(size, align);
    void *heap;
    struct task_block *block = PLACE_BLOCK(&shape, &heap);
    bool has_event = flags & FLAG_DETACH && data && size >= 8;
    fill_block(block, &shape, fn, data, copy, has_event ? MIRRORED_EVENT : MIRRORED_NONE);
    set_context(block, slot, record_for(slot, frame, 0));
    task_created(&slot->gomp, block->record, !(flags & FLAG_DEPEND));
    if (is_deferred)
        task_offered(block->record);
    block->original = block;
    if (real->is_observed)
        block->observed = report_task(fn, frame[FRAME_PC], is_deferred, flags, 0);
    if (flags & (FLAG_DEPEND | FLAG_DETACH) && !is_deferred)
        slot_set_state(slot, AGENT_SLOT_IDLE);
    real->GOMP_task(run_task, block, copy ? copy_block : NULL, (long)shape.bytes, (long)shape.align,
                    is_deferred, flags, depend, priority, detach);
    if (real->is_observed)
        task_events->creation_ended();
    slot_set_state(slot, AGENT_SLOT_WORKING);
    free(heap);
}

/* A record without a context, for its memory. */
static struct task_record *bare_record(struct agent_slot_part *thread, uint64_t room)
{
    const struct body_link *link = thread->link;
    struct task_record *record = record_allocate(thread, room);
    if (record) {
        record->region = link ? link->region : NULL;
        record->parent = NULL;
        record->group = link && link->record ? link->record->inside : NULL;
    }
    return record;
}

/* The task's block in a record; NULL: create_task must create the task. */
static INLINED struct task_block *block_in_record(const uint64_t *frame, region_function *fn,
                                                  void *data, copy_function *copy,
                                                  const struct task_shape *shape, bool is_deferred,
                                                  unsigned flags)
{
    struct agent_slot *slot = slot_mine();
    uint64_t room = room_for(shape);
    bool may_wait = flags & FLAG_DEPEND && !is_deferred;
    if (may_wait || flags & FLAG_DETACH || room > MOST_IN_RECORD)
        return NULL;
    struct task_record *record = record_for(slot, frame, room);
    struct task_record *bare = record ? NULL : bare_record(&slot->gomp, room);
    if (!record && !bare)
        return NULL;
    struct task_block *block = align_block(record ? record->memory : bare->memory, shape);
    fill_block(block, shape, fn, data, copy, MIRRORED_NONE);
    set_context(block, slot, record);
    task_created(&slot->gomp, record, !(flags & FLAG_DEPEND));
    if (is_deferred)
        task_offered(record);
    block->bare = bare;
    block->original = block;
    return block;
}

/* Passes a call on to a GOMP_task that may take more words: those on the caller's stack. */
static __attribute__((noinline)) void pass_on(const struct gomp_functions *real,
                                              const uint64_t *frame, region_function *fn,
                                              void *data, copy_function *copy, long size,
                                              long align, bool is_deferred)
{
    typedef void newer_function(TASK_WORDS, FURTHER_WORDS);
    newer_function *create = (newer_function *)(void (*)(void))real->GOMP_task;
    const uint64_t *words = frame + FRAME_WORDS;
    create(fn, data, copy, size, align, is_deferred, (unsigned)words[0], (void **)words[1],
           (int)words[2], (void *)words[3], (long)words[4], (long)words[5], (long)words[6],
           (long)words[7], (long)words[8], (long)words[9]);
}

/* The frame of a wrapper, which is compiled with a frame pointer. */
#define OWN_FRAME ((const uint64_t *)__builtin_frame_address(0))

/* No address of a local variable may leave the function: the compiler would make a jump of no call. */
void GOMP_task(region_function *fn, void *data, copy_function *copy, long size, long align,
               bool is_deferred, unsigned flags, void **depend, int priority, void *detach)
{
    const struct gomp_functions *real = gomp_functions_for(CALLER_PC);
    if (real->may_take_more) {
        pass_on(real, OWN_FRAME, fn, data, copy, size, align, is_deferred);
        NO_JUMP;
        return;
    }
    if (!real->is_traced) {
        real->GOMP_task(fn, data, copy, size, align, is_deferred, flags, depend, priority, detach);
        return;
    }
    struct task_shape shape = shape_of(size, align);
    struct task_block *block =
        block_in_record(OWN_FRAME, fn, data, copy, &shape, is_deferred, flags);
    if (!block) {
        create_task(real, OWN_FRAME, fn, data, copy, size, align, is_deferred, flags, depend,
                    priority, detach);
        NO_JUMP;
        return;
    }
    copy_function *copy_all = copy ? copy_block : NULL;
    if (real->is_observed) {
        block->observed = report_task(fn, CALLER_PC, is_deferred, flags, 0);
        real->GOMP_task(run_task, block, copy_all, (long)shape.bytes, (long)shape.align,
                        is_deferred, flags, depend, priority, detach);
        task_events->creation_ended();
        return;
    }
    real->GOMP_task(run_task, block, copy_all, (long)shape.bytes, (long)shape.align, is_deferred,
                    flags, depend, priority, detach);
}

/* ---- taskloop ---- */

/* For the block of all tasks of a taskloop. `context` is in the wrapper's frame, which lives until
 * the tasks have ended if the taskloop waits for them. */
static inline void set_loop_context(struct task_block *block, struct agent_slot *slot,
                                    const uint64_t *frame, const struct creation_context *context,
                                    bool waits)
{
    if (waits) {
        const struct body_link *link = slot->gomp.link;
        block->context = context;
        block->region = link ? link->region : NULL;
        return;
    }
    set_context(block, slot, record_for(slot, frame, 0));
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
            NO_JUMP;                                                                               \
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
        void *heap;                                                                                \
        struct task_block *block = PLACE_BLOCK(&shape, &heap);                                     \
        bool waits = !(flags & FLAG_NOGROUP), reduces = flags & FLAG_REDUCTION;                    \
        fill_block(block, &shape, fn, data, copy, MIRRORED_BOUNDS);                                \
        set_loop_context(block, slot, OWN_FRAME, &context, waits);                                 \
        if (reduces && size >= 24)                                                                 \
            block->words[2] = ((const uint64_t *)data)[2];                                         \
        if (waits && !reduces)                                                                     \
            real->GOMP_taskgroup_start();                                                          \
        if (real->is_observed)                                                                     \
            report_loop(block, context.pc, flags);                                                 \
        slot_set_state(slot, reduces ? AGENT_SLOT_IDLE : AGENT_SLOT_WORKING);                      \
        let_others_go(offer_of(block->context));                                                      \
        real->name(run_taskloop, block, copy ? copy_block : NULL, (long)shape.bytes,               \
                   (long)shape.align, waits && !reduces ? flags | FLAG_NOGROUP : flags, tasks,     \
                   priority, start, stop, step, 0, 0, 0, 0, 0, 0);                                 \
        if (real->is_observed)                                                                     \
            report_end_of_loop(flags);                                                             \
        if (waits && !reduces) {                                                                   \
            wait_for_tasks(slot, &slot->gomp);                                                     \
            slot->gomp.arrived = let_others_go(NULL);                                                 \
            real->GOMP_taskgroup_end();                                                            \
            wait_is_over(&slot->gomp, &context);                                                   \
        }                                                                                          \
        slot_set_state(slot, AGENT_SLOT_WORKING);                                                  \
        free(heap);                                                                                \
    }
TASKLOOP(GOMP_taskloop, long)
TASKLOOP(GOMP_taskloop_ull, ull)

void GOMP_taskgroup_start(void)
{
    const struct gomp_functions *real = gomp_functions_for(CALLER_PC);
    struct agent_slot *slot = slot_mine();
    group_begin(&slot->gomp, slot->gomp.link);
    real->GOMP_taskgroup_start();
}

/* ---- cancellation ---- */

/* Tasks of the region may never run from here on. */
bool GOMP_cancel(int which, bool is_wanted)
{
    const struct gomp_functions *real = gomp_functions_for(CALLER_PC);
    struct agent_slot *slot = slot_mine();
    const struct body_link *link = slot->gomp.link;
    if (is_wanted && which & CANCEL_TASKGROUP)
        group_cancel(link);
    if (is_wanted && link && link->region) {
        atomic_store(&link->region->is_cancelled, true);
        tasks_cancelled(&slot->gomp);
    }
    return real->GOMP_cancel(which, is_wanted);
}

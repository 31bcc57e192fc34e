#include "agents/common/task-records.h"

#include "agents/common/frame-copy.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum task_contexts task_contexts;

/* ---- memory ----
 *
 * Small records come from slabs that are never freed. A thread keeps free ones in its slot. Records
 * are freed by the thread that runs the task, so batches of them go back through a common list. */

#define RECORD_BYTES (sizeof(struct task_record) + SMALL_MEMORY)
#define SLAB_RECORDS 64
#define BATCH        32

struct slab {
    struct slab *next;
    _Alignas(64) char records[SLAB_RECORDS][RECORD_BYTES];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct slab *slabs;         /* all slabs; changed under `lock` */
static struct task_record *common; /* first records of batches of BATCH; under `lock` */

/* In a list of batches, a batch's first record leads to the next batch by `parent`. */
static struct task_record *take_batch(void)
{
    struct task_record *batch = common;
    if (batch)
        common = batch->parent;
    return batch;
}

static struct task_record *new_batch(void)
{
    struct slab *slab =
        mmap(NULL, sizeof *slab, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (slab == MAP_FAILED)
        return NULL;
    slab->next = slabs;
    slabs = slab;
    struct task_record *list = NULL;
    for (int i = 0; i < SLAB_RECORDS; i++) {
        struct task_record *record = (struct task_record *)slab->records[i];
        record->next = list;
        list = record;
        if ((i + 1) % BATCH == 0 && i + 1 < SLAB_RECORDS) {
            list->parent = common;
            common = list;
            list = NULL;
        }
    }
    return list;
}

static bool refill(struct agent_slot_part *thread)
{
    pthread_mutex_lock(&lock);
    struct task_record *batch = take_batch();
    thread->records = batch ? batch : new_batch();
    pthread_mutex_unlock(&lock);
    thread->record_count = thread->records ? BATCH : 0;
    return thread->records != NULL;
}

static void give_batch(struct agent_slot_part *thread)
{
    struct task_record *first = thread->records, *last = first;
    for (int i = 1; i < BATCH; i++)
        last = last->next;
    thread->records = last->next;
    thread->record_count -= BATCH;
    last->next = NULL;
    pthread_mutex_lock(&lock);
    first->parent = common;
    common = first;
    pthread_mutex_unlock(&lock);
}

struct task_record *record_allocate_slowly(struct agent_slot_part *thread, uint64_t bytes)
{
    if (slot_is_spare(thread)) /* it could not give records back */
        return NULL;
    if (bytes <= SMALL_MEMORY)
        return refill(thread) ? record_allocate(thread, bytes) : NULL;
    struct task_record *record = malloc(sizeof *record + bytes);
    if (record)
        record->is_large = true;
    return record;
}

void record_free(struct agent_slot_part *thread, struct task_record *record)
{
    record->region = NULL;
    __atomic_store_n(&record->group, NULL, __ATOMIC_RELAXED);
    if (record->is_large) {
        free(record);
        return;
    }
    if (slot_is_spare(thread)) /* lost */
        return;
    record->next = thread->records;
    thread->records = record;
    if (++thread->record_count >= 3 * BATCH)
        give_batch(thread);
}

/* The child of a fork has only this thread; another one may have held the lock. */
static void after_fork(void)
{
    pthread_mutex_init(&lock, NULL);
    common = NULL;
}

__attribute__((constructor)) static void prepare(void)
{
    const char *wanted = getenv("HPCRUN_TASK_CONTEXTS");
    if (wanted && strcmp(wanted, "site") == 0)
        task_contexts = TASK_CONTEXTS_SITE;
    if (wanted && strcmp(wanted, "off") == 0)
        task_contexts = TASK_CONTEXTS_OFF;
    pthread_atfork(NULL, NULL, after_fork);
}

/* ---- contexts ---- */

static void copy_frames(struct creation_context *context, char *copy, uint64_t sp, uint64_t bytes)
{
    context->kind = CONTEXT_COPY;
    context->low = sp;
    context->high = sp + bytes;
    context->copy = (uint64_t)copy;
    frame_copy(copy, (const void *)sp, bytes);
}

void record_count_from_zero(struct task_record *record)
{
    record->created = record->begun = 0;
    atomic_store_explicit(&record->taken, 0, memory_order_relaxed);
    atomic_store_explicit(&record->finished, 0, memory_order_relaxed);
    atomic_store_explicit(&record->is_awaited, false, memory_order_relaxed);
}

/* The record of the task that runs in a link. An implicit task, and one of a taskloop, gets it here. */
static struct task_record *record_of_link(struct agent_slot_part *thread, struct body_link *link)
{
    if (link->record)
        return link->record;
    struct task_record *record = record_allocate(thread, 0);
    if (!record)
        return NULL;
    record->context.kind = CONTEXT_SITE;
    record->parent = NULL;
    record->region = link->region;
    record->group = record->inside = NULL;
    record->is_ready = false;
    record_count_from_zero(record);
    return link->record = record;
}

struct task_record *record_new(struct agent_slot_part *thread, struct body_link *outer, uint64_t pc,
                               uint64_t sp, uint64_t bp, uint64_t room)
{
    if (task_contexts == TASK_CONTEXTS_OFF)
        return NULL;
    uint64_t bytes = sp ? outer->sp - sp : 0;
    if (task_contexts == TASK_CONTEXTS_SITE || bytes > LARGEST_COPY)
        bytes = 0;
    struct task_record *record = record_allocate(thread, room + bytes);
    if (!record)
        return NULL;
    record->context.kind = CONTEXT_SITE;
    record->context.pc = pc;
    record->context.sp = sp;
    record->context.bp = bp;
    record->context.parent = (uint64_t)outer->context;
    record->context.thread = 0;
    record->context.body = outer->body;
    record->parent = record_of_link(thread, outer);
    record->region = outer->region;
    record->group = record->inside = record->parent ? record->parent->inside : NULL;
    record->creator = thread;
    record->is_ready = false;
    record_count_from_zero(record);
    if (bytes)
        copy_frames(&record->context, record->memory + room, sp, bytes);
    if (record->parent)
        record->parent->created++;
    return record;
}

/* The task of a record has ended, or that and all of its descendants. */
static void tell_creator(const struct agent_slot_part *thread, const struct task_record *record)
{
    const struct task_record *parent = record->parent;
    if (parent && record->creator != thread && atomic_load_explicit(&parent->is_awaited, memory_order_relaxed))
        let_go(parent);
}

/* Adds to the balance of a record's children. At 0 the record ends, and its parent has one less. */
static void settle(struct agent_slot_part *thread, struct task_record *record, int32_t change)
{
    while (record && (change == 0 || atomic_fetch_add_explicit(&record->finished, change,
                                                               memory_order_acq_rel) == -change)) {
        struct task_record *parent = record->parent;
        tell_creator(thread, record);
        record_free(thread, record);
        record = parent;
        change = -1;
    }
}

void record_end(struct agent_slot_part *thread, struct task_record *record)
{
    if (record->created)
        tell_creator(thread, record);
    settle(thread, record, (int32_t)record->created);
}

/* ---- taskgroups ---- */

/* In place of a group for which there was no memory, and of those around it: nothing is known any more. */
static struct task_record lost_group;

void group_begin(struct agent_slot_part *thread, struct body_link *link)
{
    struct task_record *record = link ? record_of_link(thread, link) : NULL;
    struct task_record *group = record ? record_allocate(thread, 0) : NULL;
    if (!record)
        return;
    if (!group || record->inside == &lost_group) {
        record->inside = &lost_group;
        if (group)
            record_free(thread, group);
        return;
    }
    group->region = NULL;
    group->parent = record->inside;
    atomic_store_explicit(&group->is_cancelled, false, memory_order_relaxed);
    record->inside = group;
}

void group_cancel(const struct body_link *link)
{
    struct task_record *group = link && link->record ? link->record->inside : NULL;
    if (group)
        atomic_store(&group->is_cancelled, true);
}

/* Puts records of a slab that belong to a group before a list of such records. Other threads may be using others. */
static struct task_record *find_in_slab(struct slab *slab, const struct task_record *group, struct task_record *list)
{
    for (int i = 0; i < SLAB_RECORDS; i++) {
        struct task_record *record = (struct task_record *)slab->records[i];
        if (__atomic_load_n(&record->group, __ATOMIC_RELAXED) != group)
            continue;
        record->next = list;
        list = record;
    }
    return list;
}

static struct slab *first_slab(void)
{
    pthread_mutex_lock(&lock);
    struct slab *first = slabs;
    pthread_mutex_unlock(&lock);
    return first;
}

/* Frees the small records of a group that are left: of tasks that never ran, and of those that created these. Large
 * ones are lost. `creator`: of the task that had the group. */
static void end_cancelled_group(struct agent_slot_part *thread, const struct task_record *group,
                                struct task_record *creator)
{
    struct task_record *list = NULL;
    for (struct slab *slab = first_slab(); slab; slab = slab->next)
        list = find_in_slab(slab, group, list);
    while (list) {
        struct task_record *next = list->next;
        if (list->parent == creator)
            settle(thread, creator, -1);
        record_free(thread, list);
        list = next;
    }
}

void group_end(struct agent_slot_part *thread, struct body_link *link)
{
    struct task_record *record = link ? link->record : NULL, *group = record ? record->inside : NULL;
    if (!group || group == &lost_group)
        return;
    record->inside = group->parent;
    if (atomic_load(&group->is_cancelled))
        end_cancelled_group(thread, group, record);
    record_free(thread, group);
}

/* ---- regions ---- */

void record_keep(struct task_record *record)
{
    struct parallel_region *region = record->region;
    record->group = NULL; /* it does not end with that */
    struct task_record *first = atomic_load(&region->kept);
    do
        record->next = first;
    while (!atomic_compare_exchange_weak(&region->kept, &first, record));
}

static void end_slab(struct agent_slot_part *thread, struct slab *slab,
                     const struct parallel_region *region)
{
    for (int i = 0; i < SLAB_RECORDS; i++) {
        struct task_record *record = (struct task_record *)slab->records[i];
        if (__atomic_load_n(&record->region, __ATOMIC_RELAXED) == region)
            record_free(thread, record);
    }
}

/* Frees all small records of a region. Large ones of tasks that never ran are lost. */
static void end_cancelled(struct agent_slot_part *thread, const struct parallel_region *region)
{
    for (struct slab *slab = first_slab(); slab; slab = slab->next)
        end_slab(thread, slab, region);
}

void records_end_region(struct agent_slot_part *thread, struct parallel_region *region)
{
    struct task_record *record = atomic_load(&region->kept);
    while (record) {
        struct task_record *next = record->next, *parent = record->parent;
        record_free(thread, record);
        settle(thread, parent, -1);
        record = next;
    }
    if (atomic_load(&region->is_cancelled))
        end_cancelled(thread, region);
}

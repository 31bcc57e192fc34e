#include "agents/gomp/task-records.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum task_contexts task_contexts;

/* ---- memory ----
 *
 * Small records come from slabs that are never freed. A thread keeps free ones in its slot. Records
 * are freed by the thread that runs the task, so batches of them go back through a common list. */

#define RECORD_BYTES (sizeof(struct task_record) + SMALL_COPY)
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

static bool refill(struct thread_slot *slot)
{
    pthread_mutex_lock(&lock);
    struct task_record *batch = take_batch();
    slot->gomp_records = batch ? batch : new_batch();
    pthread_mutex_unlock(&lock);
    slot->gomp_record_count = slot->gomp_records ? BATCH : 0;
    return slot->gomp_records != NULL;
}

static void give_batch(struct thread_slot *slot)
{
    struct task_record *first = slot->gomp_records, *last = first;
    for (int i = 1; i < BATCH; i++)
        last = last->next;
    slot->gomp_records = last->next;
    slot->gomp_record_count -= BATCH;
    last->next = NULL;
    pthread_mutex_lock(&lock);
    first->parent = common;
    common = first;
    pthread_mutex_unlock(&lock);
}

static struct task_record *take_small(struct thread_slot *slot)
{
    if (!slot->gomp_records && !refill(slot))
        return NULL;
    struct task_record *record = slot->gomp_records;
    slot->gomp_records = record->next;
    slot->gomp_record_count--;
    record->is_large = false;
    return record;
}

static struct task_record *allocate(struct thread_slot *slot, uint64_t bytes)
{
    if (slot == slots_surplus()) /* many threads share it */
        return NULL;
    if (bytes <= SMALL_COPY)
        return take_small(slot);
    struct task_record *record = malloc(sizeof *record + bytes);
    if (record)
        record->is_large = true;
    return record;
}

static void give_back(struct thread_slot *slot, struct task_record *record)
{
    record->region = NULL;
    if (record->is_large) {
        free(record);
        return;
    }
    if (slot == slots_surplus()) /* lost: many threads share its list */
        return;
    record->next = slot->gomp_records;
    slot->gomp_records = record;
    if (++slot->gomp_record_count >= 3 * BATCH)
        give_batch(slot);
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

/* The link that ends the frames to copy. The frames of tasks that run in their GOMP_task call are
 * copied, too: a task that is created there may run after they have returned. */
static const struct omp_link *outer_link(const struct thread_slot *slot)
{
    const struct omp_link *link = slot->gomp_link;
    while (link->is_inline_task && link->up)
        link = link->up;
    return link;
}

static void copy_frames(struct omp_context *context, char *copy, uint64_t sp, uint64_t bytes)
{
    context->kind = CONTEXT_COPY;
    context->low = sp;
    context->high = sp + bytes;
    context->copy = (uint64_t)copy;
    memcpy(copy, (const void *)sp, bytes);
}

/* The record of a context, if it is a task's. */
static struct task_record *record_of(const struct omp_context *context)
{
    return context->kind == CONTEXT_ON_STACK ? NULL : (struct task_record *)context;
}

struct task_record *record_new(struct thread_slot *slot, uint64_t pc, uint64_t sp, uint64_t bp)
{
    if (task_contexts == TASK_CONTEXTS_OFF)
        return NULL;
    const struct omp_link *outer = outer_link(slot);
    if (!outer->context) /* a serial task: its tasks run at once, in its frames */
        return NULL;
    uint64_t bytes = outer->sp - sp;
    if (task_contexts == TASK_CONTEXTS_SITE || bytes > LARGEST_COPY)
        bytes = 0;
    struct task_record *record = allocate(slot, bytes);
    if (!record)
        return NULL;
    record->context.kind = CONTEXT_SITE;
    record->context.pc = pc;
    record->context.sp = sp;
    record->context.bp = bp;
    record->context.parent = (uint64_t)outer->context;
    record->parent = record_of(outer->context);
    record->region = outer->region;
    record->created = 0;
    atomic_store_explicit(&record->finished, 0, memory_order_relaxed);
    if (bytes)
        copy_frames(&record->context, record->copy, sp, bytes);
    if (record->parent)
        record->parent->created++;
    return record;
}

/* Adds to the balance of a record's children. At 0 the record ends, and its parent has one less. */
static void settle(struct thread_slot *slot, struct task_record *record, int32_t change)
{
    while (record && (change == 0 || atomic_fetch_add_explicit(&record->finished, change,
                                                               memory_order_acq_rel) == -change)) {
        struct task_record *parent = record->parent;
        give_back(slot, record);
        record = parent;
        change = -1;
    }
}

void record_end(struct thread_slot *slot, struct task_record *record)
{
    settle(slot, record, (int32_t)record->created);
}

/* ---- regions ---- */

void record_keep(struct task_record *record)
{
    struct omp_region *region = record->region;
    struct task_record *first = atomic_load(&region->kept);
    do
        record->next = first;
    while (!atomic_compare_exchange_weak(&region->kept, &first, record));
}

static void end_slab(struct thread_slot *slot, struct slab *slab, const struct omp_region *region)
{
    for (int i = 0; i < SLAB_RECORDS; i++) {
        struct task_record *record = (struct task_record *)slab->records[i];
        if (__atomic_load_n(&record->region, __ATOMIC_RELAXED) == region)
            give_back(slot, record);
    }
}

/* Frees all small records of a region. Large ones of tasks that never ran are lost. */
static void end_cancelled(struct thread_slot *slot, const struct omp_region *region)
{
    pthread_mutex_lock(&lock);
    struct slab *all = slabs;
    pthread_mutex_unlock(&lock);
    for (struct slab *slab = all; slab; slab = slab->next)
        end_slab(slot, slab, region);
}

void records_end_region(struct thread_slot *slot, struct omp_region *region)
{
    struct task_record *record = atomic_load(&region->kept);
    while (record) {
        struct task_record *next = record->next, *parent = record->parent;
        give_back(slot, record);
        settle(slot, parent, -1);
        record = next;
    }
    if (atomic_load(&region->is_cancelled))
        end_cancelled(slot, region);
}

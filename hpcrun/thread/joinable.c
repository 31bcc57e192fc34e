#include "hpcrun/thread/joinable.h"

#include "hpcrun/base/lock.h"
#include "hpcrun/base/sys.h"

/* Who still uses a record. */
enum joinable_holder { BY_CREATOR = 1, BY_THREAD = 2, BY_TABLE = 4, BY_JOINER = 8 };

/* Records come in three sizes: most paths have fewer than 16 frames. */
static const uint32_t rooms[] = {16, 64, JOINABLE_FRAMES};
#define SIZES       (sizeof rooms / sizeof *rooms)
#define SLAB_BYTES  65536
#define BUCKET_BITS 12

static struct {
    struct lock lock;
    uint64_t entries; /* serial number of the last entry */
    struct joinable *unused[SIZES];
    struct joinable *bucket[1u << BUCKET_BITS]; /* the latest entry first */
} table;

static uint64_t mask_at_fork;

void joinable_lock_for_fork(void)
{
    mask_at_fork = lock_take(&table.lock);
}

void joinable_unlock_after_fork(void)
{
    lock_release(&table.lock, mask_at_fork);
}

/* The parent's records are left alone: touching them would copy its pages. */
void joinable_forget(void)
{
    for (unsigned i = 0; i < SIZES; i++)
        table.unused[i] = NULL;
    for (unsigned i = 0; i < 1u << BUCKET_BITS; i++)
        if (table.bucket[i])
            table.bucket[i] = NULL;
}

static void put_back(struct joinable *joinable)
{
    unsigned size = 0;
    while (rooms[size] < joinable->room)
        size++;
    joinable->next = table.unused[size];
    table.unused[size] = joinable;
}

/* Cuts new pages into records of a size. */
static void map_records(unsigned size)
{
    size_t bytes = sizeof(struct joinable) + rooms[size] * sizeof(struct activation);
    char *pages = sys_pages(SLAB_BYTES);
    for (size_t at = 0; pages && at + bytes <= SLAB_BYTES; at += bytes) {
        struct joinable *joinable = (struct joinable *)(void *)(pages + at);
        joinable->room = rooms[size];
        put_back(joinable);
    }
}

struct joinable *joinable_new(uint32_t creator, uint32_t frames)
{
    unsigned size = 0;
    while (rooms[size] < frames)
        size++;
    uint64_t mask = lock_take(&table.lock);
    if (!table.unused[size])
        map_records(size);
    struct joinable *joinable = table.unused[size];
    if (joinable) {
        table.unused[size] = joinable->next;
        *joinable = (struct joinable){
            .creator = creator, .room = rooms[size], .holders = BY_CREATOR | BY_THREAD};
    }
    lock_release(&table.lock, mask);
    return joinable;
}

void joinable_cancel(struct joinable *joinable)
{
    uint64_t mask = lock_take(&table.lock);
    put_back(joinable);
    lock_release(&table.lock, mask);
}

/* All that follows is called with the lock held, but for the functions of the header. */

static void let_go(struct joinable *joinable, enum joinable_holder holder)
{
    joinable->holders &= (uint8_t)~holder;
    if (!joinable->holders)
        put_back(joinable);
}

/* Thread ids are addresses of control blocks, which are a page or more apart. */
static struct joinable **bucket_of(uint64_t id)
{
    return &table.bucket[(id >> 6) * 0x9e3779b97f4a7c15u >> (64 - BUCKET_BITS)];
}

/* The place of the latest entry with this id (serial 0), or of a certain one; NULL: none. */
static struct joinable **find(uint64_t id, uint64_t serial)
{
    struct joinable **place = bucket_of(id);
    while (*place && ((*place)->id != id || (serial && (*place)->serial != serial)))
        place = &(*place)->next;
    return *place ? place : NULL;
}

static struct joinable *take_out(struct joinable **place)
{
    struct joinable *joinable = *place;
    *place = joinable->next;
    return joinable;
}

/* An older thread of this id is gone, and its end was not noticed; or its join has succeeded and
 * joinable_joined is about to be called. */
static void remove_stale(uint64_t id)
{
    struct joinable **place = find(id, 0);
    if (place && !(*place)->is_awaited)
        let_go(take_out(place), BY_TABLE);
}

static void enter(struct joinable *joinable, uint64_t id)
{
    if (joinable->is_entered)
        return;
    remove_stale(id);
    struct joinable **bucket = bucket_of(id);
    joinable->id = id;
    joinable->serial = ++table.entries;
    joinable->is_entered = true;
    joinable->holders |= BY_TABLE;
    joinable->next = *bucket;
    *bucket = joinable;
}

void joinable_begin(struct joinable *joinable, uint64_t id, uint32_t thread)
{
    uint64_t mask = lock_take(&table.lock);
    if (joinable) {
        enter(joinable, id);
        joinable->thread = thread;
        let_go(joinable, BY_THREAD);
    } else {
        remove_stale(id);
    }
    lock_release(&table.lock, mask);
}

/* While the lock is held and the record not entered, the new thread is before joinable_begin. */
void joinable_created(struct joinable *joinable, const void *id)
{
    uint64_t mask = lock_take(&table.lock);
    if (!joinable->is_entered)
        enter(joinable, *(const uint64_t *)id);
    let_go(joinable, BY_CREATOR);
    lock_release(&table.lock, mask);
}

uint64_t joinable_await(uint64_t id)
{
    uint64_t serial = 0, mask = lock_take(&table.lock);
    struct joinable **place = find(id, 0);
    if (place) {
        (*place)->is_awaited = true;
        serial = (*place)->serial;
    }
    lock_release(&table.lock, mask);
    return serial;
}

struct joinable *joinable_joined(uint64_t id, uint64_t serial)
{
    struct joinable *joinable = NULL;
    uint64_t mask = lock_take(&table.lock);
    struct joinable **place = find(id, serial);
    if (place) {
        joinable = take_out(place);
        joinable->holders = (uint8_t)((joinable->holders & ~BY_TABLE) | BY_JOINER);
    }
    lock_release(&table.lock, mask);
    return joinable;
}

void joinable_release(struct joinable *joinable)
{
    uint64_t mask = lock_take(&table.lock);
    let_go(joinable, BY_JOINER);
    lock_release(&table.lock, mask);
}

void joinable_detach(uint64_t id)
{
    uint64_t mask = lock_take(&table.lock);
    struct joinable **place = find(id, 0);
    if (place)
        let_go(take_out(place), BY_TABLE);
    lock_release(&table.lock, mask);
}

#include "hpcrun/thread/joinable.h"

#include "hpcrun/base/lock.h"
#include "hpcrun/base/sys.h"

#include <assert.h>

/* The users of a record; it is unused when none is left. */
enum joinable_holder { BY_CREATOR = 1, BY_THREAD = 2, BY_TABLE = 4, BY_JOINER = 8 };

/* Records have one of three sizes. Most paths have fewer than 16 frames. */
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

bool joinable_can_lock(void)
{
    return lock_is_free(&table.lock);
}

void joinable_unlock_after_fork(void)
{
    lock_release(&table.lock, mask_at_fork);
}

/* The parent's records are not touched: that would copy its pages. */
void joinable_clear(void)
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

/* Maps pages and divides them into records of a size. */
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
    assert(frames <= JOINABLE_FRAMES);
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

/* The static functions below are called with the lock held. */

static void release(struct joinable *joinable, enum joinable_holder holder)
{
    assert(joinable->holders & holder);
    joinable->holders &= (uint8_t)~holder;
    if (!joinable->holders)
        put_back(joinable);
}

/* A thread id is the address of a thread's control block. These are at least a page apart. */
static struct joinable **bucket_of(uint64_t id)
{
    return &table.bucket[(id >> 6) * 0x9e3779b97f4a7c15u >> (64 - BUCKET_BITS)];
}

/* The link to the entry with this id and serial; with serial 0, to the latest one. NULL: none. */
static struct joinable **find(uint64_t id, uint64_t serial)
{
    struct joinable **place = bucket_of(id);
    while (*place && ((*place)->id != id || (serial && (*place)->serial != serial)))
        place = &(*place)->next;
    return *place ? place : NULL;
}

static struct joinable *unlink_entry(struct joinable **place)
{
    struct joinable *joinable = *place;
    *place = joinable->next;
    return joinable;
}

/* Removes the entry of an older thread with this id, whose end was not noticed; not if its join has
 * begun: joinable_joined is about to be called then. */
static void remove_stale(uint64_t id)
{
    struct joinable **place = find(id, 0);
    if (place && !(*place)->is_awaited)
        release(unlink_entry(place), BY_TABLE);
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
        release(joinable, BY_THREAD);
    } else {
        remove_stale(id);
    }
    lock_release(&table.lock, mask);
}

/* If the record is not entered, the new thread is before joinable_begin and waits for the lock, so
 * *id is still there. */
void joinable_created(struct joinable *joinable, const void *id)
{
    uint64_t mask = lock_take(&table.lock);
    if (!joinable->is_entered)
        enter(joinable, *(const uint64_t *)id);
    release(joinable, BY_CREATOR);
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
        joinable = unlink_entry(place);
        joinable->holders = (uint8_t)((joinable->holders & ~BY_TABLE) | BY_JOINER);
    }
    lock_release(&table.lock, mask);
    return joinable;
}

void joinable_release(struct joinable *joinable)
{
    uint64_t mask = lock_take(&table.lock);
    release(joinable, BY_JOINER);
    lock_release(&table.lock, mask);
}

void joinable_detach(uint64_t id)
{
    uint64_t mask = lock_take(&table.lock);
    struct joinable **place = find(id, 0);
    if (place)
        release(unlink_entry(place), BY_TABLE);
    lock_release(&table.lock, mask);
}

#include "hpcrun/outside/catch.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/logical/agent-names.h"

#include <stdlib.h>
#include <string.h>

/* Threads that are remembered: the blocks that were read for one are read at once the next time. What the agent
 * remembers of a thread (its state, names) is forgotten after 1, 2, 4, ... catches, so that all of it is read again:
 * the worker may lack it, since it only uses what was proven. It is also forgotten if the worker has lacked something,
 * but not before MOST_LACKING more catches: a catch that has no room for all must get on with what is remembered. */
#define THREADS      64
#define MOST_LACKING 64

/* Bounds of one catch: reads of single blocks, about 0.3 us each, and requests of the agent, since lists in damaged
 * memory may lead back to themselves. */
#define MOST_READS 400
#define MOST_STEPS 20000

struct remembered {
    int tid; /* 0: none */
    unsigned catches, anew_at; /* anew_at: number of the catch at which all was read again */
    uint32_t lacks;            /* by then */
    uint32_t count;
    uint64_t address[CAUGHT_BLOCKS];
    _Alignas(16) uint8_t data[AGENT_MAX_THREAD_DATA_BYTES];
};

/* A block that is missing is read with those that followed it in former catches: the code object of a frame, its name
 * and its table of lines. A system call for each would take 0.8 us. Of the MOST_AHEAD_STEPS blocks that followed one
 * after the other, the first MOST_AHEAD that are missing, too, are read. */
#define SUCCESSORS       2048
#define MOST_AHEAD       6
#define MOST_AHEAD_STEPS 16
struct successor {
    uint64_t block, next; /* addresses */
};

/* The place of a block, by a hash of its address; `turn`: of the catch that has set it. */
#define PLACES 1024
struct place {
    uint32_t turn;
    uint16_t block;
};

struct catch {
    int pid;
    uint32_t turn, count, reads, steps;
    bool has_failed;
    uint64_t address[CAUGHT_BLOCKS];
    bool is_used[CAUGHT_BLOCKS];
    uint8_t bytes[CAUGHT_BLOCKS][CAUGHT_BLOCK_BYTES];
    struct place places[PLACES];
    struct successor successors[SUCCESSORS];
    uint16_t order[CAUGHT_BLOCKS]; /* of their first use */
    uint32_t used;
    struct agent_cursor cursor;
    _Alignas(16) uint8_t state[AGENT_MAX_STATE_BYTES];
    struct remembered threads[THREADS];
    uint8_t stack[CAUGHT_BLOCKS * CAUGHT_BLOCK_BYTES];
    struct caught record;
};

/* ---- memory of the process ---- */

/* Blocks in a row are one piece for the kernel, which takes 0.3 us for each piece. To make one piece of all blocks on a
 * page takes as long, since it copies more. */
static bool read_at_once(struct catch *its, uint32_t first, uint32_t count)
{
    static _Thread_local struct iovec remote[CAUGHT_BLOCKS];
    struct iovec local = {its->bytes[first], (size_t)count * CAUGHT_BLOCK_BYTES};
    unsigned long pieces = 0;
    for (uint32_t i = first; i < first + count; i++)
        if (i > first && its->address[i] == its->address[i - 1] + CAUGHT_BLOCK_BYTES)
            remote[pieces - 1].iov_len += CAUGHT_BLOCK_BYTES;
        else
            remote[pieces++] = (struct iovec){(void *)(uintptr_t)its->address[i], CAUGHT_BLOCK_BYTES};
    return sys6(SYS_process_vm_readv, its->pid, SYS_ARG(&local), 1, SYS_ARG(remote), pieces, 0) == (long)local.iov_len;
}

/* A free place, or that of the block. */
static struct place *place_of(struct catch *its, uint64_t address)
{
    uint64_t i = address / CAUGHT_BLOCK_BYTES * 0x9e3779b97f4a7c15u >> 32;
    for (;; i++) {
        struct place *place = &its->places[i % PLACES];
        if (place->turn != its->turn || its->address[place->block] == address)
            return place;
    }
}

static void put(struct catch *its, uint32_t block)
{
    *place_of(its, its->address[block]) = (struct place){its->turn, (uint16_t)block};
}

static struct successor *successor_of(struct catch *its, uint64_t address)
{
    return &its->successors[(address / CAUGHT_BLOCK_BYTES * 0x9e3779b97f4a7c15u >> 32) % SUCCESSORS];
}

/* Whether a block has not been read yet, and is not one of the `count` that are about to be. */
static bool is_missing(struct catch *its, uint64_t address, uint32_t count)
{
    for (uint32_t i = its->count; i < its->count + count; i++)
        if (its->address[i] == address)
            return false;
    return place_of(its, address)->turn != its->turn;
}

/* Puts addresses of blocks that probably follow after that of its->count. Returns the number of all of them. */
static uint32_t look_ahead(struct catch *its)
{
    uint32_t room = CAUGHT_BLOCKS - its->count, most = room < 1 + MOST_AHEAD ? room : 1 + MOST_AHEAD, n = 1;
    uint64_t last = its->address[its->count];
    for (unsigned step = 0; step < MOST_AHEAD_STEPS && n < most; step++) {
        const struct successor *known = successor_of(its, last);
        if (known->block != last)
            break;
        last = known->next;
        if (is_missing(its, last, n))
            its->address[its->count + n++] = last;
    }
    return n;
}

/* What followed may be gone by now: then the block is read alone. */
static bool read_block(struct catch *its, uint64_t address)
{
    its->address[its->count] = address;
    uint32_t n = look_ahead(its);
    if (n > 1 && !read_at_once(its, its->count, n))
        n = 1;
    if (n == 1 && !read_at_once(its, its->count, 1))
        return false;
    memset(its->is_used + its->count, 0, n);
    for (uint32_t end = its->count + n; its->count < end; its->count++)
        put(its, its->count);
    return true;
}

/* If some of it is gone, the call reads nothing: then each block is read when it is asked for. The order of use begins
 * anew here: the worker will read in this order, and finds each block next to the one before. */
static void expect(const struct agent_cursor *cursor, const uint64_t *addresses, unsigned count)
{
    struct catch *its = cursor->host_private;
    uint32_t first = its->count;
    memset(its->is_used, 0, its->count);
    its->used = 0;
    for (unsigned i = 0; i < count && its->count < CAUGHT_BLOCKS; i++) {
        uint64_t block = addresses[i] / CAUGHT_BLOCK_BYTES * CAUGHT_BLOCK_BYTES;
        if (place_of(its, block)->turn == its->turn)
            continue;
        its->address[its->count] = block;
        its->is_used[its->count] = false;
        put(its, its->count++);
    }
    if (its->count == first || read_at_once(its, first, its->count - first))
        return;
    its->count = first;
    its->turn++; /* no block has a place */
    for (uint32_t i = 0; i < first; i++)
        put(its, i);
}

/* The bytes of a block; NULL: they can't be read, or there is no room. */
static const uint8_t *block_at(struct catch *its, uint64_t address)
{
    struct place *place = place_of(its, address);
    if (place->turn != its->turn &&
        (its->count == CAUGHT_BLOCKS || its->reads++ == MOST_READS || !read_block(its, address)))
        return NULL;
    if (!its->is_used[place->block])
        its->order[its->used++] = place->block;
    its->is_used[place->block] = true;
    return its->bytes[place->block];
}

static bool read_memory(const struct agent_cursor *cursor, uint64_t address, void *to, size_t size)
{
    struct catch *its = cursor->host_private;
    its->has_failed |= its->steps++ == MOST_STEPS;
    for (size_t done = 0; done < size && !its->has_failed;) {
        uint64_t at = (address + done) % CAUGHT_BLOCK_BYTES;
        size_t part = CAUGHT_BLOCK_BYTES - at < size - done ? CAUGHT_BLOCK_BYTES - at : size - done;
        const uint8_t *block = block_at(its, address + done - at);
        its->has_failed |= !block;
        if (block)
            memcpy((uint8_t *)to + done, block + at, part);
        done += part;
    }
    return !its->has_failed;
}

static bool is_caught(const struct agent_cursor *cursor)
{
    return !((const struct catch *)cursor->host_private)->has_failed;
}

static void touch(const struct agent_cursor *cursor, uint64_t from, uint64_t size)
{
    uint8_t part[CAUGHT_BLOCK_BYTES];
    for (uint64_t end = from + size; from < end && is_caught(cursor);) {
        uint64_t rest = CAUGHT_BLOCK_BYTES - from % CAUGHT_BLOCK_BYTES, n = rest < end - from ? rest : end - from;
        read_memory(cursor, from, part, n);
        from += n;
    }
}

static void touch_text(const struct agent_cursor *cursor, const struct agent_text *text)
{
    uint32_t length = text->length < NAMED_CODE_CHARACTERS ? text->length : NAMED_CODE_CHARACTERS;
    touch(cursor, text->at, (uint64_t)length * text->width);
}

/* Kept at each fourth time only, so that later samples have the texts and the table, too, if this one is not proven. */
#define SIGHTS 4

static uint64_t name(const struct agent_cursor *cursor, const struct agent_name *its)
{
    static _Thread_local uint8_t sights[1024]; /* by the address of the first word of a key */
    uint64_t place = its->key[0] * 0x9e3779b97f4a7c15u >> 54;
    if (its->is_own)
        return 0;
    touch_text(cursor, &its->procedure);
    touch_text(cursor, &its->file);
    touch(cursor, its->table, its->table_bytes);
    return is_caught(cursor) && ++sights[place] % SIGHTS == 0;
}

const struct agent_host host_for_catches = {
    .is_elsewhere = true, .read = read_memory, .expect = expect, .is_caught = is_caught, .name = name,
    .name_thread = touch_text};

/* ---- a catch ---- */

static struct remembered *remember(struct catch *its, int tid, uint32_t lacks)
{
    struct remembered *thread = &its->threads[(unsigned)tid % THREADS];
    if (thread->tid != tid)
        thread->catches = thread->anew_at = thread->count = 0;
    bool lacks_something = thread->lacks != lacks && thread->catches - thread->anew_at >= MOST_LACKING;
    if (lacks_something || (thread->catches & (thread->catches - 1)) == 0) {
        memset(thread->data, 0, hpcrun_agent.thread_data_bytes);
        thread->anew_at = thread->catches;
        thread->lacks = lacks;
    }
    thread->catches++;
    thread->tid = tid;
    return thread;
}

static void begin_catch(struct catch *its, struct remembered *thread, int pid)
{
    its->pid = pid;
    its->turn++;
    its->count = its->used = its->reads = its->steps = 0;
    its->has_failed = false;
    memset(its->state, 0, sizeof its->state);
    its->cursor = (struct agent_cursor){
        .thread_data = thread->data, .state = its->state, .tid = thread->tid, .host_private = its};
    memcpy(its->address, thread->address, thread->count * sizeof *its->address);
    if (thread->count && !read_at_once(its, 0, thread->count))
        return;
    its->count = thread->count;
    memset(its->is_used, 0, its->count);
    for (uint32_t i = 0; i < its->count; i++)
        put(its, i);
}

/* Adds an address to sorted ones. Most are in order already: those that were read at once. */
static void insert(struct remembered *thread, uint64_t address)
{
    uint32_t i = thread->count++;
    for (; i > 0 && thread->address[i - 1] > address; i--)
        thread->address[i] = thread->address[i - 1];
    thread->address[i] = address;
}

static void end_catch(struct catch *its, struct remembered *thread)
{
    thread->count = 0;
    for (uint32_t i = 0; i < its->count; i++)
        if (its->is_used[i])
            insert(thread, its->address[i]);
    for (uint32_t i = 1; i < its->used; i++) {
        uint64_t block = its->address[its->order[i - 1]];
        *successor_of(its, block) = (struct successor){block, its->address[its->order[i]]};
    }
}

/* What the copy of a stack lacks, from the copy's end on, which shows whether it is the same stack still. Returns the
 * number of blocks: as many as there are, and as the record has room for. */
static uint32_t read_stack(struct catch *its, int pid, uint64_t copy_end)
{
    uint64_t first = (copy_end - CAUGHT_COPY_BYTES) / CAUGHT_BLOCK_BYTES * CAUGHT_BLOCK_BYTES;
    struct iovec local = {its->stack, (CAUGHT_BLOCKS - its->used) * CAUGHT_BLOCK_BYTES};
    struct iovec remote = {(void *)(uintptr_t)first, local.iov_len};
    long got = copy_end ? sys6(SYS_process_vm_readv, pid, SYS_ARG(&local), 1, SYS_ARG(&remote), 1, 0) : 0;
    uint32_t blocks = got > 0 ? (uint32_t)got / CAUGHT_BLOCK_BYTES : 0;
    for (uint32_t i = 0; i < blocks; i++)
        its->record.address[its->used + i] = first + i * CAUGHT_BLOCK_BYTES;
    return blocks;
}

static const struct caught *make_record(struct catch *its, const struct sample_instant *sample)
{
    struct caught *record = &its->record;
    uint32_t on_stack = read_stack(its, sample->pid, sample->stack_end);
    record->count = its->used + on_stack;
    uint8_t *to = (uint8_t *)&record->address[record->count];
    for (uint32_t i = 0; i < its->used; i++) {
        record->address[i] = its->address[its->order[i]];
        memcpy(to + i * CAUGHT_BLOCK_BYTES, its->bytes[its->order[i]], CAUGHT_BLOCK_BYTES);
    }
    memcpy(to + its->used * CAUGHT_BLOCK_BYTES, its->stack, on_stack * CAUGHT_BLOCK_BYTES);
    record->hint = its->cursor.hint;
    record->header =
        (struct perf_event_header){.type = PERF_RECORD_CAUGHT, .size = (uint16_t)caught_size(record->count)};
    record->pid = (uint32_t)sample->pid;
    record->tid = (uint32_t)sample->tid;
    record->time = sample->time;
    return record->count ? record : NULL;
}

struct catch *catch_new(void)
{
    return calloc(1, sizeof(struct catch));
}

const struct caught *catch_memory(struct catch *its, const struct sample_instant *sample, const void *shared,
                                  uint32_t lacks)
{
    its->used = 0;
    its->record.began = sys_clock(CLOCK_MONOTONIC);
    struct remembered *thread = shared ? remember(its, sample->tid, lacks) : NULL;
    if (thread) {
        begin_catch(its, thread, sample->pid);
        hpcrun_agent.read_ahead(&its->cursor, shared);
    }
    its->record.ended = sys_clock(CLOCK_MONOTONIC);
    if (thread)
        end_catch(its, thread);
    return make_record(its, sample);
}


#include "hpcrun/outside/frame-catcher.h"

#include "agents/agent.h"
#include "hpcrun/base/sys.h"
#include "hpcrun/logical/agent-names.h"
#include "hpcrun/outside/perf-switches.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CATCHERS 1024
#define MOST_WATCHED  MAX_QUEUES
#define STACK_BYTES   (256u << 10)
#define SLICE_NS      100000u /* the shortest one */
#define ALARM         (SIGRTMIN + 4)

/* A sample that is older when a catcher gets its CPU is not worth the reading. */
#define MOST_AGE_NS 200000u

/* Threads that each catcher remembers: what it has read for them the last time, it reads at once the next time. What
 * the agent keeps of a thread is forgotten now and then: the worker keeps the same, but only of what was proven. */
#define THREADS            64
#define CATCHES_UNTIL_ANEW 128

/* What ends a catch: reads but for that one, which take about 0.3 us each; and reads of what is there already, for lists
 * in damaged memory that lead back to themselves. */
#define MOST_READS 400
#define MOST_STEPS 20000

struct remembered {
    int tid; /* 0: none */
    unsigned catches;
    uint32_t count;
    uint64_t address[CAUGHT_BLOCKS];
    _Alignas(16) uint8_t data[AGENT_MAX_THREAD_DATA_BYTES];
};

/* The place of a block in `catch`, by a hash of its address; `turn`: of the catch that has set it. */
#define PLACES 1024
struct place {
    uint32_t turn;
    uint16_t block;
};

struct catcher {
    unsigned ring, cpu;
    _Atomic int tid;
    uint64_t position;           /* in the ring */
    struct record_queue *caught; /* for the reader's main thread */
    struct remembered *threads;  /* THREADS */

    /* Of the current catch. */
    int pid;
    uint32_t turn, count, reads, steps;
    bool has_failed;
    uint64_t address[CAUGHT_BLOCKS];
    bool is_used[CAUGHT_BLOCKS];
    uint8_t bytes[CAUGHT_BLOCKS][CAUGHT_BLOCK_BYTES];
    struct place places[PLACES];
    uint16_t order[CAUGHT_BLOCKS]; /* of their first use */
    uint32_t used;
    struct agent_cursor cursor;
    _Alignas(16) uint8_t state[AGENT_MAX_STATE_BYTES];
    struct caught record;
};

static struct {
    struct catcher *at[MOST_CATCHERS];
    unsigned count;
    struct watched {
        _Atomic int pid;
        const void *shared;
    } watched[MOST_WATCHED];
} catchers;

/* ---- memory of the process ---- */

static bool read_at_once(struct catcher *its, uint32_t first, uint32_t count)
{
    static _Thread_local struct iovec remote[CAUGHT_BLOCKS];
    struct iovec local = {its->bytes[first], (size_t)count * CAUGHT_BLOCK_BYTES};
    for (uint32_t i = 0; i < count; i++)
        remote[i] = (struct iovec){(void *)(uintptr_t)its->address[first + i], CAUGHT_BLOCK_BYTES};
    return sys6(SYS_process_vm_readv, its->pid, SYS_ARG(&local), 1, SYS_ARG(remote), count, 0) == (long)local.iov_len;
}

/* A free place, or that of the block. */
static struct place *place_of(struct catcher *its, uint64_t address)
{
    uint64_t i = address / CAUGHT_BLOCK_BYTES * 0x9e3779b97f4a7c15u >> 32;
    for (;; i++) {
        struct place *place = &its->places[i % PLACES];
        if (place->turn != its->turn || its->address[place->block] == address)
            return place;
    }
}

static void put(struct catcher *its, uint32_t block)
{
    *place_of(its, its->address[block]) = (struct place){its->turn, (uint16_t)block};
}

/* The bytes of a block; NULL: they can't be read, or there is no room. */
static const uint8_t *block_at(struct catcher *its, uint64_t address)
{
    struct place *place = place_of(its, address);
    if (place->turn != its->turn) {
        if (its->count == CAUGHT_BLOCKS || its->reads++ == MOST_READS)
            return NULL;
        its->address[its->count] = address;
        if (!read_at_once(its, its->count, 1))
            return NULL;
        its->is_used[its->count] = false;
        *place = (struct place){its->turn, (uint16_t)its->count++};
    }
    if (!its->is_used[place->block])
        its->order[its->used++] = place->block;
    its->is_used[place->block] = true;
    return its->bytes[place->block];
}

static bool read_memory(const struct agent_cursor *cursor, uint64_t address, void *to, size_t size)
{
    struct catcher *its = cursor->host_private;
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
    return !((const struct catcher *)cursor->host_private)->has_failed;
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

/* Not kept at each second time, so that the next sample has the texts, too, if this one is not proven. */
static uint64_t name(const struct agent_cursor *cursor, const struct agent_name *its)
{
    static _Thread_local unsigned turn;
    if (its->is_own)
        return 0;
    touch_text(cursor, &its->procedure);
    touch_text(cursor, &its->file);
    touch(cursor, its->table, its->table_bytes);
    return ++turn % 2;
}

static const struct agent_host host = {
    .is_elsewhere = true, .read = read_memory, .is_caught = is_caught, .name = name, .name_thread = touch_text};

/* ---- a catch ---- */

static const void *find_shared(int pid)
{
    for (unsigned i = 0; i < MOST_WATCHED; i++)
        if (atomic_load(&catchers.watched[i].pid) == pid)
            return catchers.watched[i].shared;
    return NULL;
}

static struct remembered *remember(struct catcher *its, int tid)
{
    struct remembered *thread = &its->threads[(unsigned)tid % THREADS];
    if (thread->tid != tid)
        thread->catches = thread->count = 0;
    if (thread->catches++ % CATCHES_UNTIL_ANEW == 0)
        memset(thread->data, 0, hpcrun_agent.thread_data_bytes);
    thread->tid = tid;
    return thread;
}

static void begin_catch(struct catcher *its, struct remembered *thread, int pid)
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

static void end_catch(struct catcher *its, struct remembered *thread)
{
    struct caught *record = &its->record;
    record->count = thread->count = its->used;
    for (uint32_t i = 0; i < its->used; i++)
        record->address[i] = thread->address[i] = its->address[its->order[i]];
    uint8_t *to = (uint8_t *)&record->address[its->used];
    for (uint32_t i = 0; i < its->used; i++)
        memcpy(to + i * CAUGHT_BLOCK_BYTES, its->bytes[its->order[i]], CAUGHT_BLOCK_BYTES);
    record->hint = its->cursor.hint;
    record->header = (struct perf_event_header){.type = PERF_RECORD_CAUGHT, .size = (uint16_t)caught_size(its->used)};
    if (its->used)
        record_queue_put(its->caught, &record->header);
}

static void catch(struct catcher *its)
{
    struct perf_instant sample;
    struct perf_ring ring;
    its->record.began = sys_clock(CLOCK_MONOTONIC);
    if (!perf_rings_at(its->ring, &ring) || !perf_ring_youngest(&ring, &its->position, &sample) ||
        its->record.began - sample.time > MOST_AGE_NS)
        return;
    const void *shared = find_shared(sample.pid);
    if (!shared)
        return;
    struct remembered *thread = remember(its, sample.tid);
    begin_catch(its, thread, sample.pid);
    hpcrun_agent.read_ahead(&its->cursor, shared);
    its->record.ended = sys_clock(CLOCK_MONOTONIC);
    its->record.pid = (uint32_t)sample.pid;
    its->record.tid = (uint32_t)sample.tid;
    its->record.time = sample.time;
    end_catch(its, thread);
}

/* ---- the threads ---- */

static void stay_on_cpu(unsigned cpu)
{
    size_t bytes = CPU_ALLOC_SIZE(cpu + 1);
    cpu_set_t *set = CPU_ALLOC(cpu + 1);
    if (!set)
        return;
    CPU_ZERO_S(bytes, set);
    CPU_SET_S(cpu, bytes, set);
    sched_setaffinity(0, bytes, set);
    CPU_FREE(set);
}

/* Of sched_setattr(2); linux/sched/types.h can't be included with sched.h. */
struct schedule {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t slice, deadline, period;
};

/* So that it gets the CPU when a sample wakes it, and not a while later. Users without CAP_SYS_NICE have the second way,
 * since Linux 6.12: a short slice. */
static void be_prompt(void)
{
    const struct sched_param priority = {.sched_priority = 1};
    const struct schedule brief = {.size = sizeof brief, .slice = SLICE_NS};
    if (sched_setscheduler(0, SCHED_FIFO, &priority) != 0)
        sys3(SYS_sched_setattr, 0, SYS_ARG(&brief), 0);
}

static void *run(void *data)
{
    struct catcher *its = data;
    sigset_t alarm;
    stay_on_cpu(its->cpu);
    be_prompt();
    sigemptyset(&alarm);
    sigaddset(&alarm, ALARM);
    atomic_store(&its->tid, (int)sys_gettid());
    for (;;)
        if (sigwaitinfo(&alarm, NULL) > 0)
            catch(its);
    return NULL;
}

static bool start(unsigned ring, unsigned cpu)
{
    struct catcher *its = calloc(1, sizeof *its);
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    if (!its || !(its->threads = calloc(THREADS, sizeof *its->threads)) || !(its->caught = record_queue_take()))
        return false;
    its->ring = ring;
    its->cpu = cpu;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* it inherits the mask */
    bool is_started = pthread_create(&thread, &attributes, run, its) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    while (is_started && !atomic_load(&its->tid))
        sched_yield();
    if (is_started)
        perf_rings_alarm(ring, atomic_load(&its->tid), ALARM);
    catchers.at[catchers.count] = its;
    catchers.count += is_started;
    return is_started;
}

static bool start_all(void)
{
    bool good = true;
    hpcrun_agent.start(&host);
    struct perf_ring ring;
    for (unsigned i = 0; i < perf_rings_count() && i < MOST_CATCHERS && good; i++)
        good = !perf_rings_at(i, &ring) || start(i, ring.cpu);
    return good;
}

bool catchers_watch(int pid, const void *shared)
{
    struct watched *free_one = catchers.watched;
    while (free_one < catchers.watched + MOST_WATCHED && atomic_load(&free_one->pid))
        free_one++;
    if (free_one == catchers.watched + MOST_WATCHED || perf_switches_watch(pid) != 0 ||
        (catchers.count == 0 && !start_all()))
        return false;
    free_one->shared = shared;
    atomic_store(&free_one->pid, pid);
    return true;
}

void catchers_forget(int pid)
{
    perf_switches_unwatch(pid);
    for (unsigned i = 0; i < MOST_WATCHED; i++)
        if (atomic_load(&catchers.watched[i].pid) == pid)
            atomic_store(&catchers.watched[i].pid, 0);
}

const struct caught *catchers_take(const struct perf_event_header *sample)
{
    const struct perf_event_header *first;
    uint64_t time = perf_record_time(sample);
    for (unsigned i = 0; i < catchers.count; i++) {
        struct record_queue *caught = catchers.at[i]->caught;
        while ((first = record_queue_first(caught)) && perf_record_time(first) < time)
            record_queue_remove_first(caught);
        if (first && perf_record_time(first) == time && perf_record_tid(first) == perf_record_tid(sample))
            return (const struct caught *)first;
    }
    return NULL;
}

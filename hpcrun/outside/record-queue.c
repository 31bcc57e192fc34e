#include "hpcrun/outside/record-queue.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/outside/perf-records.h"

#include <linux/futex.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define RESERVED (128u << 10) /* for records that are no samples */

/* Positions are those of bytes since the begin; a record is never in two parts. */
struct record_queue {
    _Atomic uint64_t head, tail;
    _Atomic uint32_t bell; /* a futex */
    _Atomic uint32_t end;  /* enum queue_end */
    struct losses {
        _Atomic uint64_t count, time;
    } lost, refused;
    _Atomic uint64_t dropped_at;
    _Atomic uint64_t asked[COPY_SIZES + 1]; /* struct copy_demand */
    uint64_t lost_to_say; /* the writer's: of `lost`, since the last record_queue_demand */
    uint64_t woken; /* the writer's: `head` when the reader was last woken; UINT64_MAX: it is not woken */
    bool is_taken;  /* the writer's */
    _Atomic uint32_t wish; /* enum queue_wish */
    _Atomic uint32_t lacks;
    _Atomic uint32_t wants_cpus; /* enum wants_cpus */
    _Atomic int write_error;     /* errno */
    struct measured measured;
    _Alignas(64) uint8_t note[QUEUE_NOTE_BYTES];
    _Alignas(4096) uint8_t data[QUEUE_BYTES];
};

static struct {
    _Alignas(4096) _Atomic uint64_t until;
    _Atomic bool refuses, has_wishes;
    struct record_queue all[];
} *queues;

/* The writer's: queues that have got records since their readers were last woken. */
static struct record_queue *fed[MAX_QUEUES];
static unsigned fed_count, queue_count, taken_end; /* taken_end: those from there on were never taken */

/* Where a limit of addresses (ulimit -v) leaves few, the queues take at most a quarter of it. */
static unsigned find_count(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return MAX_QUEUES;
    uint64_t n = limit.rlim_cur / 4 / sizeof *queues->all;
    return n == 0 ? 1 : n > MAX_QUEUES ? MAX_QUEUES : (unsigned)n;
}

bool record_queues_map(void)
{
    queue_count = find_count();
    void *at = mmap(NULL, sizeof *queues + queue_count * sizeof *queues->all, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    queues = at == MAP_FAILED ? NULL : at;
    return queues;
}

unsigned record_queues_count(void)
{
    return queue_count;
}

struct record_queue *record_queue_take(void)
{
    for (unsigned i = 0; i < queue_count; i++)
        if (!queues->all[i].is_taken) {
            queues->all[i].is_taken = true;
            taken_end = i < taken_end ? taken_end : i + 1;
            return &queues->all[i];
        }
    return NULL;
}

void record_queue_is_looked_at(struct record_queue *queue)
{
    queue->woken = UINT64_MAX;
}

/* The memory becomes zeros. A worker that could not begin leaves records that were not announced. */
void record_queue_give_back(struct record_queue *queue)
{
    for (unsigned i = fed_count; i > 0; i--)
        if (fed[i - 1] == queue)
            fed[i - 1] = fed[--fed_count];
    madvise(queue, sizeof *queue, MADV_REMOVE);
}

/* A queue that is looked at has another writer. Those that were never taken have no memory, and get none here. */
void record_queues_trim(void)
{
    for (struct record_queue *queue = queues->all; queue < queues->all + taken_end; queue++)
        if (queue->is_taken && queue->woken != UINT64_MAX && atomic_load(&queue->head) == atomic_load(&queue->tail))
            madvise(queue->data, sizeof queue->data, MADV_REMOVE);
}

/* ---- writer ---- */

/* Where a record of this size begins: not in the last bytes if it does not fit there. An empty queue begins again
 * at the first page, so that a queue that is never full takes little memory. */
static uint64_t place(uint64_t head, uint64_t tail, size_t size)
{
    uint64_t rest = QUEUE_BYTES - head % QUEUE_BYTES;
    bool begins_again = head == tail && head % QUEUE_BYTES != 0;
    return size <= rest && !begins_again ? head : head + rest;
}

static bool is_counted_sample(const struct perf_event_header *record)
{
    return record->type == PERF_RECORD_SAMPLE && !perf_record_is_switch(record);
}

/* Whether a record at this place leaves what others need. */
static bool fits(uint64_t at, uint64_t tail, const struct perf_event_header *record, size_t size)
{
    uint64_t reserved = is_counted_sample(record) || record->type == PERF_RECORD_CAUGHT ? RESERVED : 0;
    return at + size - tail <= QUEUE_BYTES - reserved;
}

bool record_queue_has_room(const struct record_queue *queue, const struct perf_event_header *record)
{
    uint64_t head = atomic_load(&queue->head), tail = atomic_load(&queue->tail);
    uint64_t at = place(head, tail, record->size);
    return record_queues_refuse_now() || fits(at, head == tail ? at : tail, record, record->size);
}

/* Marks the bytes that no record has. */
static void skip(struct record_queue *queue, uint64_t from, uint64_t to)
{
    if (from == to)
        return;
    struct perf_event_header *gap = (void *)(queue->data + from % QUEUE_BYTES);
    *gap = (struct perf_event_header){.size = (uint16_t)(to - from)};
}

static void lose(struct losses *losses, const struct perf_event_header *sample)
{
    atomic_fetch_add(&losses->count, 1);
    atomic_fetch_add(&losses->time, perf_record_period(sample));
}

void record_queue_put(struct record_queue *queue, const struct perf_event_header *record)
{
    uint64_t head = atomic_load(&queue->head), tail = atomic_load(&queue->tail);
    bool is_sample = is_counted_sample(record), is_empty = head == tail;
    size_t unused = perf_record_unused(record), size = record->size - unused;
    uint64_t at = place(head, tail, size);
    if (is_empty)
        tail = at;
    bool is_refused = is_sample && record_queues_refuse_now();
    if (!fits(at, tail, record, size) || is_refused) {
        queue->lost_to_say += is_sample && !is_refused;
        if (is_sample)
            lose(is_refused ? &queue->refused : &queue->lost, record);
        else
            atomic_store(&queue->dropped_at, perf_record_time(record));
        return;
    }
    if (is_empty)
        atomic_store(&queue->tail, at);
    else
        skip(queue, head, at);
    perf_record_copy((void *)(queue->data + at % QUEUE_BYTES), record, unused);
    if (head == queue->woken)
        fed[fed_count++] = queue;
    atomic_store(&queue->head, at + size);
}

void record_queue_demand(struct record_queue *queue, struct copy_demand *demand)
{
    for (unsigned i = 0; i <= COPY_SIZES; i++)
        demand->asked[i] += atomic_exchange(&queue->asked[i], 0);
    demand->lost += queue->lost_to_say;
    queue->lost_to_say = 0;
}

void record_queues_refuse(bool refuses)
{
    atomic_store(&queues->refuses, refuses);
}

bool record_queues_refuse_now(void)
{
    return atomic_load(&queues->refuses);
}

static void ring(struct record_queue *queue)
{
    atomic_fetch_add(&queue->bell, 1);
    sys3(SYS_futex, &queue->bell, FUTEX_WAKE, 1);
}

void record_queues_wake(uint64_t until)
{
    atomic_store(&queues->until, until);
    while (fed_count > 0) {
        struct record_queue *queue = fed[--fed_count];
        queue->woken = atomic_load(&queue->head);
        ring(queue);
    }
}

void record_queue_end(struct record_queue *queue, enum queue_end why)
{
    atomic_store(&queue->end, why);
    ring(queue);
}

/* ---- reader ---- */

static const struct perf_event_header *record_at(const struct record_queue *queue, uint64_t position)
{
    return (const void *)(queue->data + position % QUEUE_BYTES);
}

/* The writer may move the tail of an empty queue beyond the head that was read here. */
const struct perf_event_header *record_queue_first(struct record_queue *queue)
{
    for (;;) {
        uint64_t head = atomic_load(&queue->head), tail = atomic_load(&queue->tail);
        if (tail >= head)
            return NULL;
        const struct perf_event_header *record = record_at(queue, tail);
        if (record->type != 0)
            return record;
        atomic_store(&queue->tail, tail + record->size);
    }
}

const struct perf_event_header *record_queue_after(struct record_queue *queue, const struct perf_event_header *record)
{
    uint64_t head = atomic_load(&queue->head), tail = atomic_load(&queue->tail);
    uint64_t from_tail = (uint64_t)((const uint8_t *)record - queue->data) - tail;
    uint64_t at = tail + from_tail % QUEUE_BYTES + record->size;
    if (at < head && record_at(queue, at)->type == 0)
        at += record_at(queue, at)->size;
    return at < head ? record_at(queue, at) : NULL;
}

void record_queue_remove_first(struct record_queue *queue)
{
    uint64_t tail = atomic_load(&queue->tail);
    const struct perf_event_header *record = (const void *)(queue->data + tail % QUEUE_BYTES);
    atomic_store(&queue->tail, tail + record->size);
}

static struct lost_samples take(struct losses *losses)
{
    return (struct lost_samples){atomic_exchange(&losses->count, 0), atomic_exchange(&losses->time, 0)};
}

struct lost_samples record_queue_lost(struct record_queue *queue)
{
    return take(&queue->lost);
}

struct lost_samples record_queue_refused(struct record_queue *queue)
{
    return take(&queue->refused);
}

uint64_t record_queue_dropped_at(const struct record_queue *queue)
{
    return atomic_load(&queue->dropped_at);
}

void record_queue_make_wish(struct record_queue *queue, enum queue_wish wish, const void *note, size_t bytes)
{
    if (bytes > 0)
        memcpy(queue->note, note, bytes);
    atomic_store(&queue->wish, wish);
    atomic_store(&queues->has_wishes, true);
}

bool record_queues_have_wishes(void)
{
    return atomic_exchange(&queues->has_wishes, false);
}

enum queue_wish record_queue_wish(const struct record_queue *queue)
{
    return atomic_load(&queue->wish);
}

const void *record_queue_note(const struct record_queue *queue)
{
    return queue->note;
}

void record_queue_note_lack(struct record_queue *queue)
{
    atomic_fetch_add(&queue->lacks, 1);
}

uint32_t record_queue_lacks(const struct record_queue *queue)
{
    return atomic_load(&queue->lacks);
}

void record_queue_ask(struct record_queue *queue, uint64_t bytes)
{
    atomic_fetch_add(&queue->asked[copy_size_for(bytes)], 1);
}

void record_queue_note_measured(struct record_queue *queue, struct measured measured)
{
    queue->measured = measured;
}

struct measured record_queue_measured(const struct record_queue *queue)
{
    return queue->measured;
}

void record_queue_want_cpus(struct record_queue *queue, unsigned why)
{
    atomic_store(&queue->wants_cpus, why);
}

unsigned record_queue_wants_cpus(const struct record_queue *queue)
{
    return atomic_load(&queue->wants_cpus);
}

void record_queue_note_write_error(struct record_queue *queue, int error)
{
    atomic_store(&queue->write_error, error);
}

int record_queue_write_error(const struct record_queue *queue)
{
    return atomic_load(&queue->write_error);
}

enum queue_end record_queue_ended(const struct record_queue *queue)
{
    return atomic_load(&queue->end);
}

uint64_t record_queues_until(void)
{
    return atomic_load(&queues->until);
}

void record_queue_wait(struct record_queue *queue, uint64_t until, uint64_t ns)
{
    const struct timespec most = sys_timespec(ns);
    uint32_t bell = atomic_load(&queue->bell);
    if (atomic_load(&queues->until) <= until && atomic_load(&queue->end) == QUEUE_OPEN)
        sys4(SYS_futex, &queue->bell, FUTEX_WAIT, bell, &most);
}

/* What hpcrun-outside does with a ring of perf's records: the ring is read, its records pass through the queue to a worker
 * and are decoded there. The ring, the queue's records and the copies of the stack are looked at byte by byte. */
#include "tests/fuzz/fuzz-target.h"

#include "hpcrun/outside/foreign-memory.h"
#include "hpcrun/outside/perf-records.h"
#include "hpcrun/outside/record-queue.h"
#include "hpcrun/outside/ring-reader.h"
#include "hpcrun/source/kernel-frames.h"
#include "lib/bytes.h"

#include <stdlib.h>
#include <string.h>

#define HEAD 2

static struct record_queue *queue;
static struct ring ring;
static volatile uint8_t sink;
static const struct perf_event_header *visited; /* the record as the visitor gets it */

static void touch(const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        sink ^= ((const uint8_t *)bytes)[i];
}

static bool is_in_record(const void *bytes, size_t size)
{
    const uint8_t *record = (const void *)visited, *at = bytes;
    return size == 0 || (at >= record && size <= visited->size && at + size <= record + visited->size);
}

/* ---- the worker ---- */

static void on_map(const struct mapping *mapping)
{
    PROMISE(strlen(mapping->path) < sizeof mapping->path);
}

static void on_sample(const struct perf_sample *sample)
{
    static struct memory memory;
    static struct memory_pages pages;
    uint64_t sp = sample->registers[SAMPLED_SP], word;
    PROMISE(is_in_record(sample->stack, sample->stack_bytes));
    PROMISE(sample->kernel_count <= KERNEL_FRAMES);
    PROMISE(is_in_record(sample->kernel, sample->kernel_count * sizeof *sample->kernel));
    touch(sample->stack, sample->stack_bytes);
    touch(sample->kernel, sample->kernel_count * sizeof *sample->kernel);
    memory_begin_sample(&memory, &pages);
    memory_set_elsewhere(&memory, sp, foreign_memory(sample->stack, sample->stack_bytes, NULL));
    for (uint64_t at = 0; at < 2 * sample->stack_bytes + 64; at += 61)
        memory_read_guarded(&memory, sp + at, &word, sizeof word);
    memory_end_sample(&memory);
    record_queue_ask(queue, sample->copy_bytes);
}

static void on_number(uint64_t samples)
{
    (void)samples;
}

static void on_thread(int tid, uint64_t time)
{
    (void)tid;
    (void)time;
}

static void on_switch(int tid, bool runs, bool is_preempted)
{
    (void)tid;
    (void)runs;
    (void)is_preempted;
}

static void on_throttled(void)
{
}

static const struct perf_visitor visitor = {.map = on_map,
                                            .sample = on_sample,
                                            .lost = on_number,
                                            .begin = on_thread,
                                            .end = on_thread,
                                            .switched = on_switch,
                                            .throttled = on_throttled};

/* A record in memory of its own: the address sanitizer sees what is read beyond it. */
static void work(const struct perf_event_header *record)
{
    struct perf_event_header *copy = malloc(record->size);
    memcpy(copy, record, record->size);
    visited = copy;
    perf_record_visit(copy, &visitor);
    free(copy);
}

static void empty_queue(void)
{
    for (const struct perf_event_header *record; (record = record_queue_first(queue));) {
        work(record);
        record_queue_remove_first(queue);
    }
}

/* ---- the reader ---- */

static void read_record(const struct perf_event_header *record)
{
    char name[PROCESS_NAME];
    struct mapping mapping;
    touch(record, record->size);
    perf_record_time(record);
    perf_record_event(record);
    perf_record_pid(record);
    perf_record_tid(record);
    perf_record_lost(record);
    if (perf_record_is_switch(record))
        perf_records_have_equal_registers(record, record);
    const struct task_record *begun = perf_record_begin(record);
    PROMISE(!begun || record->size >= sizeof *begun);
    PROMISE(!perf_record_is_exec(record, name) || strlen(name) < sizeof name);
    perf_record_mapping(record, &mapping);
    record_queue_put(queue, record);
}

/* A ring of as few pages as the input needs, whose first record begins at `from`. */
static void fill_ring(const uint8_t *data, size_t size, uint64_t from)
{
    ring.bytes = RING_PAGE;
    while (ring.bytes < size)
        ring.bytes *= 2;
    ring.page = aligned_alloc(RING_PAGE, RING_PAGE + ring.bytes);
    memset(ring.page, 0, RING_PAGE + ring.bytes);
    from = from * 8 % ring.bytes;
    for (size_t i = 0; i < size; i++)
        ((uint8_t *)ring.page)[RING_PAGE + (from + i) % ring.bytes] = data[i];
    ring.page->data_tail = from;
    ring.page->data_head = from + size;
}

/* The input: the place in the ring, in words (16 bits); the records. */
static void run_records(const uint8_t *data, size_t size)
{
    if (!queue)
        PROMISE(record_queues_map());
    if (size < HEAD)
        return;
    queue = record_queue_take();
    fill_ring(data + HEAD, size - HEAD, get_u16(data));
    ring_begin(&ring);
    for (const struct perf_event_header *record; (record = ring_first(&ring)); ring_skip(&ring, record)) {
        struct perf_event_header *copy = malloc(record->size);
        memcpy(copy, record, record->size);
        read_record(copy);
        free(copy);
    }
    ring_end(&ring);
    PROMISE(ring.page->data_tail == ring.page->data_head);
    empty_queue();
    record_queues_wake(UINT64_MAX);
    struct copy_demand demand = {0};
    record_queue_demand(queue, &demand);
    record_queue_give_back(queue);
    free(ring.page);
}

/* The ring, and copies of a record. */
const struct fuzz_target perf_records_target = {"perf-records", run_records, 1 << 20, 8};

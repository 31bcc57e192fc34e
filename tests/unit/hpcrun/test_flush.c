/* A thread's data is written in pieces. After several flushes, and failures between them, the file
 * has exactly what was added: nothing less, nothing twice. */
#include "tests/unit/lib/measurement_encoder.h"

#include "hpcrun/code/module-instances.h"
#include "hpcrun/process/process.h"
#include "hpcrun/record/append-file.h"
#include "hpcrun/record/arena-file.h"
#include "hpcrun/record/chunk-writer.h"
#include "hpcrun/record/flush.h"
#include "hpcrun/record/measurement-file.h"
#include "hpcrun/record/process-chunks.h"

#include <unistd.h>

struct process process;
struct sampling sampling;

bool process_is_restricted(void)
{
    return false;
}

static unsigned long writes, fails_from,
    fails_until; /* range of writes that fail, counted from 1 */

/* ---- stubs for flush.c ---- */

bool file_write(const void *data, size_t size)
{
    writes++;
    if (writes >= fails_from && writes < fails_until)
        return false;
    for (size_t i = 0; i < size; i++)
        encode_u8(&file, ((const uint8_t *)data)[i]);
    return true;
}

bool measurement_create(void)
{
    return true;
}

static unsigned arenas_kept;

void arena_file_keep(void)
{
    arenas_kept++;
}

bool process_chunks_write_modules(struct chunk *chunk)
{
    return true;
}

bool process_chunks_write_agents(struct chunk *chunk)
{
    return true;
}

bool process_chunks_write_clock(struct chunk *chunk, enum process_state state, int detail)
{
    return true;
}

/* ---- a thread, and the values added to it ---- */

#define METRICS 2
#define NODES   3000 /* more values than fit in a chunk */

static struct thread thread;
static struct arena_thread image;
static struct event event = {.name = "CPUTIME", .kind = EVENT_CPUTIME};
static uint64_t added[NODES + 1][METRICS]; /* by node */
static uint64_t fired_count, fired_amount, partial_count;

static void begin(void)
{
    start_process_file();
    size_t size = file.n;
    memset(&thread, 0, sizeof thread);
    memset(added, 0, sizeof added);
    fired_count = fired_amount = partial_count = 0;
    fails_from = fails_until = 0;
    thread.tid = getpid();
    memset(&image, 0, sizeof image);
    thread.image = thread.own_image = &image;
    thread.events[0].fates = image.fates[0];
    thread.event_count = 1;
    thread.events[0].event = &event;
    thread.events[0].opened_as = SOURCE_TASK_CLOCK;
    cct_init(&thread.cct, METRICS);
    /* chunk.c counts the chunks. */
    chunks_init();
    struct chunk chunk;
    assert_true(chunk_memory(&chunk));
    for (int i = 0; i < 3; i++) { /* PROCESS, EVENTS, METRICS */
        chunk_begin(&chunk, 0xffff, PROCESS);
        assert_true(chunk_commit(&chunk));
    }
    chunk_release(&chunk);
    file.n = size;
}

static void end(void)
{
    cct_free(&thread.cct);
}

/* Adds a sample of `amount`, with idleness, at the `which`-th call site below the root. */
static void add_sample(unsigned which, uint64_t amount, bool partial)
{
    struct cct_note note = {
        .ip = which + 1, .lip = LIP_IS_IP, .association = ASSOC_1_1, .first = true};
    uint32_t node = cct_child(&thread.cct, CCT_ROOT, &note);
    assert_int_not_equal(node, CCT_NO_MEMORY);
    assert_true(node <= NODES);
    assert_true(cct_add(&thread.cct, node, 0, amount));
    assert_true(cct_add(&thread.cct, node, 1, amount / 3));
    added[node][0] += amount;
    added[node][1] += amount / 3;
    struct fate_count *fates = thread.events[0].fates;
    fates[fate_slot(FATE_FIRED)].count++;
    fates[fate_slot(FATE_FIRED)].amount += amount;
    fates[fate_slot(FATE_RECORDED)].count++;
    fates[fate_slot(FATE_RECORDED)].amount += amount;
    fates[fate_slot(FATE_PARTIAL_NO_FDE)].count += partial;
    fates[fate_slot(FATE_PARTIAL_NO_FDE)].amount += partial ? amount : 0;
    fired_count++;
    fired_amount += amount;
    partial_count += partial;
}

static uint64_t fate_amount(const struct measurement_thread *read, uint32_t code, uint64_t *count)
{
    for (size_t i = 0; i < read->fates.n; i++)
        if (read->fates.at[i].code == code) {
            *count = read->fates.at[i].count;
            return read->fates.at[i].amount;
        }
    *count = 0;
    return 0;
}

/* Checks that the file has what was added. Node ids in the file are the tree's. */
static void check(void)
{
    struct measurement *m = read_file();
    uint64_t found[NODES + 1][METRICS] = {0}, count;
    assert_int_equal(m->problems.n, 0);
    assert_int_equal(m->threads.n, 1);
    const struct measurement_thread *read = &m->threads.at[0];
    for (size_t i = 0; i < read->values.n; i++) {
        const struct measurement_value *value = &read->values.at[i];
        uint64_t ip = read->nodes.at[value->node].ip_offset;
        assert_true(ip >= 1 && ip <= NODES);
        found[ip][value->metric] += value->amount;
    }
    uint64_t expected[NODES + 1][METRICS] = {0};
    for (uint32_t id = 1; id < cct_end(&thread.cct); id++)
        memcpy(expected[ip_offset(cct_node(&thread.cct, id)->ip)], added[id], sizeof *expected);
    assert_memory_equal(found, expected, sizeof found);
    assert_int_equal(fate_amount(read, FATE_FIRED, &count), fired_amount);
    assert_int_equal(count, fired_count);
    assert_int_equal(fate_amount(read, FATE_RECORDED, &count), fired_amount);
    assert_int_equal(count, fired_count);
    fate_amount(read, FATE_PARTIAL_NO_FDE, &count);
    assert_int_equal(count, partial_count);
}

/* ---- the tests ---- */

TEST(one_flush_writes_everything)
{
    begin();
    for (unsigned i = 0; i < NODES; i++)
        add_sample(i, 1000 + i, i % 7 == 0);
    assert_true(flush_thread(&thread, true));
    check();
    end();
}

TEST(later_flushes_write_what_is_new)
{
    begin();
    for (unsigned round = 0; round < 5; round++) {
        for (unsigned i = 0; i < 200; i++)
            add_sample((i * i + round * 17) % 350, 5000 * i + round, i % 3 == 0);
        assert_true(flush_thread(&thread, false));
        check();
    }
    assert_true(flush_thread(&thread, true));
    check();
    end();
}

/* A full disk, at any write: data that is not written stays for the next flush. */
TEST(a_failed_flush_is_made_up_for)
{
    for (unsigned long fails = 1; fails <= 12; fails++) {
        begin();
        for (unsigned i = 0; i < NODES; i++)
            add_sample(i, 77 + i, i % 2);
        writes = 0;
        fails_from = fails;
        fails_until = fails + 1;
        bool good = flush_thread(&thread, false);
        assert_true(good == (writes < fails));
        fails_from = fails_until = 0;
        add_sample(5, 123, false);
        assert_true(flush_thread(&thread, true));
        check();
        end();
    }
}

/* ---- the trace ---- */

#define RECORDS 20000 /* more than fit in a chunk */

/* A thread with a node, and a trace of `count` records. */
static void begin_trace(uint32_t limit, uint32_t count)
{
    begin();
    thread.trace_limit = limit;
    segments_init(&thread.trace, sizeof(struct trace_record), ARENA_TRACE_BITS);
    for (uint32_t i = 0; i < count; i++)
        *(struct trace_record *)segments_add(&thread.trace) =
            (struct trace_record){.time = i, .amount = 10 << TRACE_FLAG_BITS | TRACE_IDLE};
    image.trace = trace_word((struct trace_extent){.count = count, .scale = 3});
}

static void assert_trace(uint64_t records)
{
    struct measurement *m = read_file();
    assert_int_equal(m->problems.n, 0);
    assert_int_equal(m->threads.at[0].trace.n, records);
    if (records)
        assert_int_equal(m->threads.at[0].trace_step, 8);
}

/* Until the end it may still be thinned. One without a limit is written with the rest. */
TEST(a_bounded_trace_is_written_at_the_end)
{
    for (unsigned full = 0; full < 2; full++) {
        begin_trace(full ? TRACE_MAX_COUNT : RECORDS, RECORDS);
        assert_true(flush_thread(&thread, false));
        assert_trace(full ? RECORDS : 0);
        assert_int_equal(trace_extent(image.trace).count, full ? 0 : RECORDS);
        assert_true(flush_thread(&thread, true));
        assert_trace(RECORDS);
        assert_true(flush_thread(&thread, true)); /* after an exec that failed */
        assert_trace(RECORDS);
        assert_int_equal(trace_extent(image.trace).scale, 3);
        segments_free(&thread.trace);
        end();
    }
}

/* What could be written is not written again. */
TEST(no_record_is_written_twice)
{
    for (unsigned long fails = 1; fails <= 6; fails++) {
        begin_trace(RECORDS, RECORDS);
        writes = 0;
        fails_from = fails;
        fails_until = fails + 1;
        bool good = flush_thread(&thread, true);
        bool any = trace_extent(image.trace).count == 0;
        fails_from = fails_until = 0;
        assert_true(flush_thread(&thread, true));
        struct measurement *m = read_file();
        size_t n = m->threads.at[0].trace.n;
        assert_true(n == RECORDS || (!good && any && n > 0 && n < RECORDS));
        segments_free(&thread.trace);
        end();
    }
}

/* A process may be killed while the wake-ups of short waits are left out: what moved is there twice. */
TEST(wake_ups_that_are_left_over_are_skipped)
{
    static const uint64_t ticks[] = {200, 400, 300, 400, 500};
    begin();
    thread.began_wall = 50;
    segments_init(&thread.wake_ups, sizeof(struct arena_wake_up), ARENA_MARK_BITS);
    for (unsigned i = 0; i < 5; i++)
        *(struct arena_wake_up *)segments_add(&thread.wake_ups) = (struct arena_wake_up){
            .ticks = ticks[i] << 30, .began = (ticks[i] - 90) << 30, .released = (ticks[i] - 30) << 30, .thread = i};
    image.wake_ups = 5;
    image.lost_wake_ups = 7;
    assert_true(flush_thread(&thread, false)); /* until the end they may be left out */
    assert_int_equal(read_file()->threads.at[0].wake_ups.n, 0);
    assert_true(flush_thread(&thread, true));
    const struct measurement_thread *written = &read_file()->threads.at[0];
    assert_int_equal(written->wake_ups.n, 3);
    static const uint32_t kept[] = {0, 1, 4};
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(written->wake_ups.at[i].thread, kept[i]);
    assert_int_equal(written->lost_wake_ups, 7);
    segments_free(&thread.wake_ups);
    end();
}

/* The process has forbidden itself to read the time stamp counter: its ticks are smaller since then. */
TEST(wake_ups_of_unknown_times_are_left_out)
{
    begin();
    process.began_ticks = UINT64_MAX / 2;
    segments_init(&thread.wake_ups, sizeof(struct arena_wake_up), ARENA_MARK_BITS);
    *(struct arena_wake_up *)segments_add(&thread.wake_ups) = (struct arena_wake_up){.ticks = 2000, .began = 1000};
    image.wake_ups = 1;
    assert_true(flush_thread(&thread, true));
    const struct measurement *m = read_file();
    assert_int_equal(m->problems.n, 0);
    assert_int_equal(m->threads.at[0].wake_ups.n, 0);
    process.began_ticks = 0;
    segments_free(&thread.wake_ups);
    end();
}

/* Samples after the stop count as fired and dropped, once. */
TEST(late_samples_are_counted_once)
{
    begin();
    add_sample(1, 1000, false);
    thread.events[0].missed = (struct fate_count){.count = 2, .amount = 300};
    assert_true(flush_thread(&thread, false));
    assert_true(flush_thread(&thread, true));
    struct measurement *m = read_file();
    uint64_t count;
    assert_int_equal(fate_amount(&m->threads.at[0], FATE_FIRED, &count), 1300);
    assert_int_equal(count, 3);
    assert_int_equal(fate_amount(&m->threads.at[0], FATE_DROPPED_ENDING, &count), 300);
    assert_int_equal(count, 2);
    end();
}

EACH_TEST(make_directory, remove_directory);

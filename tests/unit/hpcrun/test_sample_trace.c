/* The trace of a thread: what a sample leaves, what stays when there are too many records, and what a process
 * leaves that is killed at any instruction. */
#include "tests/unit/cmocka_suite.h"
#include "tests/unit/random_numbers.h"

#include "hpcrun/base/shared-pages.h"
#include "hpcrun/sample/sample-trace.h"

#include <math.h>
#include <signal.h>

#define LIMIT 64
#define NODES 8u

static struct thread thread;
static struct arena_thread image;
static bool is_full; /* no more memory */
static bool is_shared;
static size_t touched; /* bytes at once, at most */
static uint64_t now;

/* ---- stubs for segments.c ---- */

void *sys_pages(size_t size)
{
    return is_full ? NULL : calloc(1, size);
}

void sys_pages_free(void *pages, size_t size)
{
    free(pages);
}

void *shared_pages(size_t size)
{
    return is_shared ? calloc(1, size) : NULL;
}

void shared_pages_touch(void *block, size_t size)
{
    touched = size > touched ? size : touched;
}

void shared_pages_free(void *block, size_t size)
{
    free(block);
}

uint64_t shared_pages_offset(const void *block)
{
    return 0;
}

/* ---- a thread ---- */

STEP(begin)
{
    memset(&thread, 0, sizeof thread);
    memset(&image, 0, sizeof image);
    is_full = is_shared = false;
    now = touched = 0;
    thread.image = &image;
    thread.random = 0x9e3779b97f4a7c15u;
    thread.trace_limit = LIMIT;
    thread.traced = &thread.events[0];
    segments_init(&thread.trace, sizeof(struct trace_record), ARENA_TRACE_BITS);
}

STEP(end)
{
    segments_free(&thread.trace);
}

/* All fields of a record follow from its node, which shows records that are mixed from two. */
static void take_increment(uint32_t node, uint64_t state, struct increment increment)
{
    *sample_trace_place(&thread) = (struct trace_record){
        .time = ++now, .amount = state, .node = node, .n = 3 * node, .working = 5 * node, .waiters = 7 * node};
    sample_trace(&thread, &thread.events[0], &increment);
}

static void take(uint32_t node, uint64_t amount)
{
    take_increment(node, TRACE_WORK, (struct increment){.fired = true, .amount = amount});
}

/* Of a trace without a bound, segments double, and a sample does not wait for all pages of a large one. */
TEST(pages_of_a_large_segment)
{
    static struct arena_segments offsets;
    is_shared = true;
    thread.trace.offsets = &offsets;
    thread.trace_limit = TRACE_MAX_COUNT;
    for (unsigned i = 0; i < 2 * TRACE_RECORDS; i++)
        take(1, 1);
    assert_int_equal(trace_extent(image.trace).scale, 0);
    assert_int_equal(touched, 8192 * sizeof(struct trace_record));
}

/* ---- the records that count, by arena-format.h ---- */

struct records {
    const struct trace_record *at[3 * LIMIT];
    unsigned count;
};

static void list(struct records *records)
{
    struct trace_extent extent = trace_extent(image.trace);
    records->count = 0;
    uint32_t first = extent.is_thinned ? extent.parts : 0;
    for (uint32_t i = 0; i < extent.count; i++)
        if (i < first || i >= 2 * first)
            records->at[records->count++] =
                i == 0 && first > 0 ? &image.trace_open[0] : segments_item(&thread.trace, i);
    if (!extent.is_thinned && extent.parts > 0)
        records->at[records->count++] = &image.trace_open[extent.parts % 2];
    for (uint32_t i = extent.taken; i < image.trace_recent_count; i++)
        records->at[records->count++] = &image.trace_recent[i];
}

static uint64_t sum_of_records(const struct records *records)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < records->count; i++)
        sum += trace_amount(records->at[i]->amount);
    return sum;
}

static bool are_whole(const struct records *records)
{
    for (unsigned i = 0; i < records->count; i++) {
        const struct trace_record *record = records->at[i];
        if (record->n != 3 * record->node || record->working != 5 * record->node ||
            record->waiters != 7 * record->node || trace_state(record->amount) != TRACE_WORK ||
            (i > 0 && record->time <= records->at[i - 1]->time))
            return false;
    }
    return true;
}

/* ---- a sample ---- */

#define READY_NODE 5u

static void assert_record(const struct trace_record *record, uint64_t amount, uint64_t state)
{
    assert_int_equal(trace_amount(record->amount), amount);
    assert_int_equal(record->amount & ((1 << TRACE_FLAG_BITS) - 1), state);
    assert_int_equal(record->waiters, 28);
    assert_int_equal(record->node, state == TRACE_READY ? READY_NODE : 4);
    assert_int_equal(record->n, 12);
    assert_int_equal(record->working, 20);
    assert_int_equal(record->time, now);
}

TEST(a_sample_has_a_record_for_each_state)
{
    const struct increment increment = {.fired = true, .amount = 1000, .off_cpu = 300, .ready = 200};
    static const struct {
        uint64_t state;
        unsigned count;
    } cases[] = {{TRACE_WORK, 3}, {TRACE_WORK | TRACE_WORKER, 3}, {TRACE_WAITING, 2}, {TRACE_IDLE, 1},
                 {TRACE_NOBODY, 1}, {TRACE_RUNTIME, 1}, {TRACE_DROPPED, 1}};
    thread.events[0].ready_node = READY_NODE;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct trace_record *last = sample_trace_place(&thread) + cases[i].count - 1;
        unsigned count = cases[i].count;
        take_increment(4, cases[i].state, increment);
        assert_ptr_equal(sample_trace_place(&thread), last + 1);
        if (count == 3)
            assert_record(last - 2, 300, TRACE_OFF_CPU | (cases[i].state & TRACE_WORKER));
        if (count > 1)
            assert_record(last - 1, 200, TRACE_READY);
        assert_record(last, count == 3 ? 500 : count == 2 ? 800 : 1000, cases[i].state);
    }
}

TEST(a_sample_without_time_has_none)
{
    take(1, 0);
    assert_int_equal(image.trace_recent_count, 0);
    take_increment(4, TRACE_WORK, (struct increment){.fired = true, .amount = 9, .off_cpu = 9});
    assert_int_equal(image.trace_recent_count, 1);
    assert_record(&image.trace_recent[0], 9, TRACE_OFF_CPU);
}

TEST(there_is_always_room_for_a_sample)
{
    const struct increment parts = {.fired = true, .amount = 1000, .off_cpu = 300, .ready = 200};
    random_state = 3;
    for (unsigned i = 0, sum = 0; i < 10000; i++) {
        struct records records;
        unsigned amount = random_below(2) ? 1000 : 1 + random_below(100);
        take_increment(1, TRACE_WORK, amount == 1000 ? parts : (struct increment){.amount = amount});
        sum += amount;
        assert_in_range(image.trace_recent_count, 0, ARENA_RECENT - TRACE_PARTS);
        list(&records);
        assert_int_equal(sum_of_records(&records), sum);
    }
}

/* ---- thinning ---- */

TEST(the_sum_stays_exact_and_the_number_bounded)
{
    for (uint32_t limit = LIMIT - 1; limit <= LIMIT; limit++) { /* odd, too */
        uint64_t sum = 0;
        begin(state);
        thread.trace_limit = limit;
        random_state = limit;
        for (unsigned i = 1; i <= 100000; i++) {
            struct records records;
            uint64_t amount = 1 + random_below(1000000);
            take(random_below(NODES), amount);
            sum += amount;
            struct trace_extent extent = trace_extent(image.trace);
            assert_in_range(extent.count, 0, limit);
            assert_in_range(thread.trace.count, 0, limit); /* the most that there were */
            assert_true(extent.parts < 1u << extent.scale);
            assert_int_equal(extent.taken, 0);
            if (i % 97 == 0) {
                list(&records);
                assert_int_equal(sum_of_records(&records), sum);
                assert_true(are_whole(&records));
                assert_int_equal(records.at[records.count - 1]->time, now);
                if (i > limit + ARENA_RECENT)
                    assert_true(extent.count >= limit / 2);
            }
        }
        end(state);
    }
}

/* A node's share is on average what it was. The odds of four standard errors by chance are 1 in 16,000, but each
 * run of the test is the same. */
TEST(what_stays_is_unbiased)
{
    enum { RUNS = 2000, SAMPLES = 600 };
    double sum[NODES] = {0}, squares[NODES] = {0}, expected[NODES] = {0};
    for (unsigned run = 0; run < RUNS; run++) {
        struct records records;
        double share[NODES] = {0};
        begin(state);
        thread.random = (run + 1) * 0x9e3779b97f4a7c15u;
        random_state = 7;
        for (unsigned i = 0; i < SAMPLES; i++) { /* neighbors are alike, as in programs */
            uint32_t node = random_below(3) ? (i / 60) % NODES : random_below(NODES);
            uint64_t amount = 1 + random_below(node ? 1000 : 20000);
            take(node, amount);
            if (run == 0)
                expected[node] += (double)amount;
        }
        assert_true(trace_extent(image.trace).scale >= 3);
        list(&records);
        for (unsigned i = 0; i < records.count; i++)
            share[records.at[i]->node] += (double)trace_amount(records.at[i]->amount);
        for (unsigned node = 0; node < NODES; node++) {
            sum[node] += share[node];
            squares[node] += share[node] * share[node];
        }
        end(state);
    }
    for (unsigned node = 0; node < NODES; node++) {
        double mean = sum[node] / RUNS, variance = squares[node] / RUNS - mean * mean;
        assert_true(variance > 0);
        assert_true(fabs(mean - expected[node]) < 4 * sqrt(variance / RUNS));
    }
}

TEST(without_memory_the_trace_is_thinned)
{
    thread.trace_limit = TRACE_MAX_COUNT;
    while (trace_extent(image.trace).count < 100)
        take(1, 10);
    is_full = true; /* the first segment has 128 */
    while (trace_extent(image.trace).scale == 0)
        take(1, 10);
    struct records records;
    list(&records);
    assert_int_equal(sum_of_records(&records) % 10, 0);
    assert_int_equal(sum_of_records(&records) / 10, now);
}

TEST(what_cannot_be_thinned_stays)
{
    const struct trace_extent most = {.count = LIMIT, .scale = TRACE_MAX_SCALE};
    is_full = true;
    for (unsigned i = 0; i < 200; i++)
        take(1, 10);
    assert_int_equal(image.trace, 0);
    image.trace = trace_word(most);
    for (unsigned i = 0; i < 200; i++)
        take(1, 10);
    assert_int_equal(image.trace, trace_word(most));
}

/* ---- a killed process ---- */

static struct records seen;
static uint64_t sum_before, sum_after;
static bool is_stepping, is_sound;
static unsigned steps;

#define TRAP_FLAG 0x100

/* After each instruction: whether what is there is what was there before the sample, or after it. */
static void on_step(int signal, siginfo_t *info, void *context)
{
    greg_t *flags = &((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];
    if (!is_stepping) {
        *flags &= ~(greg_t)TRAP_FLAG;
        return;
    }
    *flags |= TRAP_FLAG;
    steps++;
    list(&seen);
    uint64_t sum = sum_of_records(&seen);
    is_sound = is_sound && (sum == sum_before || sum == sum_after) && are_whole(&seen);
}

static void set_stepping(bool on)
{
    is_stepping = on;
    raise(SIGTRAP);
}

TEST(a_killed_process_leaves_a_consistent_trace)
{
    const struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
    struct sigaction before;
    sigaction(SIGTRAP, &action, &before);
    is_sound = true;
    for (unsigned limit = 9; limit <= 10; limit++) {
        begin(state);
        thread.trace_limit = limit;
        sum_after = 0;
        for (unsigned i = 0; i < 300; i++) {
            sum_before = sum_after;
            sum_after += 100 + i;
            set_stepping(true);
            take(i % NODES, 100 + i);
            set_stepping(false);
            assert_true(is_sound);
        }
        assert_true(steps > 5000);
        assert_true(trace_extent(image.trace).scale >= 3);
        end(state);
    }
    sigaction(SIGTRAP, &before, NULL);
}

EACH_TEST(begin, end);

/* perf's records: those that the kernel writes, damaged ones, and the ring in which they lie. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/outside/perf-records.h"
#include "hpcrun/outside/ring-reader.h"

#include <string.h>

#define STACK_BYTES 64
#define WORDS       (9 + SAMPLED_REGISTER_COUNT + 1 + STACK_BYTES / 8 + 1)

/* The words of a sample without frames of the kernel. */
enum { HEADER, THREAD, TIME, EVENT, PERIOD, CHAIN_LENGTH, KIND, REGISTERS, STACK_SIZE = REGISTERS + SAMPLED_REGISTER_COUNT };
enum { STACK, VALID = STACK + STACK_BYTES / 8 }; /* from STACK_SIZE + 1 on */

static uint64_t words[WORDS];
static struct perf_sample seen;
static unsigned samples;

static void note(const struct perf_sample *sample)
{
    seen = *sample;
    samples++;
}

static const struct perf_visitor visitor = {.sample = note};

static int begin(void **state)
{
    struct perf_event_header header = {.type = PERF_RECORD_SAMPLE, .size = (STACK_SIZE + 1 + VALID + 1) * 8};
    memset(words, 0, sizeof words);
    memcpy(&words[HEADER], &header, sizeof header);
    words[TIME] = 1000;
    words[EVENT] = 5;
    words[KIND] = PERF_SAMPLE_REGS_ABI_64;
    words[STACK_SIZE] = STACK_BYTES;
    words[STACK_SIZE + 1 + VALID] = STACK_BYTES - 16;
    samples = 0;
    return 0;
}

EACH_TEST(begin, NULL);

static struct perf_event_header *record(void)
{
    return (void *)words;
}

static void visit(void)
{
    perf_record_visit(record(), &visitor);
}

TEST(sample_of_the_kernel)
{
    visit();
    assert_int_equal(samples, 1);
    assert_ptr_equal(seen.stack, &words[STACK_SIZE + 1]);
    assert_int_equal(seen.stack_bytes, STACK_BYTES - 16);
    assert_int_equal(seen.copy_bytes, STACK_BYTES);
    assert_int_equal(perf_record_time(record()), 1000);
    assert_int_equal(perf_record_event(record()), 5);
}

/* Of an event that got a longer one before it counted; later events have it in their records. */
TEST(period_that_the_kernel_does_not_know)
{
    const uint64_t in_record[] = {1000, 4000, 8000}, meant[] = {4000, 4000, 8000};
    perf_records_expect(4000);
    for (size_t i = 0; i < 3; i++) {
        words[PERIOD] = in_record[i];
        visit();
        assert_int_equal(seen.period, meant[i]);
        assert_int_equal(perf_record_period(record()), meant[i]);
        assert_false(perf_record_is_switch(record()));
    }
    words[PERIOD] = SWITCH_PERIOD;
    assert_true(perf_record_is_switch(record()));
    assert_int_equal(perf_record_period(record()), SWITCH_PERIOD);
    perf_records_expect(0);
}

/* A copy of a record lacks the room in which the kernel put nothing, and is the same sample. */
TEST(copy_of_a_short_stack)
{
    static uint64_t copy[WORDS];
    const uint64_t valid[] = {STACK_BYTES, STACK_BYTES - 1, STACK_BYTES - 16, 13, 1, 0};
    for (size_t i = 0; i < sizeof valid / sizeof *valid; i++) {
        words[STACK_SIZE + 1 + VALID] = valid[i];
        for (size_t k = 0; k < STACK_BYTES / 8; k++)
            words[STACK_SIZE + 1 + k] = k + 77;
        size_t unused = perf_record_unused(record());
        assert_int_equal(unused, valid[i] == 0 ? 0 : (STACK_BYTES - valid[i]) / 8 * 8);
        memset(copy, 0xee, sizeof copy);
        perf_record_copy((void *)copy, record(), unused);
        assert_int_equal(((struct perf_event_header *)(void *)copy)->size, record()->size - unused);
        assert_true(unused == 0 || copy[record()->size / 8 - 1] == 0xeeeeeeeeeeeeeeee);
        perf_record_visit((void *)copy, &visitor);
        assert_int_equal(samples, i + 1);
        assert_int_equal(seen.stack_bytes, valid[i]);
        assert_memory_equal(seen.stack, &words[STACK_SIZE + 1], valid[i]);
        assert_int_equal(seen.copy_bytes, STACK_BYTES - unused);
        assert_int_equal(seen.time, 1000);
    }
}

/* A record that has less of the stack than it says is copied as it is. */
TEST(copy_of_a_damaged_record)
{
    words[STACK_SIZE] = 1 << 20;
    assert_int_equal(perf_record_unused(record()), 0);
}

/* A sample has no more of the stack than its record. */
TEST(stack_beyond_the_record)
{
    static const uint64_t sizes[] = {STACK_BYTES + 8, 1 << 20, UINT64_MAX, UINT64_MAX - 7};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        words[STACK_SIZE] = sizes[i];
        visit();
        assert_int_equal(seen.stack_bytes, 0);
    }
    words[STACK_SIZE] = STACK_BYTES;
    words[STACK_SIZE + 1 + VALID] = UINT64_MAX;
    visit();
    assert_int_equal(seen.stack_bytes, STACK_BYTES);
}

TEST(kernel_frames_beyond_the_record)
{
    words[CHAIN_LENGTH] = sizeof words;
    visit();
    words[CHAIN_LENGTH] = UINT64_MAX / 8;
    visit();
    assert_int_equal(samples, 0);
}

/* A record that ends before its fields. */
TEST(short_records)
{
    for (uint16_t size = 0; size <= STACK_SIZE * 8; size += 8) {
        record()->size = size;
        visit();
        assert_int_equal(samples, 0);
    }
    static const uint32_t types[] = {PERF_RECORD_MMAP2, PERF_RECORD_COMM, PERF_RECORD_FORK, PERF_RECORD_EXIT, PERF_RECORD_LOST};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        char name[PROCESS_NAME];
        *record() = (struct perf_event_header){types[i], PERF_RECORD_MISC_COMM_EXEC, 16};
        visit(); /* none of its functions is there */
        assert_null(perf_record_begin(record()));
        assert_false(perf_record_is_exec(record(), name));
        assert_int_equal(perf_record_lost(record()), 0);
    }
}

/* ---- the ring ---- */

static _Alignas(4096) uint8_t memory[2 * RING_PAGE];
static struct ring ring = {.page = (void *)memory, .bytes = RING_PAGE};

static void put(uint64_t at, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        memory[RING_PAGE + (at + i) % RING_PAGE] = ((const uint8_t *)bytes)[i];
    ring.page->data_tail = at;
    ring.page->data_head = at + size;
    ring_begin(&ring);
}

TEST(record_that_is_split)
{
    for (uint64_t at = RING_PAGE - 8 - record()->size; at <= RING_PAGE; at += 8) {
        put(at, words, record()->size);
        assert_memory_equal(ring_first(&ring), words, record()->size);
        ring_skip(&ring, ring_first(&ring));
        assert_null(ring_first(&ring));
        ring_end(&ring);
        assert_int_equal(ring.page->data_tail, at + record()->size);
    }
}

/* Nothing is read beyond what the kernel has written, and reading ends. */
TEST(damaged_sizes)
{
    uint16_t size = record()->size;
    const uint16_t sizes[] = {0, 4, 7, 12, (uint16_t)(size - 1), (uint16_t)(size + 8), UINT16_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        record()->size = sizes[i];
        put(RING_PAGE - 8, words, size);
        assert_null(ring_first(&ring));
        ring_end(&ring);
        assert_int_equal(ring.page->data_tail, ring.page->data_head);
    }
}

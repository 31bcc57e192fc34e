/* The ring of a perf event: a page of records, written as the kernel does. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/source/kernel-frames.h"

#define PAGE 4096u
#define MARK ((uint64_t)PERF_CONTEXT_KERNEL)

static struct {
    _Alignas(PAGE) struct perf_event_mmap_page head;
    _Alignas(PAGE) uint8_t data[PAGE];
} ring;

static struct thread thread;
static struct thread_event event;
static struct increment increment;

STEP(begin)
{
    memset(&ring, 0, sizeof ring);
    event = (struct thread_event){.ring = &ring.head};
}

static void put(const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        ring.data[ring.head.data_head++ % PAGE] = ((const uint8_t *)bytes)[i];
}

static void put_record(uint32_t type, const uint64_t *chain, uint64_t length)
{
    uint16_t size = (uint16_t)(sizeof(struct perf_event_header) + (1 + length) * sizeof *chain);
    put(&(struct perf_event_header){.type = type, .size = size}, sizeof(struct perf_event_header));
    put(&length, sizeof length);
    put(chain, length * sizeof *chain);
}

static void read_ring(void)
{
    increment = (struct increment){.fired = true};
    kernel_frames_read(&thread, &event, &increment);
    assert_int_equal(ring.head.data_tail, ring.head.data_head);
}

static void assert_frames(unsigned n, const uint64_t *frames)
{
    read_ring();
    assert_int_equal(increment.kernel_count, n);
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(increment.kernel[i], frames[i]);
}

TEST(a_sample_has_the_frames_of_its_record)
{
    static const uint64_t chain[] = {MARK, 30, 20, 10};
    put_record(PERF_RECORD_SAMPLE, chain, 4);
    assert_frames(3, chain + 1);
    assert_frames(0, NULL); /* of the next signal */
}

TEST(a_sample_in_the_program_has_none)
{
    put_record(PERF_RECORD_SAMPLE, NULL, 0);
    assert_frames(0, NULL);
    event.ring = NULL;
    kernel_frames_read(&thread, &event, &increment);
    assert_int_equal(increment.kernel_count, 0);
}

/* The handler may have dropped one without reading it; other records do not count. */
TEST(the_last_record_is_that_of_the_sample)
{
    static const uint64_t first[] = {MARK, 30, 20}, last[] = {MARK, 41};
    put_record(PERF_RECORD_SAMPLE, first, 3);
    put_record(PERF_RECORD_SAMPLE, last, 2);
    put_record(PERF_RECORD_LOST, first, 2);
    assert_frames(1, last + 1);
}

TEST(a_record_may_go_on_at_the_begin_of_the_page)
{
    static const uint64_t chain[] = {MARK, 30, 20, 10};
    for (unsigned i = 0; i < 1000; i++) {
        put_record(PERF_RECORD_SAMPLE, chain, 1 + i % 4);
        assert_frames(i % 4, chain + 1);
    }
}

TEST(of_deep_chains_the_innermost_frames_are_kept)
{
    uint64_t chain[127] = {MARK};
    for (unsigned i = 1; i < 127; i++)
        chain[i] = i;
    put_record(PERF_RECORD_SAMPLE, chain, 127);
    assert_frames(KERNEL_FRAMES - 1, chain + 1);
}

TEST(the_programs_part_of_a_chain_is_no_part_of_it)
{
    static const uint64_t chain[] = {MARK, 30, 20, (uint64_t)PERF_CONTEXT_USER, 4096};
    put_record(PERF_RECORD_SAMPLE, chain, 5);
    assert_frames(2, chain + 1);
}

/* The kernel writes none of these; the page is in the program's memory. */
TEST(a_damaged_ring_ends_the_search)
{
    static const struct perf_event_header empty = {.type = PERF_RECORD_SAMPLE};
    put(&empty, sizeof empty);
    assert_frames(0, NULL);
    uint64_t length = UINT64_MAX / 8;
    put(&(struct perf_event_header){.type = PERF_RECORD_SAMPLE, .size = 16}, sizeof empty);
    put(&length, sizeof length);
    read_ring();
    assert_in_range(increment.kernel_count, 0, KERNEL_FRAMES);
}

EACH_TEST(begin, NULL);

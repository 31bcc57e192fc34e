/* Memory that was read at the instant of a sample: what proves that, and how agents read it. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/outside/caught-memory.h"

#include <string.h>

#define THREAD 77
#define LATE   1000u /* later than all other times here */

static struct record_queue *queue;

struct sample {
    struct perf_event_header header;
    uint32_t pid, tid;
    uint64_t time, id, period, chain_length, abi, registers[SAMPLED_REGISTER_COUNT], stack_bytes;
};

struct switching {
    struct perf_event_header header;
    uint32_t pid, tid;
    uint64_t time, id;
};

static int take(void **state)
{
    static bool is_mapped; /* 0.5 GB of address space */
    is_mapped = is_mapped || record_queues_map();
    assert_true(is_mapped);
    queue = record_queue_take();
    return queue == NULL;
}

static int give_back(void **state)
{
    record_queue_give_back(queue);
    return 0;
}

EACH_TEST(take, give_back);

static void put_sample(int tid, uint64_t time, uint64_t period, uint64_t registers)
{
    struct sample sample = {.header = {.type = PERF_RECORD_SAMPLE, .size = sizeof sample},
                            .tid = (uint32_t)tid,
                            .time = time,
                            .period = period,
                            .abi = PERF_SAMPLE_REGS_ABI_64};
    for (unsigned i = 0; i < SAMPLED_REGISTER_COUNT; i++)
        sample.registers[i] = registers + i;
    record_queue_put(queue, &sample.header);
}

static void leave(int tid, uint64_t time, uint64_t registers)
{
    put_sample(tid, time, SWITCH_PERIOD, registers);
}

static void put_switch(int tid, uint64_t time, bool out)
{
    const struct switching record = {
        .header = {PERF_RECORD_SWITCH, out ? PERF_RECORD_MISC_SWITCH_OUT : 0, sizeof record}, .tid = (uint32_t)tid, .time = time};
    record_queue_put(queue, &record.header);
}

/* Blocks at 0x1000 and 0x1080, read from 130 to 140. */
static void put_caught(uint64_t time)
{
    static struct caught caught;
    caught = (struct caught){.tid = THREAD, .time = time, .began = 130, .ended = 140, .count = 2, .hint = 5};
    caught.header = (struct perf_event_header){.type = PERF_RECORD_CAUGHT, .size = (uint16_t)caught_size(2)};
    caught.address[0] = 0x1080;
    caught.address[1] = 0x1000;
    memset(&caught.address[2], 8, CAUGHT_BLOCK_BYTES);
    memset((uint8_t *)&caught.address[2] + CAUGHT_BLOCK_BYTES, 7, CAUGHT_BLOCK_BYTES);
    record_queue_put(queue, &caught.header);
}

static void put_sample_and_caught(void)
{
    put_sample(THREAD, 100, 1000000, 40);
    put_caught(100);
}

static enum caught_proof prove(uint64_t until)
{
    return caught_prove(queue, record_queue_first(queue), until);
}

TEST(a_thread_that_left_with_the_registers_of_the_sample)
{
    put_sample_and_caught();
    put_switch(THREAD, 119, true);
    leave(THREAD, 120, 40);
    put_switch(THREAD + 1, 120, false);
    leave(THREAD + 1, 135, 9);
    put_switch(THREAD, 141, false);
    assert_int_equal(prove(LATE), CAUGHT_PROVEN);
}

TEST(it_has_executed_something_before_it_left)
{
    put_sample_and_caught();
    leave(THREAD, 120, 41);
    put_switch(THREAD, 141, false);
    assert_int_equal(prove(LATE), CAUGHT_NOT_PROVEN);
}

TEST(it_got_a_cpu_while_memory_was_read)
{
    put_sample_and_caught();
    leave(THREAD, 120, 40);
    put_switch(THREAD, 139, false);
    assert_int_equal(prove(LATE), CAUGHT_NOT_PROVEN);
}

TEST(it_left_after_the_first_read)
{
    put_sample_and_caught();
    leave(THREAD, 131, 40);
    put_switch(THREAD, 141, false);
    assert_int_equal(prove(LATE), CAUGHT_NOT_PROVEN);
}

TEST(it_has_not_left)
{
    put_sample_and_caught();
    put_switch(THREAD, 120, true);
    leave(THREAD, 141, 40);
    assert_int_equal(prove(LATE), CAUGHT_NOT_PROVEN);
}

TEST(another_sample_of_it_came_before_the_last_read)
{
    put_sample_and_caught();
    leave(THREAD, 120, 40);
    put_sample(THREAD, 125, 1000000, 40);
    assert_int_equal(prove(LATE), CAUGHT_NOT_PROVEN);
}

TEST(memory_of_another_sample)
{
    put_sample(THREAD, 100, 1000000, 40);
    put_caught(99);
    leave(THREAD, 120, 40);
    assert_int_equal(prove(LATE), CAUGHT_NOT_PROVEN);
}

TEST(no_memory)
{
    put_sample(THREAD, 100, 1000000, 40);
    leave(THREAD, 120, 40);
    assert_int_equal(prove(LATE), CAUGHT_NOT_PROVEN);
    assert_int_equal(prove(100), CAUGHT_NOT_YET); /* it may still come */
}

TEST(records_that_decide_have_still_to_come)
{
    put_sample_and_caught();
    leave(THREAD, 120, 40);
    assert_int_equal(prove(140), CAUGHT_NOT_YET);
    put_switch(THREAD, 140, false);
    assert_int_equal(prove(141), CAUGHT_NOT_PROVEN);
}

/* A switch is lost, since the queue is full. */
TEST(a_lost_record_proves_nothing)
{
    static const struct switching lost = {.header = {PERF_RECORD_SWITCH, 0, sizeof lost}, .tid = THREAD, .time = 139};
    static const struct switching other = {.header = {PERF_RECORD_SWITCH, 0, sizeof other}, .tid = 1, .time = 99};
    put_sample_and_caught();
    leave(THREAD, 120, 40);
    assert_int_equal(prove(LATE), CAUGHT_PROVEN);
    while (record_queue_dropped_at(queue) == 0)
        record_queue_put(queue, &other.header);
    assert_int_equal(prove(LATE), CAUGHT_PROVEN); /* that was before the sample */
    record_queue_put(queue, &lost.header);
    assert_int_equal(prove(LATE), CAUGHT_NOT_PROVEN);
    assert_int_equal(record_queue_lost(queue).count, 0); /* they are no samples */
}

/* What was read for the sample before is gone from the queue. */
TEST(a_sample_has_what_follows_it)
{
    put_sample_and_caught();
    put_sample(THREAD, 150, 1000000, 40);
    assert_non_null(caught_after(queue, record_queue_first(queue)));
    record_queue_remove_first(queue);
    record_queue_remove_first(queue);
    assert_null(caught_after(queue, record_queue_first(queue)));
}

TEST(words_of_the_blocks)
{
    uint8_t bytes[16];
    put_sample_and_caught();
    leave(THREAD, 120, 40);
    assert_int_equal(prove(LATE), CAUGHT_PROVEN);
    caught_use(caught_after(queue, record_queue_first(queue)));
    assert_int_equal(caught_hint(), 5);
    assert_true(caught_read(0x107a, bytes, sizeof bytes)); /* in both */
    for (unsigned i = 0; i < sizeof bytes; i++)
        assert_int_equal(bytes[i], i < 6 ? 7 : 8);
    assert_true(caught_is_whole());
    assert_false(caught_read(0x10f8, bytes, sizeof bytes));
    assert_false(caught_is_whole());
    caught_use(NULL);
    assert_false(caught_is_whole());
    assert_false(caught_read(0x1000, bytes, 8));
}

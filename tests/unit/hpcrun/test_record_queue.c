/* The queue between the reader of perf's rings and a worker. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/outside/record-queue.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SAMPLE_BYTES 20008u

static struct record_queue *queue;
static _Alignas(8) uint8_t bytes[UINT16_MAX + 1];

static int take(void **state)
{
    static bool is_mapped;
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

/* Before other tests have taken more queues. */
TEST(queues_that_were_never_taken_get_no_memory)
{
    struct record_queue *second = record_queue_take();
    const ptrdiff_t bytes_of_each = (uint8_t *)second - (uint8_t *)queue;
    unsigned char is_resident = 1;
    record_queues_trim();
    assert_int_equal(mincore((uint8_t *)second + bytes_of_each, 1, &is_resident), 0);
    assert_int_equal(is_resident & 1, 0);
    record_queue_give_back(second);
}

/* Every byte of a record depends on its number. */
static const struct perf_event_header *record(uint32_t type, size_t size, unsigned number)
{
    memset(bytes, (int)(number % 251), size);
    *(struct perf_event_header *)(void *)bytes = (struct perf_event_header){.type = type, .size = (uint16_t)size};
    return (const void *)bytes;
}

static void put(uint32_t type, size_t size, unsigned number)
{
    record_queue_put(queue, record(type, size, number));
}

static void check_first(size_t size, unsigned number)
{
    const struct perf_event_header *first = record_queue_first(queue);
    assert_non_null(first);
    assert_int_equal(first->size, size);
    for (size_t i = sizeof *first; i < size; i++)
        assert_int_equal(((const uint8_t *)first)[i], number % 251);
    record_queue_remove_first(queue);
}

static size_t size_of(unsigned number)
{
    return 16 + 8 * (number * 7919 % 4000);
}

/* Records of all sizes come out as they went in, over many rounds of the memory. */
TEST(records_keep_their_order_and_content)
{
    unsigned last = 0;
    for (unsigned next = 0; next < 2000; next++) {
        put(PERF_RECORD_SAMPLE, size_of(next), next);
        for (; next + 1 - last > 20 || (next % 500 == 0 && last <= next); last++)
            check_first(size_of(last), last);
    }
    for (; last < 2000; last++)
        check_first(size_of(last), last);
    assert_null(record_queue_first(queue));
    assert_int_equal(record_queue_lost(queue).count, 0);
}

/* Samples are counted if there is no room for them. They leave some for other records. */
TEST(a_full_queue_loses_samples_only)
{
    unsigned samples = 0, more = 0;
    for (; record_queue_lost(queue).count == 0; samples++)
        put(PERF_RECORD_SAMPLE, SAMPLE_BYTES, samples);
    for (unsigned i = 0; i < 3; i++)
        put(PERF_RECORD_SAMPLE, SAMPLE_BYTES, 0);
    assert_int_equal(record_queue_lost(queue).count, 3);
    for (; more < 10; more++)
        put(PERF_RECORD_MMAP2, 4200, samples + more);
    for (unsigned i = 0; i + 1 < samples; i++)
        check_first(SAMPLE_BYTES, i);
    for (unsigned i = 0; i < more; i++)
        check_first(4200, samples + i);
    assert_null(record_queue_first(queue));
    put(PERF_RECORD_SAMPLE, SAMPLE_BYTES, 1);
    check_first(SAMPLE_BYTES, 1);
}

/* It has room for a record if that is not lost, and says so for samples that are refused. */
TEST(room_is_known_before)
{
    unsigned samples = 0;
    for (; record_queue_has_room(queue, record(PERF_RECORD_SAMPLE, SAMPLE_BYTES, 0)) && samples < QUEUE_BYTES / SAMPLE_BYTES; samples++)
        put(PERF_RECORD_SAMPLE, SAMPLE_BYTES, samples);
    assert_int_equal(record_queue_lost(queue).count, 0);
    assert_true(record_queue_has_room(queue, record(PERF_RECORD_MMAP2, 4200, 0)));
    put(PERF_RECORD_SAMPLE, SAMPLE_BYTES, samples);
    assert_int_equal(record_queue_lost(queue).count, 1);
    record_queues_refuse(true);
    assert_true(record_queue_has_room(queue, record(PERF_RECORD_SAMPLE, SAMPLE_BYTES, 0)));
    record_queues_refuse(false);
    for (unsigned i = 0; i < samples; i++)
        check_first(SAMPLE_BYTES, i);
    assert_true(record_queue_has_room(queue, record(PERF_RECORD_SAMPLE, SAMPLE_BYTES, 0)));
}

/* What the reader asked for and what was lost is reported once. */
TEST(demand_is_taken_once)
{
    struct copy_demand demand = {0};
    record_queue_ask(queue, 100);
    record_queue_ask(queue, 5000);
    record_queue_ask(queue, 1 << 20);
    for (unsigned i = 0; i < 300; i++)
        put(PERF_RECORD_SAMPLE, SAMPLE_BYTES, i);
    record_queue_demand(queue, &demand);
    record_queue_demand(queue, &demand);
    assert_int_equal(demand.asked[0], 1);
    assert_int_equal(demand.asked[1], 1);
    assert_int_equal(demand.asked[COPY_SIZES], 1);
    assert_int_equal(demand.lost, record_queue_lost(queue).count);
    assert_in_range(demand.lost, 1, 299);
}

TEST(a_queue_that_is_given_back_is_empty)
{
    put(PERF_RECORD_MMAP2, 64, 1);
    record_queue_end(queue, QUEUE_EXEC);
    assert_int_equal(record_queue_ended(queue), QUEUE_EXEC);
    record_queue_give_back(queue);
    assert_ptr_equal(record_queue_take(), queue);
    assert_int_equal(record_queue_ended(queue), QUEUE_OPEN);
    assert_null(record_queue_first(queue));
    struct record_queue *others[MAX_QUEUES];
    unsigned n = 0;
    while ((others[n] = record_queue_take()))
        n++;
    assert_int_equal(n + 1, record_queues_count());
    while (n > 0)
        record_queue_give_back(others[--n]);
}

/* A queue that gives its memory back takes records as before; one that is not empty keeps it. */
TEST(empty_queues_are_trimmed)
{
    put(PERF_RECORD_SAMPLE, SAMPLE_BYTES, 1);
    record_queues_trim();
    check_first(SAMPLE_BYTES, 1);
    record_queues_trim();
    put(PERF_RECORD_SAMPLE, SAMPLE_BYTES, 2);
    check_first(SAMPLE_BYTES, 2);
    assert_null(record_queue_first(queue));
}

/* Workers that can't begin: their queues have got records already, and come to others, all between two announcements. */
TEST(queues_without_workers)
{
    for (unsigned i = 0; i < 100 * MAX_QUEUES; i++) {
        put(PERF_RECORD_MMAP2, 64, 1);
        record_queue_give_back(queue);
        assert_ptr_equal(record_queue_take(), queue);
    }
    put(PERF_RECORD_MMAP2, 64, 2);
    record_queues_wake(0);
    check_first(64, 2);
}

/* Samples that are refused are lost; other records are taken, also by a queue that was empty. */
TEST(samples_can_be_refused)
{
    put(PERF_RECORD_FORK, 64, 0);
    check_first(64, 0);
    record_queues_refuse(true);
    put(PERF_RECORD_SAMPLE, SAMPLE_BYTES, 0);
    put(PERF_RECORD_FORK, 64, 1);
    record_queues_refuse(false);
    put(PERF_RECORD_SAMPLE, SAMPLE_BYTES, 2);
    check_first(64, 1);
    check_first(SAMPLE_BYTES, 2);
    assert_int_equal(record_queue_lost(queue).count, 0);
    assert_int_equal(record_queue_refused(queue).count, 1);
    assert_false(record_queues_refuse_now());
}

/* Until the process sleeps, or has ended. */
static void await_sleep(pid_t pid)
{
    char path[48], state = 'R';
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    while (state != 'S' && state != 'Z') {
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        assert_int_equal(fscanf(file, "%*d (%*[^)]) %c", &state), 1);
        fclose(file);
    }
}

/* Each reader that waits is woken when its queue has got records, the first time and later. An alarm ends one that is not. */
TEST(readers_are_woken)
{
    for (unsigned round = 0; round < 3; round++) {
        pid_t reader = fork();
        if (reader == 0) {
            alarm(60);
            while (!record_queue_first(queue))
                record_queue_wait(queue, round, 1000000000000u);
            record_queue_remove_first(queue);
            _exit(0);
        }
        await_sleep(reader);
        put(PERF_RECORD_SAMPLE, SAMPLE_BYTES, round);
        record_queues_wake(round + 1);
        int status;
        assert_int_equal(waitpid(reader, &status, 0), reader);
        assert_int_equal(status, 0);
        assert_int_equal(record_queues_until(), round + 1);
    }
}

/* What is read for an agent at the instant of a sample. The memory is this process's own, and the agent asks for
 * blocks of it. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/outside/catch.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096u
#define MANY 450u /* blocks: more than are read one by one (MOST_READS), fewer than a record has room for */
#define SOME 300u

static struct {
    const uint8_t *at[MANY];
    unsigned count;
    bool is_whole, is_expected;
    uint64_t remembered; /* catches since the agent's memory of the thread was empty */
} asked;

static bool start(const struct agent_host *host)
{
    return host;
}

static void read_ahead(struct agent_cursor *cursor, const void *shared)
{
    uint64_t word, addresses[MANY];
    for (unsigned i = 0; i < asked.count; i++)
        addresses[i] = (uint64_t)(uintptr_t)asked.at[i] + 8;
    if (asked.is_expected)
        host_for_catches.expect(cursor, addresses, asked.count);
    asked.remembered = (*(uint64_t *)cursor->thread_data)++;
    for (unsigned i = 0; i < asked.count; i++)
        host_for_catches.read(cursor, (uint64_t)(uintptr_t)asked.at[i], &word, sizeof word);
    asked.is_whole = host_for_catches.is_caught(cursor);
}

const struct agent hpcrun_agent = {.start = start, .read_ahead = read_ahead, .thread_data_bytes = 8};

static struct catch *its;

static int begin(void **state)
{
    asked.count = 0;
    asked.is_expected = false;
    its = catch_new();
    return its == NULL;
}

static int end(void **state)
{
    free(its);
    return 0;
}

EACH_TEST(begin, end);

static uint8_t *map(size_t bytes)
{
    uint8_t *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(at != MAP_FAILED);
    return at;
}

static void ask(const uint8_t *block)
{
    asked.at[asked.count++] = block;
}

/* The memory at a sample of a thread; every block that was asked for is in it, with its content. */
static void check_catch(int tid)
{
    const struct sample_instant sample = {.pid = getpid(), .tid = tid, .time = 1};
    const struct caught *caught = catch_memory(its, &sample, "", 0);
    uint8_t now[CAUGHT_BLOCK_BYTES];
    assert_true(asked.is_whole);
    assert_non_null(caught);
    assert_int_equal(caught->count, asked.count);
    for (unsigned i = 0; i < asked.count; i++) {
        assert_true(caught_copy(caught, (uint64_t)(uintptr_t)asked.at[i], now, sizeof now));
        assert_memory_equal(now, asked.at[i], sizeof now);
    }
}

/* Blocks in another order than that of their addresses. */
static void ask_for(uint8_t *memory, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        uint8_t *block = memory + (i * 7u % count) * CAUGHT_BLOCK_BYTES;
        memset(block, (int)i, CAUGHT_BLOCK_BYTES);
        ask(block);
    }
}

TEST(blocks_of_the_last_sample_are_read_anew)
{
    uint8_t *memory = map(16 * PAGE);
    ask_for(memory, 100);
    check_catch(1);
    memset(memory, 0x55, 16 * PAGE);
    check_catch(1);
    asked.count = 50;
    check_catch(1);
    munmap(memory, 16 * PAGE);
}

/* There are more blocks than a catch may read one by one. */
TEST(blocks_that_followed_are_read_with_one_that_is_missing)
{
    uint8_t *memory = map(16 * PAGE), *more = map(16 * PAGE);
    ask_for(memory, SOME);
    check_catch(1);
    ask_for(more, MANY - SOME);
    check_catch(2);
    munmap(memory, 16 * PAGE);
    munmap(more, 16 * PAGE);
}

TEST(what_followed_is_gone)
{
    uint8_t *memory = map(PAGE), *next = map(PAGE);
    ask(memory);
    ask(next);
    check_catch(1);
    munmap(next, PAGE);
    asked.count = 1;
    check_catch(2);
    munmap(memory, PAGE);
}

/* They are more than a catch may read one by one. */
TEST(what_is_expected_is_read_at_once)
{
    uint8_t *memory = map(16 * PAGE);
    asked.is_expected = true;
    ask_for(memory, MANY);
    check_catch(1);
    munmap(memory, 16 * PAGE);
}

TEST(what_is_expected_may_be_gone)
{
    uint8_t *memory = map(PAGE), *gone = map(PAGE);
    asked.is_expected = true;
    ask(memory);
    ask(gone);
    ask(memory + PAGE / 2);
    munmap(gone, PAGE);
    const struct sample_instant sample = {.pid = getpid(), .tid = 1, .time = 1};
    uint8_t now[CAUGHT_BLOCK_BYTES];
    memset(memory, 0x77, PAGE);
    const struct caught *caught = catch_memory(its, &sample, "", 0);
    assert_false(asked.is_whole);
    assert_non_null(caught);
    assert_int_equal(caught->count, 1); /* what is asked for after a failure is not read */
    assert_true(caught_copy(caught, (uint64_t)(uintptr_t)memory, now, sizeof now));
    assert_memory_equal(now, memory, sizeof now);
    munmap(memory, PAGE);
}

/* At first often; later only if a record lacked something, and not at each one that does. */
TEST(what_the_agent_remembers_is_forgotten)
{
    uint8_t *memory = map(PAGE);
    const struct sample_instant sample = {.pid = getpid(), .tid = 1, .time = 1};
    ask(memory);
    for (unsigned i = 0; i < 1000; i++) {
        catch_memory(its, &sample, "", 0);
        assert_int_equal(asked.remembered == 0, (i & (i - 1)) == 0);
    }
    catch_memory(its, &sample, "", 1);
    assert_int_equal(asked.remembered, 0);
    for (unsigned i = 1; i < 100; i++) {
        catch_memory(its, &sample, "", 1 + i);
        if (1000 + i != 1024)
            assert_int_equal(asked.remembered == 0, i == 88);
    }
    munmap(memory, PAGE);
}

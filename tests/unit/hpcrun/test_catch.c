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
    bool is_whole;
} asked;

static bool start(const struct agent_host *host)
{
    return host;
}

static void read_ahead(struct agent_cursor *cursor, const void *shared)
{
    uint64_t word;
    for (unsigned i = 0; i < asked.count; i++)
        host_for_catches.read(cursor, (uint64_t)(uintptr_t)asked.at[i], &word, sizeof word);
    asked.is_whole = host_for_catches.is_caught(cursor);
}

const struct agent hpcrun_agent = {.start = start, .read_ahead = read_ahead, .thread_data_bytes = 8};

static struct catch *its;

static int begin(void **state)
{
    asked.count = 0;
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
    const struct caught *caught = catch_memory(its, &sample, "");
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

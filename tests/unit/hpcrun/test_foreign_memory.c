/* The memory of another process: a copy of the top of a stack, which has run on since. */
#include "tests/unit/cmocka_suite.h"

#include "agents/agent-slots.h"
#include "hpcrun/outside/foreign-memory.h"
#include "hpcrun/outside/measured-process.h"

#define PAGE   4096u
#define STACK  0x7fff00000800u /* its stack pointer: in the middle of a page */
#define COPIED 0x4000u         /* bytes: to the middle of a page */
#define PAGES  8u

static uint8_t live[PAGES * PAGE]; /* from the page of STACK on */
static uint8_t copied[COPIED];
static bool is_readable;
static struct memory memory;
static struct memory_pages pages;

bool measured_read(uint64_t address, void *to, size_t size)
{
    uint64_t at = address - STACK / PAGE * PAGE;
    if (!is_readable || at >= sizeof live || size > sizeof live - at)
        return false;
    memcpy(to, live + at, size);
    return true;
}

static uint8_t *live_at(uint64_t address)
{
    return live + (address - STACK / PAGE * PAGE);
}

/* A sample: the copy is as the stack. */
static void sample_with(size_t bytes)
{
    for (size_t i = 0; i < sizeof live; i++)
        live[i] = (uint8_t)(i * 7 + i / 251);
    memcpy(copied, live_at(STACK), COPIED);
    is_readable = true;
    memory_begin_sample(&memory, &pages);
    memory_set_elsewhere(&memory, STACK, foreign_memory(copied, bytes, NULL));
}

static int sample(void **state)
{
    sample_with(COPIED);
    return 0;
}

EACH_TEST(sample, NULL);

static uint64_t word_at(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* Every word of the copy is the one of then, by both ways to read it. */
TEST(the_copy_is_as_at_the_sample)
{
    uint64_t value;
    memset(live, 0xee, sizeof live);
    is_readable = false;
    for (uint64_t at = 0; at + 8 <= COPIED; at++) {
        assert_true(memory_load(&memory, STACK + at, &value));
        assert_int_equal(value, word_at(copied + at));
        assert_true(memory_read_guarded(&memory, STACK + at, &value, sizeof value));
        assert_int_equal(value, word_at(copied + at));
    }
}

/* What is outside of the copy is read from the process if it is the same stack still. */
TEST(outer_frames_are_read_from_the_process)
{
    uint64_t value;
    uint64_t places[] = {STACK + COPIED, STACK + COPIED + 800, STACK + COPIED + PAGE};
    *live_at(STACK + 8) ^= 1; /* frames of then have returned */
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        assert_true(memory_load(&memory, places[i], &value));
        assert_int_equal(value, word_at(live_at(places[i])));
    }
}

/* A word that is in part in the copy: its other part comes from the process. */
TEST(word_across_the_end_of_the_copy)
{
    uint64_t value;
    assert_true(memory_load(&memory, STACK + COPIED - 4, &value));
    assert_int_equal(value, word_at(live_at(STACK + COPIED - 4)));
}

/* The frame at the copy's end has returned: what is outside of it may be of other calls. */
TEST(stack_that_has_changed)
{
    uint64_t value;
    *live_at(STACK + COPIED - 8) ^= 1;
    assert_false(memory_load(&memory, STACK + COPIED, &value));
    assert_false(memory_load(&memory, STACK + COPIED + PAGE, &value));
    assert_true(memory_load(&memory, STACK, &value));
    assert_int_equal(foreign_memory_rest(), REST_CHANGED);
    sample(NULL); /* the next one has another copy */
    assert_true(memory_load(&memory, STACK, &value));
    assert_int_equal(foreign_memory_rest(), REST_UNREAD);
    assert_true(memory_load(&memory, STACK + COPIED, &value));
    assert_int_equal(foreign_memory_rest(), REST_READ);
}

/* A changed stack may be read for a comparison, and for nothing else. */
TEST(comparison_with_an_earlier_sample)
{
    uint64_t value;
    *live_at(STACK + COPIED - 8) ^= 1;
    memory_begin_comparison(&memory);
    assert_true(memory_load(&memory, STACK + COPIED, &value));
    assert_int_equal(value, word_at(live_at(STACK + COPIED)));
    assert_int_equal(foreign_memory_rest(), REST_UNREAD);
    memory_end_comparison(&memory);
    assert_false(memory_load(&memory, STACK + COPIED, &value));
    assert_int_equal(foreign_memory_rest(), REST_CHANGED);
}

/* The last 4 KB are compared, of a shorter copy than 8 KB the outer half: what is inside of these may have returned. */
TEST(compared_bytes)
{
    static const size_t sizes[][2] = {{COPIED, PAGE}, {2 * PAGE, PAGE}, {512, 256}, {16, 8}};
    uint64_t value;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t first = STACK + sizes[i][0] - sizes[i][1];
        sample_with(sizes[i][0]);
        *live_at(first - 1) ^= 1;
        assert_true(memory_load(&memory, STACK + COPIED, &value));
        sample_with(sizes[i][0]);
        *live_at(first) ^= 1;
        assert_false(memory_load(&memory, STACK + COPIED, &value));
    }
}

/* The kernel copies nothing if the stack's page is not in memory. Then nothing shows that the stack is that of the sample. */
TEST(empty_copy)
{
    uint64_t value;
    sample_with(0);
    assert_false(memory_load(&memory, STACK, &value));
    assert_false(memory_load(&memory, STACK + PAGE, &value));
}

/* Each thread's note has a place of its own. */
TEST(notes_of_all_slots)
{
    static uint64_t at[AGENT_CHUNKS * AGENT_SLOTS];
    const struct memory_elsewhere *elsewhere = memory.elsewhere;
    for (uint32_t slot = 0; slot < AGENT_CHUNKS * AGENT_SLOTS; slot++)
        at[slot] = foreign_memory_note(slot, (int)slot + 5);
    for (uint32_t slot = 0; slot < AGENT_CHUNKS * AGENT_SLOTS; slot++) {
        int number = 0;
        assert_true(elsewhere->read(at[slot], &number, sizeof number));
        assert_int_equal(number, slot + 5);
    }
}

#define CAUGHT_PAGES 3u

/* The stack from the copy's last bytes on, as it was at the sample. */
static struct caught *caught_rest(void)
{
    static struct caught caught;
    uint64_t first = STACK + COPIED - CAUGHT_COPY_BYTES;
    caught = (struct caught){.count = CAUGHT_PAGES * PAGE / CAUGHT_BLOCK_BYTES};
    for (uint64_t i = 0; i < caught.count; i++)
        caught.address[i] = first + i * CAUGHT_BLOCK_BYTES;
    memcpy(&caught.address[caught.count], live_at(first), CAUGHT_PAGES * PAGE);
    return &caught;
}

static void sample_with_caught(struct caught *caught)
{
    memory_begin_sample(&memory, &pages);
    memory_set_elsewhere(&memory, STACK, foreign_memory(copied, COPIED, caught));
}

/* The whole stack is another one by now. What was not caught is not read. */
TEST(rest_that_was_read_at_the_sample)
{
    uint64_t value, place = STACK + COPIED + 24, beyond = STACK + COPIED + (CAUGHT_PAGES - 1) * PAGE;
    uint64_t then = word_at(live_at(place));
    struct caught *caught = caught_rest();
    memset(live, 0xee, sizeof live);
    sample_with_caught(caught);
    assert_true(memory_load(&memory, place, &value));
    assert_int_equal(value, then);
    assert_int_equal(foreign_memory_rest(), REST_CAUGHT);
    assert_false(memory_load(&memory, beyond, &value));
    assert_int_equal(foreign_memory_rest(), REST_CHANGED);
    assert_true(memory_load(&memory, place + PAGE / 2, &value));
}

/* The thread has run on before its rest was read. */
TEST(rest_of_another_stack)
{
    uint64_t value, place = STACK + COPIED + 24;
    *live_at(STACK + COPIED - 8) ^= 1;
    *live_at(place) ^= 1;
    struct caught *caught = caught_rest();
    sample_with_caught(caught);
    assert_false(memory_load(&memory, place, &value));
    *live_at(STACK + COPIED - 8) ^= 1;
    *live_at(place) ^= 1;
    sample_with_caught(caught);
    assert_true(memory_load(&memory, place, &value)); /* what is there now */
    assert_int_equal(foreign_memory_rest(), REST_READ);
    assert_int_equal(value, word_at(live_at(place)));
}

TEST(process_that_is_gone)
{
    uint64_t value;
    is_readable = false;
    assert_false(memory_load(&memory, STACK + COPIED, &value));
    assert_true(memory_load(&memory, STACK + COPIED - 8, &value));
}

/* Addresses are never those of this process, also if its faults would be caught. */
TEST(own_memory_is_not_read)
{
    uint64_t here = 42, value;
    struct sigaction now;
    sigaction(SIGSEGV, NULL, &now);
    memory.fault_handler = (void *)(uintptr_t)now.sa_sigaction;
    assert_false(memory_load(&memory, (uint64_t)(uintptr_t)&here, &value));
}

/* hpcrun/logical/with-blocks.c: locks that a thread of CPython has by `with`. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/logical/with-blocks.h"

#include <string.h>

#define CODE_TYPE    0x1000u
#define BOUND_METHOD 0x2000u
#define LOCK_TYPE    0x3000u
#define OTHER_TYPE   0x4000u

/* Words before the values of a frame's stack. */
enum { LOCALS = 2 };

struct object {
    uint64_t references, type, fields[2];
};

struct code {
    struct object header;
    uint64_t exceptions; /* a table */
    uint32_t first_line, locals;
    uint64_t instructions[100];
};

struct frame {
    uint64_t code, previous, instruction, values[LOCALS + 64];
};

struct table {
    uint64_t size;
    _Alignas(8) uint8_t bytes[2000];
};

static struct object lock = {.type = LOCK_TYPE}, method = {.type = OTHER_TYPE, .fields = {LOCK_TYPE}},
                     other = {.type = OTHER_TYPE}, bound = {.type = BOUND_METHOD, .fields = {0, (uint64_t)&lock}};
static struct code code;
static struct table table;
static struct frame frame, outer;
static uint64_t thread[2];
static struct memory memory;
static struct agent_frames frames;
static struct with_blocks blocks;

bool memory_load_guarded(struct memory *its, uint64_t address, uint64_t *value)
{
    assert_ptr_equal(its, &memory);
    assert_int_equal(address % sizeof *value, 0);
    if (address < 0x10000)
        return false;
    memcpy(value, (const void *)address, sizeof *value);
    return true;
}

static struct frame frame_at(uint32_t instruction, const struct frame *previous)
{
    return (struct frame){.code = (uint64_t)&code | 1, /* a tagged reference */
                          .previous = (uint64_t)previous,
                          .instruction = (uint64_t)code.instructions + 2 * instruction};
}

static void put(const uint8_t *bytes, size_t size)
{
    memcpy(table.bytes, bytes, size);
    table.size = size;
}

/* In instructions 70 to 99, 8 values are on the stack: all but the first two are 0. In 100 to 109 the first two. */
static int begin(void **state)
{
    static const uint8_t entries[] = {0x80 | 0x41, 6, 30, 40, 16, 0x80 | 0x41, 36, 10, 40, 4};
    frames = (struct agent_frames){
        .code_type = CODE_TYPE,
        .bound_method = BOUND_METHOD,
        .newest = 8,
        .previous = offsetof(struct frame, previous),
        .code = offsetof(struct frame, code),
        .instruction = offsetof(struct frame, instruction),
        .locals = offsetof(struct frame, values),
        .code_start = offsetof(struct code, instructions),
        .code_locals = offsetof(struct code, locals),
        .code_exceptions = offsetof(struct code, exceptions),
        .bytes_start = offsetof(struct table, bytes),
        .object_type = offsetof(struct object, type),
        .object_size = offsetof(struct object, fields),
    };
    code = (struct code){.header.type = CODE_TYPE, .exceptions = (uint64_t)&table, .locals = LOCALS};
    put(entries, sizeof entries);
    frame = frame_at(105, NULL);
    frame.values[LOCALS] = (uint64_t)&method;
    frame.values[LOCALS + 1] = (uint64_t)&lock;
    thread[1] = (uint64_t)&frame;
    return 0;
}

static uint32_t found(void)
{
    with_blocks_find(&memory, &frames, (uint64_t)thread, &blocks);
    for (uint32_t i = 0; i < blocks.count; i++)
        assert_int_equal(blocks.locks[i], (uint64_t)lock.fields);
    return blocks.count;
}

/* What was pushed once may still lie there. */
TEST(a_lock_is_held_in_the_block_only)
{
    static const struct {
        uint32_t instruction, count;
    } cases[] = {{0, 0}, {69, 0}, {70, 1}, {99, 1}, {100, 1}, {109, 1}, {110, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        frame.instruction = (uint64_t)code.instructions + 2 * cases[i].instruction;
        assert_int_equal(found(), cases[i].count);
    }
}

/* The method is that of the object's type: a saved variable, or what a loop goes over, is no lock. */
TEST(values_that_are_no_block)
{
    frame.values[LOCALS] = (uint64_t)&other;
    assert_int_equal(found(), 0);
    frame.values[LOCALS] = 0;
    assert_int_equal(found(), 0);
    frame.values[LOCALS] = (uint64_t)&method;
    frame.values[LOCALS + 1] = (uint64_t)&other;
    assert_int_equal(found(), 0);
    frame.values[LOCALS + 1] = (uint64_t)&lock | 1;
    assert_int_equal(found(), 1);
    frame.values[LOCALS - 1] = (uint64_t)&method; /* a local variable */
    frame.values[LOCALS] = (uint64_t)&lock;
    frame.values[LOCALS + 1] = 0;
    assert_int_equal(found(), 0);
}

TEST(bound_methods)
{
    frames.has_bound_exits = true;
    assert_int_equal(found(), 0);
    frame.values[LOCALS + 1] = (uint64_t)&bound;
    assert_int_equal(found(), 1);
    frames.has_bound_exits = false;
    assert_int_equal(found(), 0);
}

TEST(an_object_that_is_no_method_has_no_lock)
{
    static const struct object iterator = {.type = OTHER_TYPE, .fields = {0, (uint64_t)&lock}};
    frames.has_bound_exits = true;
    frame.values[LOCALS + 1] = (uint64_t)&iterator;
    assert_int_equal(found(), 0);
}

TEST(each_frame_of_the_thread)
{
    outer = frame;
    frame = frame_at(0, &outer);
    assert_int_equal(found(), 1);
    frame = frame_at(105, &outer);
    frame.values[LOCALS] = (uint64_t)&method;
    frame.values[LOCALS + 1] = (uint64_t)&lock;
    assert_int_equal(found(), 2);
    frame.code = (uint64_t)&other; /* no code */
    assert_int_equal(found(), 1);
    outer.previous = (uint64_t)&outer;
    assert_int_equal(found(), MOST_WITH_BLOCKS);
    code.header.type = OTHER_TYPE;
    assert_int_equal(found(), 0);
}

TEST(there_is_room_for_some_blocks)
{
    static const uint8_t entry[] = {0x80 | 0x41, 36, 10, 40, 2 * 31};
    put(entry, sizeof entry);
    for (int i = 0; i < 30; i++)
        frame.values[LOCALS + i] = i % 2 ? (uint64_t)&lock : (uint64_t)&method;
    assert_int_equal(found(), 15);
    outer = frame;
    frame.previous = (uint64_t)&outer;
    assert_int_equal(found(), MOST_WITH_BLOCKS);
}

/* Freed memory, and what can't be read. */
TEST(damaged_tables)
{
    code.exceptions = 0x100;
    assert_int_equal(found(), 0);
    code.exceptions = (uint64_t)&table;
    table.size = 0;
    assert_int_equal(found(), 0);
    table.size = 1025;
    assert_int_equal(found(), 0);
    memset(table.bytes, 0xff, table.size = 1024);
    assert_int_equal(found(), 0);
    memset(table.bytes, 0x80, table.size = 1024);
    assert_int_equal(found(), 0);
    thread[1] = 0x1001;
    assert_int_equal(found(), 0);
}

EACH_TEST(begin, NULL);

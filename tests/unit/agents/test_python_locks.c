/* agents/python/python-locks.h: locks that a thread has, read from memory that a test has built. */
#include "tests/unit/cmocka_suite.h"

#include "agents/python/python-locks.h"

enum { CODE_TYPE = 0x1000, BOUND_METHOD = 0x2000, LOCK_TYPE = 0x3000, OTHER_TYPE = 0x4000 };
enum { LOCALS = 2 }; /* words before the values of a frame's stack */
enum { MOST_BLOCKS = 16 };

struct object {
    uint64_t references, type, fields[3];
};

struct code {
    uint64_t references, type, units, exceptions; /* a table */
    uint32_t pad[5], first_line, locals;
    uint64_t instructions[100], copies;
};

struct frame {
    uint64_t code, previous, instruction, owner, copy, values[LOCALS + 64];
};

struct table {
    uint64_t size;
    _Alignas(8) uint8_t bytes[2000];
};

struct thread {
    uint64_t newest, id, sections;
    int tid;
};

static struct object lock = {.type = LOCK_TYPE}, method = {.type = OTHER_TYPE, .fields = {LOCK_TYPE}},
                     other = {.type = OTHER_TYPE}, bound = {.type = BOUND_METHOD, .fields = {0, (uint64_t)&lock}};
static struct code code;
static struct table table;
static struct frame frame, outer;
static struct thread thread;
static struct python_layout layout;
static unsigned reads;

static bool read_memory(const struct agent_cursor *cursor, uint64_t address, void *to, size_t size)
{
    reads++;
    if (address < 0x10000)
        return false;
    assert_int_equal(address % sizeof(uint32_t), 0);
    memcpy(to, (const void *)address, size);
    return true;
}

static const struct agent_host host = {.read = read_memory};
static const struct agent_cursor cursor = {.tid = 7};
static const struct python_reader reader = {&host, &cursor, &layout};

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
    layout = (struct python_layout){
        .minor = 14,
        .code_type = CODE_TYPE,
        .bound_method = BOUND_METHOD,
        .thread_frame = offsetof(struct thread, newest),
        .thread_id = offsetof(struct thread, id),
        .thread_tid = offsetof(struct thread, tid),
        .frame_previous = offsetof(struct frame, previous),
        .frame_code = offsetof(struct frame, code),
        .frame_instruction = offsetof(struct frame, instruction),
        .frame_owner = offsetof(struct frame, owner),
        .frame_locals = offsetof(struct frame, values),
        .code_start = offsetof(struct code, instructions),
        .code_first_line = offsetof(struct code, first_line),
        .bytes_start = offsetof(struct table, bytes),
        .object_type = offsetof(struct object, type),
    };
    code = (struct code){.type = CODE_TYPE, .exceptions = (uint64_t)&table, .locals = LOCALS};
    put(entries, sizeof entries);
    frame = frame_at(105, NULL);
    frame.values[LOCALS] = (uint64_t)&method;
    frame.values[LOCALS + 1] = (uint64_t)&lock;
    thread = (struct thread){.newest = (uint64_t)&frame, .id = 0x7f0010, .tid = cursor.tid};
    return 0;
}

static uint32_t found(void)
{
    struct python_blocks blocks = {.count = 1, .locks = {1}}; /* of another sample */
    bool has = python_has_lock(&reader, (uint64_t)&thread, (uint64_t)lock.fields, &blocks);
    assert_int_equal(has, blocks.count > 0);
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

/* A thread of a build without a GIL executes a copy of the code. */
TEST(a_block_in_a_copy_of_the_code)
{
    uint64_t instructions[200], copies[] = {2, 0, (uint64_t)instructions};
    layout.frame_copy = offsetof(struct frame, copy);
    layout.code_copies = offsetof(struct code, copies);
    code.units = sizeof instructions / 2;
    code.copies = (uint64_t)copies;
    frame.copy = 1;
    frame.instruction = (uint64_t)instructions + 210;
    assert_int_equal(found(), 1);
    frame.instruction += 10;
    assert_int_equal(found(), 0);
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
    layout.minor = 13;
    assert_int_equal(found(), 0);
    frame.values[LOCALS + 1] = (uint64_t)&bound;
    assert_int_equal(found(), 1);
    layout.minor = 14;
    assert_int_equal(found(), 0);
}

TEST(an_object_that_is_no_method_has_no_lock)
{
    static const struct object iterator = {.type = OTHER_TYPE, .fields = {0, (uint64_t)&lock}};
    layout.minor = 13;
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
    outer.previous = (uint64_t)&frame;
    assert_int_equal(found(), MOST_BLOCKS);
    outer.previous = (uint64_t)&outer;
    assert_int_equal(found(), 1);
    code.type = OTHER_TYPE;
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
    assert_int_equal(found(), MOST_BLOCKS);
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
    thread.newest = 0x1001;
    assert_int_equal(found(), 0);
}

/* The blocks are looked for once a sample. */
TEST(blocks_of_with_are_looked_for_once)
{
    struct python_blocks blocks = {0};
    for (int i = 0; i < 3; i++) {
        assert_true(python_has_lock(&reader, (uint64_t)&thread, (uint64_t)lock.fields, &blocks));
        if (i == 0)
            reads = 0;
    }
    assert_int_equal(reads, 2 * 3); /* of the tid, the object's type, and that one's size */
}

/* The thread's state is freed, and its memory is another one's by now. */
TEST(another_threads_locks)
{
    assert_int_equal(found(), 1);
    thread.tid++;
    struct python_blocks blocks = {0};
    assert_false(python_has_lock(&reader, (uint64_t)&thread, (uint64_t)lock.fields, &blocks));
}

/* A section of code, and the locks of objects that it has. */
struct section {
    uint64_t around;
    const void *locks[2];
};

enum { IS_LEFT = 1, HAS_TWO = 2 };

static bool has(const void *of)
{
    struct python_blocks blocks = {0};
    return python_has_lock(&reader, (uint64_t)&thread, (uint64_t)of, &blocks);
}

TEST(a_thread_has_the_locks_of_the_sections_that_it_is_in)
{
    static const struct object objects[4];
    const uint64_t *locks[] = {objects[0].fields, objects[1].fields, objects[2].fields, objects[3].fields};
    struct section outer_section = {0, {locks[0]}}, inner = {(uint64_t)&outer_section, {locks[1], locks[2]}};
    thread.sections = (uint64_t)&inner | HAS_TWO;
    assert_false(has(locks[0]));
    layout.thread_sections = offsetof(struct thread, sections);
    for (int i = 0; i < 4; i++)
        assert_int_equal(has(locks[i]), i < 3);
    thread.sections = (uint64_t)&inner;
    assert_false(has(locks[2]));
    inner.around |= IS_LEFT;
    assert_false(has(locks[0]));
    assert_true(has(locks[1]));
    thread.sections |= IS_LEFT;
    assert_false(has(locks[1]));
    inner.around = thread.sections = (uint64_t)&inner; /* not a list */
    assert_false(has(locks[3]));
}

/* The thread has it by its own word; an object of another size has no such word. */
TEST(a_lock_that_says_who_has_it)
{
    enum { HEADER = 16, RECURSIVE_SIZE = 40 };
    uint64_t type[] = {0, 0, 0, 0, RECURSIVE_SIZE};
    struct object recursive = {0, (uint64_t)type, {1, thread.id, 1}};
    assert_true(has(recursive.fields));
    recursive.fields[1]++;
    assert_false(has(recursive.fields));
    recursive.fields[1]--;
    type[4] = RECURSIVE_SIZE - HEADER;
    assert_false(has(recursive.fields));
    type[4] = RECURSIVE_SIZE;
    layout.minor = 13;
    assert_false(has(recursive.fields));
}

EACH_TEST(begin, NULL);

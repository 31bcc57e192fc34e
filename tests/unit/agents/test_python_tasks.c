/* agents/python/python-tasks.h: what waits for a task in 3.14, with and without a GIL, read from memory that a
 * test has built. */
#include "tests/unit/cmocka_suite.h"

#include "agents/python/python-tasks.h"

enum { WORDS = 24, SIZE = WORDS * 8 };

/* Objects with room for the header of builds without a GIL. */
static uint64_t thread[4], coroutine[WORDS], task[WORDS], future[WORDS], waiting[WORDS], set[WORDS];
static uint64_t table[8]; /* of the set: 4 pairs of object and hash */

static struct python_layout layout = {.thread_task = 16, .types = {.coroutine = 0x1000}};

enum { COROUTINE = 0x1000, TASK = 0x2000, FUTURE = 0x3000, SET = 0x4000, REMOVED = 0x5000 };

static bool read_memory(const struct agent_cursor *cursor, uint64_t address, void *to, size_t size)
{
    if (address < 0x10000)
        return false;
    memcpy(to, (const void *)(uintptr_t)address, size);
    return true;
}

static const struct agent_host host = {.read = read_memory};
static const struct agent_cursor cursor;
static const struct python_reader reader = {&host, &cursor, &layout};

static uint64_t address(const void *of)
{
    return (uint64_t)(uintptr_t)of;
}

/* A word of an object, by its offset in builds with a GIL. */
static void set_word(uint64_t *object, uint32_t offset, uint64_t value)
{
    object[(layout.object_more + offset) / 8] = value;
}

static void begin_build(uint32_t more)
{
    static const struct {
        uint64_t *object, type;
    } all[] = {{coroutine, COROUTINE}, {task, TASK}, {future, FUTURE}, {waiting, TASK}, {set, SET}};
    layout.object_more = more;
    layout.object_type = 8 + more;
    layout.task_coroutine = 128 + more;
    layout.generator_frame = 72 + more;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        memset(all[i].object, 0, SIZE);
        set_word(all[i].object, 8, all[i].type);
    }
    memset(table, 0, sizeof table);
}

static void check_build(void)
{
    assert_int_equal(python_waiting_task(&reader, address(task)), 0);
    set_word(task, 96, address(waiting));
    assert_int_equal(python_waiting_task(&reader, address(task)), address(waiting));
    set_word(task, 96, address(future)); /* as in gather, without a task in between */
    assert_int_equal(python_waiting_task(&reader, address(task)), 0);
    set_word(future, 96, address(waiting));
    assert_int_equal(python_waiting_task(&reader, address(task)), address(waiting));
    uint64_t removed[4] = {0};
    removed[layout.object_type / 8] = REMOVED;
    table[2] = address(removed);
    table[6] = address(waiting);
    set_word(set, 32, 3);
    set_word(set, 40, address(table));
    set_word(task, 96, address(set));
    set_word(task, 104, (uint64_t)1 << 40 | (uint64_t)1 << 32);
    assert_int_equal(python_waiting_task(&reader, address(task)), address(waiting));
    set_word(set, 32, 1); /* a smaller table, without it */
    assert_int_equal(python_waiting_task(&reader, address(task)), 0);
}

TEST(waiting_tasks)
{
    begin_build(0);
    check_build();
}

TEST(waiting_tasks_without_a_gil)
{
    begin_build(16);
    check_build();
}

TEST(the_task_of_a_thread)
{
    begin_build(0);
    uint64_t frame = address(coroutine) + layout.generator_frame;
    assert_int_equal(python_task(&reader, address(thread), frame), 0);
    thread[2] = address(task);
    assert_int_equal(python_task(&reader, address(thread), frame), 0);
    set_word(task, 128, address(coroutine));
    assert_int_equal(python_task(&reader, address(thread), frame), address(task));
}

/* agents/python: frames of Python code, read from memory. */
#include "tests/unit/agents/made_python.h"

static void check_frames(const struct python_activation *activation, const uint64_t *expected,
                         unsigned count)
{
    uint64_t at = activation->newest;
    for (unsigned i = 0; i < count; i++) {
        struct python_frame its = python_frame_next(&reader, &at);
        assert_int_equal(its.code, address(&code));
        assert_int_equal(its.position, expected[i]);
        assert_int_equal(its.is_last, layout.minor == 11 && i + 1 == count);
    }
    if (layout.minor > 11) {
        assert_true(python_frame_is_end(&reader, at));
        struct python_frame end = python_frame_next(&reader, &at);
        assert_true(end.is_last && !end.code);
    }
}

static void check_activations(uint64_t first_mark, uint64_t second_mark)
{
    uint64_t known = 0;
    struct python_activation at = python_newest(&reader, &known);
    assert_int_equal(known, address(&thread));
    assert_int_equal(at.mark, first_mark);
    check_frames(&at, (const uint64_t[]){5, 9}, 2);
    at = python_activation_around(&reader, &at);
    assert_int_equal(at.mark, second_mark);
    check_frames(&at, (const uint64_t[]){2}, 1);
    at = python_activation_around(&reader, &at);
    assert_int_equal(at.mark, 0);
    uint32_t misses = 0;
    at = python_activation_in(&reader, second_mark, second_mark + 1, &misses);
    assert_int_equal(at.newest, address(&frame[3]));
    assert_int_equal(misses, 0);
    at = python_activation_in(&reader, second_mark + 1, second_mark + 2, &misses);
    assert_int_equal(at.mark, 0);
    assert_int_equal(misses, 1);
}

TEST(activations_of_3_11)
{
    begin_3_11();
    check_activations(address(&cframe[0]), address(&cframe[1]));
}

TEST(activations_of_3_13)
{
    begin_3_13();
    check_activations(address(&frame[2]), address(&frame[4]));
}

TEST(activations_of_3_12)
{
    begin_3_11();
    begin_3_13();
    layout.minor = 12;
    thread.frame = &cframe[0];
    check_activations(address(&cframe[0]), address(&cframe[1]));
}

/* As on a stack with a hundred frames of greenlets. */
TEST(searches_without_a_result_end)
{
    begin_3_13();
    uint32_t misses = 0;
    reads = 0;
    python_activation_in(&reader, 1, 2, &misses);
    unsigned for_one = reads;
    for (int i = 1; i < 100; i++)
        assert_int_equal(python_activation_in(&reader, 1, 2, &misses).mark, 0);
    assert_true(for_one > 0);
    assert_in_range(reads, 2 * for_one, 10 * for_one);
}

/* The newest frame is then the variable itself. */
TEST(an_activation_that_ends_has_no_frames)
{
    begin_3_13();
    thread.frame = &frame[2];
    uint64_t known = 0;
    struct python_activation at = python_newest(&reader, &known);
    assert_true(python_frame_is_end(&reader, at.newest));
}

TEST(a_thread_state_that_is_gone_is_looked_for)
{
    begin_3_13();
    struct thread_state freed = {.id = thread.id};
    uint64_t known = address(&freed);
    assert_int_equal(python_newest(&reader, &known).newest, address(&frame[0]));
    assert_int_equal(known, address(&thread));
    thread.id = 2;
    assert_int_equal(python_newest(&reader, &known).mark, 0);
    assert_int_equal(known, 0);
}

/* As without a GIL from 3.14 on; references have tags. */
TEST(a_frame_may_execute_a_copy_of_the_code)
{
    uint16_t second[64];
    struct copies copies = {2, {code.instruction, second}};
    begin_3_13();
    code.size = 64;
    code.more[0] = address(&copies);
    layout.code_copies = offsetof(struct code, more);
    layout.frame_copy = offsetof(struct frame, copy);
    frame[0].code = (struct code *)(address(&code) + 1);
    frame[0].instruction = &second[7];
    frame[0].copy = 1;
    frame[1].copy = 0;
    uint64_t at = address(&frame[0]);
    struct python_frame its = python_frame_next(&reader, &at);
    assert_int_equal(its.code, address(&code));
    assert_int_equal(its.position, 7);
    assert_int_equal(python_frame_next(&reader, &at).position, 9);
    frame[0].instruction = &code.instruction[8]; /* it is about to go on in the copy */
    at = address(&frame[0]);
    assert_int_equal(python_frame_next(&reader, &at).position, 8);
    layout.frame_copy = 0;
}

TEST(what_cannot_be_read_is_the_last_frame)
{
    uint64_t at = 8;
    assert_true(python_frame_next(&reader, &at).is_last);
}

TEST(an_interpreter_may_have_a_lock_of_its_own)
{
    static struct {
        uint64_t pad, holder;
    } lock, own;
    static struct {
        void *lock;
    } interpreter_state;
    static struct {
        void *interpreter;
    } its = {&interpreter_state};
    assert_false(python_has_other_lock(&reader, address(&its))); /* 3.11 */
    layout.thread_interpreter = layout.interpreter_lock = 0;
    layout.gil_in_state = 8;
    layout.gil_holder = address(&lock.holder);
    interpreter_state.lock = &lock;
    assert_false(python_has_other_lock(&reader, address(&its)));
    interpreter_state.lock = &own;
    assert_true(python_has_other_lock(&reader, address(&its)));
    interpreter_state.lock = NULL;
    assert_false(python_has_other_lock(&reader, address(&its)));
    layout.gil_in_state = 0;
}

EACH_TEST(begin, NULL);

/* The inputs of an agent's answer: it is reused if all of them are the same, and only then. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/logical/answer-cache.h"

static struct answer_cache answers;
static struct unwinder u;
static uint64_t memory[3 * MAX_PATH_READS];
static bool has_no_pages;

/* ---- stubs for answer-cache.c ---- */

void *sys_pages(size_t size)
{
    return has_no_pages ? NULL : calloc(1, size);
}

void sys_pages_free(void *block, size_t size)
{
    free(block);
}

/* All memory but `memory` can't be read. */
bool memory_load_guarded(struct memory *its, uint64_t address, uint64_t *value)
{
    return false;
}

/* ---- a cache ---- */

STEP(begin)
{
    memset(&u, 0, sizeof u);
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        memory[i] = 0x1122334455667788u * (i + 1);
    memory_set_own_stack(&u.memory, (uint64_t)memory, (uint64_t)memory + sizeof memory);
    u.depth = u.reused = 5;
    has_no_pages = false;
}

STEP(end)
{
    answer_cache_free(&answers);
}

static bool is_valid(enum agent_question question)
{
    return answer_is_valid(&answers, question, &u);
}

static uint64_t place(size_t word)
{
    return (uint64_t)&memory[word];
}

static void add_word(size_t word)
{
    answer_add_read(&answers, place(word), 8, memory[word]);
}

/* ---- the tests ---- */

TEST(an_answer_without_inputs_stays)
{
    assert_false(is_valid(QUESTION_STATUS));
    answer_begin(&answers, QUESTION_STATUS);
    assert_true(is_valid(QUESTION_STATUS));
    assert_false(is_valid(QUESTION_COUNTS) || is_valid(QUESTION_PATH));
    answer_invalidate(&answers);
    assert_false(is_valid(QUESTION_STATUS));
}

/* Each bit of what was read counts, and no other. */
TEST(a_read_depends_on_its_bytes_only)
{
    uint8_t *bytes = (uint8_t *)memory;
    for (size_t size = 1; size <= 8; size++)
        for (size_t offset = 0; offset + size <= 8; offset++) {
            uint64_t value = 0;
            memcpy(&value, bytes + 16 + offset, size);
            answer_begin(&answers, QUESTION_STATUS);
            answer_add_read(&answers, place(2) + offset, size, value);
            for (size_t bit = 0; bit < 3 * 64; bit++) {
                size_t at = 8 + bit / 8;
                bool is_its = at >= 16 + offset && at < 16 + offset + size;
                bytes[at] ^= (uint8_t)(1 << bit % 8);
                assert_int_equal(is_valid(QUESTION_STATUS), !is_its);
                bytes[at] ^= (uint8_t)(1 << bit % 8);
            }
            assert_true(is_valid(QUESTION_STATUS));
        }
}

TEST(memory_that_is_gone_is_a_change)
{
    answer_begin(&answers, QUESTION_COUNTS);
    add_word(1);
    answer_add_read(&answers, 4096, 8, 0);
    assert_false(is_valid(QUESTION_COUNTS));
}

/* With as many reads as there is room for, each of another word: a question's answer depends on its
 * own reads only. With one read more it can't be reused. */
TEST(each_question_has_its_own_reads)
{
    static const size_t limit[] = {MAX_STATUS_READS, MAX_COUNTS_READS, MAX_PATH_READS};
    for (enum agent_question question = 0; question < QUESTIONS; question++) {
        answer_begin(&answers, question);
        for (size_t i = 0; i < limit[question]; i++)
            add_word(question * MAX_PATH_READS + i);
    }
    for (enum agent_question question = 0; question < QUESTIONS; question++)
        for (size_t i = 0; i < MAX_PATH_READS; i++) {
            memory[question * MAX_PATH_READS + i]++;
            for (enum agent_question other = 0; other < QUESTIONS; other++)
                assert_int_equal(is_valid(other), other != question || i >= limit[question]);
            memory[question * MAX_PATH_READS + i]--;
        }
    for (enum agent_question question = 0; question < QUESTIONS; question++) {
        answer_begin(&answers, question);
        for (size_t i = 0; i <= limit[question]; i++)
            add_word(i);
        assert_false(is_valid(question));
    }
}

TEST(it_depends_on_the_frames_that_it_saw)
{
    answer_begin(&answers, QUESTION_PATH);
    answer_add_frame(&answers, 3);
    answer_add_frame(&answers, 1);
    for (u.reused = 0; u.reused <= 5; u.reused++)
        assert_int_equal(is_valid(QUESTION_PATH), u.reused >= 4);
    u.reused = 4;
    u.depth = 9;
    assert_true(is_valid(QUESTION_PATH));
}

TEST(it_may_depend_on_the_depth)
{
    answer_begin(&answers, QUESTION_PATH);
    answer_add_depth(&answers, 5);
    for (u.depth = 0; u.depth < 9; u.depth++)
        assert_int_equal(is_valid(QUESTION_PATH), u.depth == 5);
    answer_begin(&answers, QUESTION_PATH);
    answer_add_depth(&answers, 0); /* which stands for "any depth" */
    assert_false(is_valid(QUESTION_PATH));
}

TEST(a_new_answer_forgets_the_old_ones_inputs)
{
    answer_begin(&answers, QUESTION_PATH);
    answer_add_frame(&answers, 4);
    answer_add_depth(&answers, 7);
    add_word(0);
    memory[0]++;
    answer_begin(&answers, QUESTION_PATH);
    add_word(1);
    u.reused = 0;
    assert_true(is_valid(QUESTION_PATH));
    memory[1]++;
    assert_false(is_valid(QUESTION_PATH));
}

TEST(all_are_discarded_at_once)
{
    for (enum agent_question question = 0; question < QUESTIONS; question++)
        answer_begin(&answers, question);
    answer_cache_clear(&answers);
    for (enum agent_question question = 0; question < QUESTIONS; question++)
        assert_false(is_valid(question));
}

TEST(without_memory_nothing_is_reused)
{
    has_no_pages = true;
    answer_begin(&answers, QUESTION_STATUS);
    add_word(0);
    assert_false(is_valid(QUESTION_STATUS));
}

EACH_TEST(begin, end);

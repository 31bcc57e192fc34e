/* hpcrun/tree/saved-path.h: a path is entered into another tree as it was. In another process, a
 * thread's index means nothing. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/code/module-instances.h"
#include "hpcrun/tree/saved-path.h"

#define NATIVE   0x1000u
#define REPLACED 0x2000u

static struct cct from, to;
static struct lnotes from_lnotes, to_lnotes;

STEP(begin)
{
    cct_init(&from, 1);
    cct_init(&to, 1);
}

STEP(end)
{
    cct_free(&from);
    cct_free(&to);
    lnotes_free(&from_lnotes);
    lnotes_free(&to_lnotes);
}

/* Saves the path native code, replaced code, this l-note, and enters it into the other tree; returns
 * the innermost node there. */
static const struct cct_node *move(uint64_t lnote, bool is_another_process)
{
    static struct saved_path path;
    const struct cct_note native = {.ip = NATIVE, .first = true};
    const struct cct_note replaced = {.ip = REPLACED,
                                      .lip = lnotes_lip(&from_lnotes, (struct lnote){lnote, 0}),
                                      .association = ASSOC_1_M,
                                      .first = true};
    uint32_t outer = cct_child(&from, CCT_ROOT, &native);
    saved_path_copy(&path, NULL, &from, &from_lnotes, cct_child(&from, outer, &replaced));
    if (is_another_process)
        saved_path_forget_threads(&path);
    const struct cct_node *inner = cct_node(&to, saved_path_insert(&path, &to, &to_lnotes));
    assert_int_equal(inner->ip, REPLACED);
    assert_int_equal(inner->association, ASSOC_1_M);
    assert_int_equal(cct_node(&to, inner->parent)->ip, NATIVE);
    assert_int_equal(cct_node(&to, inner->parent)->lip, LIP_IS_IP);
    return inner;
}

static void check_lnote(const struct cct_node *node, uint64_t expected)
{
    assert_in_range(node->lip, LIP_OWN, UINT32_MAX);
    assert_int_equal(lnotes_get(&to_lnotes, node->lip)->value, expected);
}

TEST(a_path_is_entered_as_it_was)
{
    uint64_t thread = ip_placeholder(PLACEHOLDER_STACK_OF + 3);
    check_lnote(move(NATIVE, false), NATIVE);
    check_lnote(move(thread, false), thread);
}

TEST(threads_are_not_named_in_another_process)
{
    check_lnote(move(NATIVE, true), NATIVE);
    assert_int_equal(move(ip_placeholder(PLACEHOLDER_STACK_OF), true)->lip, LIP_NONE);
    assert_int_equal(move(ip_placeholder(PLACEHOLDER_STACK_OF + 3), true)->lip, LIP_NONE);
}

/* Notes of a path of this length in the tree `from`. */
static uint32_t path_of(uint32_t length)
{
    uint32_t node = CCT_ROOT;
    for (uint32_t i = 0; i < length; i++)
        node = cct_child(&from, node, &(struct cct_note){.ip = NATIVE + i, .first = true});
    return node;
}

/* The path around is left out if there is no room for both; a path without room is none. */
TEST(a_path_is_bounded)
{
    static struct saved_path around, path;
    const uint32_t half = SAVED_PATH_NOTES / 2;
    const struct {
        uint32_t around, length, kept;
    } rows[] = {{half, half, SAVED_PATH_NOTES},
                {half, half + 1, half + 1},
                {0, SAVED_PATH_NOTES, SAVED_PATH_NOTES},
                {0, SAVED_PATH_NOTES + 1, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        saved_path_copy(&around, NULL, &from, &from_lnotes, path_of(rows[i].around));
        saved_path_copy(&path, &around, &from, &from_lnotes, path_of(rows[i].length));
        assert_int_equal(path.count, rows[i].kept);
        if (path.count > 0)
            assert_int_equal(path.at[path.count - 1].note.ip, NATIVE + rows[i].length - 1);
    }
}

EACH_TEST(begin, end);

#include "tests/unit/cmocka_suite.h"

#include "hpcprof/tree/context-tree.h"
#include "tests/unit/random_numbers.h"

TEST(a_child_is_found_again)
{
    struct context_tree tree;
    context_tree_start(&tree);
    uint32_t entry = context_tree_child(&tree, CONTEXT_ROOT, CONTEXT_ENTRY, 1, 0);
    uint32_t call = context_tree_child(&tree, entry, CONTEXT_CALL, 7, 0);
    assert_int_equal(tree.contexts.n, 3);
    assert_int_equal(context_tree_child(&tree, entry, CONTEXT_CALL, 7, 0), call);
    const uint32_t others[] = {
        context_tree_child(&tree, CONTEXT_ROOT, CONTEXT_CALL, 7, 0),
        context_tree_child(&tree, entry, CONTEXT_INLINED, 7, 0),
        context_tree_child(&tree, entry, CONTEXT_CALL, 8, 0),
        context_tree_child(&tree, entry, CONTEXT_LINE, 7, 0),
        context_tree_child(&tree, entry, CONTEXT_LINE, 7, 1),
        context_tree_child(&tree, entry, CONTEXT_LOOP, 7, 1),
        context_tree_child(&tree, entry, CONTEXT_LOOP_AT, 7, 1),
        context_tree_child(&tree, entry, CONTEXT_LOOP_AT, 7, UINT64_MAX),
        context_tree_child(&tree, call, CONTEXT_CALL, 7, 0),
    };
    for (uint32_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(others[i], 3 + i);
    context_tree_free(&tree);
}

/* Grows a random tree, with few names so that many contexts occur repeatedly. */
static void grow(struct context_tree *tree, uint64_t seed, unsigned count)
{
    random_state = seed;
    for (unsigned i = 0; i < count; i++) {
        uint32_t parent = CONTEXT_ROOT;
        for (uint32_t depth = random_below(9); depth > 0; depth--)
            parent = context_tree_child(tree, parent, CONTEXT_CALL + random_below(3),
                                        random_below(3), random_below(2));
    }
}

static bool has_same_path(const struct context_tree *a, uint32_t i, const struct context_tree *b,
                          uint32_t k)
{
    while (i != CONTEXT_ROOT && k != CONTEXT_ROOT) {
        const struct context *x = &a->contexts.at[i], *y = &b->contexts.at[k];
        if (x->kind != y->kind || x->name != y->name || x->detail != y->detail)
            return false;
        i = x->parent;
        k = y->parent;
    }
    return i == k;
}

/* Random trees of these seeds, one after the other, become one that has each of their paths once. */
TEST(merged_trees_hold_what_each_held)
{
    struct context_tree merged, all;
    context_tree_start(&merged);
    context_tree_start(&all);
    for (uint64_t seed = 1; seed < 5; seed++) {
        struct context_tree next;
        context_tree_start(&next);
        grow(&next, seed, 4000);
        grow(&all, seed, 4000);
        uint32_t *ids = context_tree_merge(&merged, &next);
        for (uint32_t i = 0; i < next.contexts.n; i++)
            assert_true(has_same_path(&next, i, &merged, ids[i]));
        assert_int_equal(merged.contexts.n, all.contexts.n);
        free(ids);
        context_tree_free(&next);
    }
    for (uint32_t i = 1; i < merged.contexts.n; i++)
        assert_true(merged.contexts.at[i].parent < i);
    grow(&merged, 4, 4000); /* nothing is new */
    assert_int_equal(merged.contexts.n, all.contexts.n);
    context_tree_free(&merged);
    context_tree_free(&all);
}

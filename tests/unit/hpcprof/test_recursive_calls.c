#include "tests/unit/cmocka_suite.h"

#include "hpcprof/tree/recursive-calls.h"
#include "tests/unit/random_numbers.h"

#define FUNCTIONS 6
#define UNKNOWN   5 /* the function that is a placeholder */
#define DEEPEST   60

static const bool is_placeholder[FUNCTIONS] = {[UNKNOWN] = true};

static uint32_t chain(struct context_tree *tree, uint32_t parent, const char *functions)
{
    for (; *functions; functions++)
        parent = context_tree_child(tree, parent, CONTEXT_CALL, (uint32_t)(*functions - 'a'), 0);
    return parent;
}

/* The path of a context as letters: a to f for functions, A to F for inlined ones, digits for
 * lines. */
static const char *path_of(const struct context_tree *tree, uint32_t id)
{
    static char text[DEEPEST + 1];
    size_t at = DEEPEST;
    for (; id != CONTEXT_ROOT; id = tree->contexts.at[id].parent) {
        const struct context *context = &tree->contexts.at[id];
        int first = context->kind == CONTEXT_LINE ? '0' : context->kind == CONTEXT_CALL ? 'a' : 'A';
        text[--at] = (char)(first + (int)context->name);
    }
    return text + at;
}

TEST(calls_lead_back_to_the_outermost_one)
{
    static const char *const expected[][2] = {
        {"a", "a"},          {"aaaa", "a"},   {"abab", "ab"}, {"ababc", "abc"}, {"abad", "ad"},
        {"abcbcbad", "ad"},  {"abcbd", "abd"}, {"abcde", "abcde"}, {"abccba", "a"},
        {"affbff", "affbff"} /* unknown code is no recursion */,
        {"affa", "a"},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct context_tree tree;
        struct context_ids none = {0};
        context_tree_start(&tree);
        uint32_t leaf = chain(&tree, CONTEXT_ROOT, expected[i][0]);
        uint32_t *ids = collapse_recursion(&tree, is_placeholder, &none);
        assert_string_equal(path_of(&tree, ids[leaf]), expected[i][1]);
        free(ids);
        context_tree_free(&tree);
    }
}

/* The rule on the letters of a path: a function that is there already cuts off what follows it. */
static void collapse_text(const char *path, char *collapsed)
{
    size_t n = 0;
    for (; *path; path++) {
        char function = (char)(*path | 0x20);
        bool is_function = function >= 'a' && function != 'a' + UNKNOWN;
        size_t i = 0;
        while (i < n && !(is_function && (collapsed[i] | 0x20) == function && collapsed[i] > '9'))
            i++;
        if (i < n)
            n = i + 1;
        else
            collapsed[n++] = *path;
    }
    collapsed[n] = '\0';
}

static void grow(struct context_tree *tree)
{
    for (unsigned i = 0; i < 3000; i++) {
        uint32_t parent = CONTEXT_ROOT;
        for (uint32_t depth = random_below(DEEPEST / 3); depth > 0; depth--) {
            parent = context_tree_child(tree, parent, CONTEXT_LINE, random_below(3), 0);
            parent = context_tree_child(tree, parent, CONTEXT_CALL + random_below(2),
                                        random_below(FUNCTIONS), 0);
        }
    }
}

TEST(random_trees_collapse_path_by_path)
{
    for (random_state = 1; random_state < 20; random_state++) {
        uint64_t seed = random_state;
        struct context_tree before, tree;
        struct context_ids none = {0};
        context_tree_start(&before);
        grow(&before);
        context_tree_start(&tree);
        free(context_tree_merge(&tree, &before));
        uint32_t *ids = collapse_recursion(&tree, is_placeholder, &none);
        for (uint32_t i = 0; i < before.contexts.n; i++) {
            char expected[DEEPEST + 1];
            collapse_text(path_of(&before, i), expected);
            assert_string_equal(path_of(&tree, ids[i]), expected);
        }
        free(ids);
        context_tree_free(&tree);
        context_tree_free(&before);
        random_state = seed;
    }
}

static bool has_recursion(const char *path)
{
    char collapsed[DEEPEST + 1];
    collapse_text(path, collapsed);
    return strcmp(path, collapsed) != 0;
}

/* The number of contexts is known before they are collapsed. */
TEST(contexts_are_counted)
{
    static struct function functions[FUNCTIONS];
    struct measurements measurements = {0};
    struct symbol_table symbols = {.measurements = &measurements};
    symbols.functions.at = functions;
    symbols.functions.n = FUNCTIONS;
    for (char name[] = "0"; name[0] <= '9'; name[0]++)
        strtab_id(&symbols.files, name);
    for (size_t i = 0; i < FUNCTIONS; i++)
        functions[i] = (struct function){.name = is_placeholder[i] ? "<unknown>" : "f",
                                         .file = NO_SYMBOL, .module = NO_SYMBOL};
    for (random_state = 1; random_state < 5; random_state++) {
        uint64_t seed = random_state;
        struct context_tree tree;
        struct context_ids none = {0};
        context_tree_start(&tree);
        grow(&tree);
        struct numbered_contexts contexts;
        free(contexts_number(&contexts, &tree, &symbols, 1));
        size_t n = count_without_recursion(&contexts, SIZE_MAX);
        size_t outside = 0;
        for (uint32_t i = 0; i < tree.contexts.n; i++)
            outside += !has_recursion(path_of(&tree, i));
        assert_int_equal(count_without_recursion(&contexts, 0), outside);
        assert_int_equal(count_without_recursion(&contexts, outside), outside);
        assert_int_equal(count_without_recursion(&contexts, outside + 1), n);
        assert_true(n < contexts.n);
        free(collapse_recursion(&tree, is_placeholder, &none));
        assert_int_equal(n, tree.contexts.n);
        contexts_free(&contexts);
        context_tree_free(&tree);
        random_state = seed;
    }
    strtab_free(&symbols.files);
}

TEST(recursive_calls_from_unknown_sites_are_dropped)
{
    struct context_tree tree;
    struct context_ids calls = {0};
    context_tree_start(&tree);
    uint32_t b = chain(&tree, CONTEXT_ROOT, "ab"), c = chain(&tree, b, "ac");
    vec_push(&calls, b);
    vec_push(&calls, tree.contexts.at[c].parent); /* the inner call of a */
    vec_push(&calls, c);
    uint32_t *ids = collapse_recursion(&tree, is_placeholder, &calls);
    assert_int_equal(calls.n, 2);
    assert_string_equal(path_of(&tree, calls.at[0]), "ab");
    assert_string_equal(path_of(&tree, calls.at[1]), "ac");
    assert_int_equal(tree.contexts.n, 4);
    free(ids);
    vec_free(&calls);
    context_tree_free(&tree);
}

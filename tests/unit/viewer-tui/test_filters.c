/* Patterns, and the history of filters. The effect of filters is tested by test_pane.c and
 * tests/integration/test_viewer_filter.py. */
#include "tests/unit/cmocka_suite.h"

#include "viewer-tui/tree/filters.h"

TEST(patterns_are_found)
{
    const struct {
        const char *pattern, *text;
        const char *match; /* NULL for none */
    } cases[] = {{"solve", "lu_solve(int)", "solve"},
                 {"SOLVE", "lu_solve(int)", NULL},
                 {"solve", "LU_SOLVE", "SOLVE"},
                 {"s.lve$", "lu_solve", "solve"},
                 {"^solve", "lu_solve", NULL},
                 {"a|u+", "quux", "uu"},
                 {"x*", "solve", NULL}, /* nothing to be shown */
                 {"operator()", "operator()", "operator"},
                 {"f(int", "f(int)", "f(int"}, /* no regular expression */
                 {"[", "a[1]", "["},
                 {"name:main", "main", "main"},
                 {"file:main", "main.c", "main"},
                 {"", "anything", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pattern *pattern = pattern_new(cases[i].pattern);
        size_t start, end;
        bool found = pattern_find(pattern, cases[i].text, &start, &end);
        assert_int_equal(found, cases[i].match != NULL);
        if (found) {
            assert_int_equal(end - start, strlen(cases[i].match));
            assert_memory_equal(cases[i].text + start, cases[i].match, end - start);
        }
        pattern_free(pattern);
    }
}

TEST(patterns_say_what_they_are)
{
    const struct {
        const char *text;
        enum pattern_field field;
        bool is_literal, is_broken, ignores_case;
    } cases[] = {{"solve", PATTERN_SHOWN, true, false, true},
                 {"Solve", PATTERN_SHOWN, true, false, false},
                 {"so.ve", PATTERN_SHOWN, false, false, true},
                 {"so(ve", PATTERN_SHOWN, true, true, true},
                 {"name:x", PATTERN_NAME, true, false, true},
                 {"file:^/usr/", PATTERN_FILE, false, false, true},
                 {"module:libC", PATTERN_MODULE, true, false, false},
                 {"std::sort", PATTERN_SHOWN, true, false, true},
                 {"xfile:y", PATTERN_SHOWN, true, false, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pattern *pattern = pattern_new(cases[i].text);
        assert_int_equal(pattern->field, cases[i].field);
        assert_int_equal(pattern->is_literal, cases[i].is_literal);
        assert_int_equal(pattern->is_broken, cases[i].is_broken);
        assert_int_equal(pattern->ignores_case, cases[i].ignores_case);
        pattern_free(pattern);
    }
}

/* Compares the filters in force with their descriptions, separated by commas. */
static void check_in_force(const struct filters *filters, const char *expected)
{
    struct text text = {0};
    for (size_t i = 0; i < filters_n(filters); i++) {
        text_add(&text, i ? "," : "");
        filter_describe(filters_at(filters, i), true, &text);
    }
    assert_string_equal(text_string(&text), expected);
    vec_free(&text);
}

TEST(changes_are_undone_and_redone)
{
    struct filters filters = {0};
    check_in_force(&filters, "");
    assert_false(filters_undo(&filters));
    assert_int_equal(filters_number(&filters), 0);
    filters_match(&filters, "a");
    uint64_t after_a = filters_number(&filters);
    filters_match(&filters, "!b");
    filters_set_share(&filters, 2.5);
    check_in_force(&filters, "&a,&!b,at least 2.5%");
    filters_match(&filters, "c"); /* in place of a */
    check_in_force(&filters, "&!b,at least 2.5%,&c");
    filters_remove(&filters, 1);
    check_in_force(&filters, "&!b,&c");
    filters_clear(&filters);
    check_in_force(&filters, "");
    assert_null(filters_only(&filters));
    for (int i = 0; i < 5; i++)
        assert_true(filters_undo(&filters));
    check_in_force(&filters, "&a");
    assert_int_equal(filters_number(&filters), after_a);
    assert_true(filters_redo(&filters));
    check_in_force(&filters, "&a,&!b");
    filters_match(&filters, ""); /* a goes; what was undone is gone */
    check_in_force(&filters, "&!b");
    assert_false(filters_redo(&filters));
    assert_true(filters_number(&filters) != after_a);
    assert_true(filters_undo(&filters));
    assert_true(filters_undo(&filters));
    assert_int_equal(filters_number(&filters), after_a);
    assert_true(filters_undo(&filters));
    assert_false(filters_undo(&filters));
    filters_free(&filters);
}

TEST(nothing_to_change_is_no_change)
{
    struct filters filters = {0};
    assert_null(filters_match(&filters, ""));
    filters_set_share(&filters, 0);
    filters_clear(&filters);
    assert_false(filters_undo(&filters));
    filters_match(&filters, "!"); /* what matches "!": an operator */
    check_in_force(&filters, "&!");
    assert_non_null(filters_only(&filters));
    filters_free(&filters);
}

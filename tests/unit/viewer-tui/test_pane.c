/* Panes over a view made here: a binary tree whose rows are numbered as in a heap, k above 2k + 1
 * and 2k + 2, and cost 1 / (k + 1): no two the same, and a left child costs half of what is above
 * it. */
#include "tests/unit/cmocka_suite.h"

#include "viewer-tui/terminal/pane.h"
#include "viewer-tui/tree/view.h"

#include <math.h>

#define LEVELS 18 /* below row 0: 524,287 rows */

static void set_costs(struct view *view, uint32_t row, uint64_t number)
{
    struct cost *costs = view_costs_of_new(view, row);
    costs->inclusive = 1 / (double)(number + 1);
    costs->exclusive = 0;
}

static enum outcome expand(struct view *view, uint32_t row)
{
    uint64_t number = view_row(view, row)->data;
    bool is_last = view_row(view, row)->depth + 1 == LEVELS;
    for (uint64_t child = 2 * number + 1; child <= 2 * number + 2; child++) {
        struct row made = {.kind = KIND_ROOT, .place = NOTHING, .is_leaf = is_last, .data = child};
        set_costs(view, view_add(view, row, made), child);
    }
    return DONE;
}

static const struct view_class tree_class = {
    .name = "tree", .sorted_by = INCLUSIVE, .expand = expand};
static const struct view_class callers_class = {
    .name = "callers", .sorted_by = INCLUSIVE, .shows_callers = true, .expand = expand};

struct fixture {
    struct metric metric;
    struct metrics metrics;
    struct filters filters;
    struct view *view;
    struct pane pane;
};

static void open_view(struct fixture *fixture, const struct view_class *class)
{
    *fixture = (struct fixture){.metric = metric_new("cost")};
    fixture->metrics = (struct metrics){.at = &fixture->metric, .n = 1, .n_stored = 1};
    fixture->view = view_new(class, NULL, &fixture->metrics);
    set_costs(fixture->view, 0, 0);
    fixture->view->totals[0].inclusive = 1;
    view_sort(fixture->view, (struct sorting){.metric = 0, .part = INCLUSIVE});
    pane_open(&fixture->pane, fixture->view, &fixture->filters);
}

static void close_view(struct fixture *fixture)
{
    pane_close(&fixture->pane);
    view_close(fixture->view);
    filters_free(&fixture->filters);
}

/* The heap number of the i-th visible row. */
static uint64_t number_at(const struct fixture *fixture, size_t i)
{
    return view_row(fixture->view, fixture->pane.shown.at[i])->data;
}

static uint64_t selected(const struct fixture *fixture)
{
    return number_at(fixture, fixture->pane.scroller.selected);
}

static void check_shown(const struct fixture *fixture, const uint64_t *numbers, size_t n)
{
    assert_int_equal(fixture->pane.shown.n, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(number_at(fixture, i), numbers[i]);
}

#define SHOWS(fixture, ...)                                                                        \
    do {                                                                                           \
        const uint64_t numbers[] = {__VA_ARGS__};                                                  \
        check_shown(fixture, numbers, sizeof numbers / sizeof *numbers);                           \
    } while (0)

TEST(rows_open_and_close)
{
    struct fixture f;
    open_view(&f, &tree_class);
    SHOWS(&f, 0, 1, 2);
    scroller_move(&f.pane.scroller, 1);
    pane_expand(&f.pane);
    SHOWS(&f, 0, 1, 3, 4, 2);
    scroller_move(&f.pane.scroller, 2);
    pane_expand(&f.pane);
    SHOWS(&f, 0, 1, 3, 4, 9, 10, 2);
    pane_move_up_tree(&f.pane);
    assert_int_equal(selected(&f), 1);
    pane_collapse(&f.pane);
    SHOWS(&f, 0, 1, 2);
    pane_expand(&f.pane); /* what was open below it is open again */
    SHOWS(&f, 0, 1, 3, 4, 9, 10, 2);
    pane_collapse_all(&f.pane);
    pane_expand(&f.pane);
    SHOWS(&f, 0, 1, 3, 4, 2);
    close_view(&f);
}

TEST(opening_everything_has_an_end)
{
    struct fixture f;
    open_view(&f, &tree_class);
    assert_false(pane_expand_all(&f.pane));
    assert_in_range(f.pane.shown.n, MOST_OPENED, MOST_OPENED + 2);
    pane_collapse_all(&f.pane);
    SHOWS(&f, 0, 1, 2);
    size_t level = 0; /* of the subtrees that fit the largest */
    while (((1 << (LEVELS + 1 - level)) - 1) > MOST_OPENED)
        level++;
    uint32_t row = 0;
    for (size_t i = 0; i < level; i++) {
        view_expand(f.view, row);
        row = view_child(f.view, row, 0);
    }
    pane_select(&f.pane, row);
    assert_true(pane_expand_all(&f.pane));
    close_view(&f);
}

TEST(hot_paths_follow_the_share)
{
    struct fixture f;
    open_view(&f, &tree_class);
    pane_hot_path(&f.pane, 0.51);
    assert_int_equal(selected(&f), 0);
    pane_hot_path(&f.pane, 0.5);
    assert_int_equal(selected(&f), (1 << LEVELS) - 1); /* left all the way */
    close_view(&f);
}

TEST(filters_by_share_leave_costs_alone)
{
    struct fixture f;
    open_view(&f, &tree_class);
    filters_set_share(&f.filters, 20);
    assert_false(filtered_is_prepared(f.pane.filtered));
    assert_int_equal(pane_filter(&f.pane), DONE);
    assert_true(pane_expand_all(&f.pane));
    SHOWS(&f, 0, 1, 3, 4, 2); /* 1, 1/2, 1/4, 1/5, 1/3 */
    assert_true(view_cost(f.view, f.pane.shown.at[1], 0, INCLUSIVE) == 0.5);
    assert_false(pane_can_open(&f.pane, f.pane.shown.at[2]));
    filters_set_share(&f.filters, 25);
    assert_int_equal(pane_filter(&f.pane), DONE);
    SHOWS(&f, 0, 1, 3, 2);
    assert_true(filters_undo(&f.filters));
    assert_int_equal(pane_filter(&f.pane), DONE);
    SHOWS(&f, 0, 1, 3, 4, 2);
    assert_true(filters_undo(&f.filters));
    assert_int_equal(pane_filter(&f.pane), DONE);
    assert_true(f.pane.shown.n > 5);
    assert_false(filters_undo(&f.filters));
    close_view(&f);
}

TEST(a_row_that_is_filtered_out_gives_its_place_to_what_it_is_below)
{
    struct fixture f;
    open_view(&f, &tree_class);
    scroller_move(&f.pane.scroller, 1);
    pane_expand(&f.pane);
    scroller_move(&f.pane.scroller, 2);
    assert_int_equal(selected(&f), 4);
    filters_set_share(&f.filters, 25);
    assert_int_equal(pane_filter(&f.pane), DONE);
    assert_int_equal(selected(&f), 1);
    close_view(&f);
}

TEST(flattening_merges_what_is_below)
{
    struct fixture f;
    open_view(&f, &tree_class);
    assert_true(pane_flatten(&f.pane));
    SHOWS(&f, 0, 3, 4, 5, 6); /* in the order of their costs */
    scroller_move(&f.pane.scroller, 3);
    pane_expand(&f.pane);
    SHOWS(&f, 0, 3, 4, 5, 11, 12, 6);
    assert_int_equal(pane_level(&f.pane, f.pane.shown.at[4]), 2);
    scroller_move(&f.pane.scroller, 1);
    assert_true(pane_flatten(&f.pane));
    SHOWS(&f, 0, 7, 8, 9, 10, 11, 12, 13, 14);
    assert_int_equal(selected(&f), 11);
    assert_true(pane_unflatten(&f.pane));
    assert_true(pane_unflatten(&f.pane));
    assert_false(pane_unflatten(&f.pane));
    SHOWS(&f, 0, 1, 2, 5, 11, 12, 6);
    assert_int_equal(selected(&f), 11);
    close_view(&f);
    open_view(&f, &callers_class);
    assert_false(pane_flatten(&f.pane));
    close_view(&f);
}

TEST(zooming_keeps_what_was_flattened)
{
    struct fixture f;
    open_view(&f, &tree_class);
    pane_flatten(&f.pane);
    scroller_move(&f.pane.scroller, 2);
    uint32_t row = pane_row(&f.pane);
    pane_zoom_in(&f.pane);
    SHOWS(&f, 4, 9, 10);
    pane_flatten(&f.pane);
    SHOWS(&f, 4, 19, 20, 21, 22);
    assert_true(pane_zoom_out(&f.pane));
    SHOWS(&f, 0, 3, 4, 9, 10, 5, 6);
    pane_zoom_to(&f.pane, row);
    SHOWS(&f, 4, 9, 10);
    pane_zoom_to(&f.pane, 0);
    assert_int_equal(f.pane.root, 0);
    assert_false(pane_zoom_out(&f.pane));
    close_view(&f);
}

TEST(a_pane_can_be_put_back)
{
    struct fixture f;
    struct pane_state before = {0};
    open_view(&f, &tree_class);
    scroller_move(&f.pane.scroller, 2);
    pane_save(&f.pane, &before);
    pane_hot_path(&f.pane, 0.5);
    assert_true(f.pane.shown.n > 3);
    pane_restore(&f.pane, &before);
    SHOWS(&f, 0, 1, 2);
    assert_int_equal(selected(&f), 2);
    pane_state_free(&before);
    close_view(&f);
}

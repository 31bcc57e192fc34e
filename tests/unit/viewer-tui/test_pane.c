/* Panes over a view made here: a binary tree whose rows are numbered as in a heap, k above 2k + 1
 * and 2k + 2, and cost 1 / (k + 1): no two the same, and a left child costs half of what is above
 * it. */
#include "tests/unit/cmocka_suite.h"

#include "viewer-tui/terminal/pane.h"
#include "viewer-tui/tree/view.h"

#include <math.h>

#define LEVELS 18 /* below row 0: 524,287 rows */

static enum outcome expand(struct view *view, uint32_t row)
{
    uint32_t number = view_row(view, row)->scope;
    bool is_last = view_row(view, row)->depth + 1 == LEVELS;
    for (uint32_t child = 2 * number + 1; child <= 2 * number + 2; child++)
        view_add(view, row, (struct row){.kind = KIND_ROOT, .place = NOTHING, .is_leaf = is_last, .scope = child});
    return DONE;
}

static double cost(const struct view *view, uint32_t row, size_t metric, enum cost_part part)
{
    (void)metric;
    return part == INCLUSIVE ? 1 / (double)(view_row(view, row)->scope + 1) : 0;
}

static const struct view_class tree_class = {
    .name = "tree", .sorted_by = INCLUSIVE, .expand = expand, .cost = cost};

static struct {
    struct metric metric;
    struct metrics metrics;
    struct filters filters;
    struct view *view;
    struct pane pane;
} f;

STEP(open_tree)
{
    memset(&f, 0, sizeof f);
    f.metric = metric_new("cost");
    f.metrics = (struct metrics){.at = &f.metric, .n = 1, .n_stored = 1};
    f.view = view_new(&tree_class, NULL, &f.metrics);
    f.view->totals[0].inclusive = 1;
    view_sort(f.view, (struct sorting){.metric = 0, .part = INCLUSIVE});
    pane_open(&f.pane, f.view, &f.filters);
}

STEP(close_view)
{
    pane_close(&f.pane);
    view_close(f.view);
    filters_free(&f.filters);
}

EACH_TEST(open_tree, close_view);

/* The heap number of the i-th visible row. */
static uint32_t number_at(size_t i)
{
    return view_row(f.view, f.pane.shown.at[i])->scope;
}

static uint32_t selected(void)
{
    return number_at(f.pane.scroller.selected);
}

static void check_shown(const uint32_t *numbers, size_t n)
{
    assert_int_equal(f.pane.shown.n, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(number_at(i), numbers[i]);
}

#define SHOWS(...)                                                                                 \
    do {                                                                                           \
        const uint32_t numbers[] = {__VA_ARGS__};                                                  \
        check_shown(numbers, sizeof numbers / sizeof *numbers);                                    \
    } while (0)

TEST(rows_open_and_close)
{
    SHOWS(0, 1, 2);
    scroller_move(&f.pane.scroller, 1);
    pane_expand(&f.pane);
    SHOWS(0, 1, 3, 4, 2);
    scroller_move(&f.pane.scroller, 2);
    pane_expand(&f.pane);
    SHOWS(0, 1, 3, 4, 9, 10, 2);
    pane_move_up_tree(&f.pane);
    assert_int_equal(selected(), 1);
    pane_collapse(&f.pane);
    SHOWS(0, 1, 2);
    pane_expand(&f.pane); /* what was open below it is open again */
    SHOWS(0, 1, 3, 4, 9, 10, 2);
    pane_collapse_all(&f.pane);
    pane_expand(&f.pane);
    SHOWS(0, 1, 3, 4, 2);
}

TEST(opening_everything_has_an_end)
{
    assert_false(pane_expand_all(&f.pane));
    assert_in_range(f.pane.shown.n, MOST_OPENED, MOST_OPENED + 2);
    pane_collapse_all(&f.pane);
    SHOWS(0, 1, 2);
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
}

TEST(hot_paths_follow_the_share)
{
    pane_hot_path(&f.pane, 0.51);
    assert_int_equal(selected(), 0);
    pane_hot_path(&f.pane, 0.5);
    assert_int_equal(selected(), (1 << LEVELS) - 1); /* left all the way */
}

TEST(filters_by_share_leave_costs_alone)
{
    filters_set_share(&f.filters, 20);
    assert_false(filtered_is_prepared(f.pane.filtered));
    assert_int_equal(pane_filter(&f.pane), DONE);
    assert_true(pane_expand_all(&f.pane));
    SHOWS(0, 1, 3, 4, 2); /* 1, 1/2, 1/4, 1/5, 1/3 */
    assert_true(view_cost(f.view, f.pane.shown.at[1], 0, INCLUSIVE) == 0.5);
    assert_false(pane_can_open(&f.pane, f.pane.shown.at[2]));
    filters_set_share(&f.filters, 25);
    assert_int_equal(pane_filter(&f.pane), DONE);
    SHOWS(0, 1, 3, 2);
    assert_true(filters_undo(&f.filters));
    assert_int_equal(pane_filter(&f.pane), DONE);
    SHOWS(0, 1, 3, 4, 2);
    assert_true(filters_undo(&f.filters));
    assert_int_equal(pane_filter(&f.pane), DONE);
    assert_true(f.pane.shown.n > 5);
    assert_false(filters_undo(&f.filters));
}

TEST(a_row_that_is_filtered_out_gives_its_place_to_what_it_is_below)
{
    scroller_move(&f.pane.scroller, 1);
    pane_expand(&f.pane);
    scroller_move(&f.pane.scroller, 2);
    assert_int_equal(selected(), 4);
    filters_set_share(&f.filters, 25);
    assert_int_equal(pane_filter(&f.pane), DONE);
    assert_int_equal(selected(), 1);
}

TEST(zooming_is_undone_step_by_step)
{
    scroller_move(&f.pane.scroller, 1);
    pane_expand(&f.pane);
    scroller_move(&f.pane.scroller, 1);
    uint32_t row = pane_row(&f.pane);
    pane_zoom_in(&f.pane);
    assert_int_equal(f.pane.root, row);
    assert_int_equal(f.pane.shown.at[0], row);
    scroller_move(&f.pane.scroller, 1);
    uint32_t below = pane_row(&f.pane);
    pane_zoom_in(&f.pane);
    assert_int_equal(f.pane.root, below);
    assert_true(pane_zoom_out(&f.pane));
    assert_int_equal(f.pane.root, row);
    assert_true(pane_zoom_out(&f.pane));
    assert_int_equal(f.pane.root, 0);
    pane_zoom_to(&f.pane, row);
    assert_int_equal(f.pane.root, row);
    pane_zoom_to(&f.pane, 0);
    assert_int_equal(f.pane.root, 0);
    assert_false(pane_zoom_out(&f.pane));
}

TEST(a_pane_can_be_put_back)
{
    struct pane_state before = {0};
    scroller_move(&f.pane.scroller, 2);
    pane_save(&f.pane, &before);
    pane_hot_path(&f.pane, 0.5);
    assert_true(f.pane.shown.n > 3);
    pane_restore(&f.pane, &before);
    SHOWS(0, 1, 2);
    assert_int_equal(selected(), 2);
    pane_state_free(&before);
}

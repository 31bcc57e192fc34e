#include "viewer-tui/compare/merged.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* Two views in one. A row's data are its rows in the two views. */
struct merged_view {
    struct view_class class;
    struct view *sides[SIDES];
    const struct merged_metric *from; /* by metric */
    struct edits *edits;
};

static uint64_t pack(struct row_pair pair)
{
    return (uint64_t)pair.rows[0] << 32 | pair.rows[1];
}

static struct row_pair pair_of(const struct row *row)
{
    return (struct row_pair){{(uint32_t)(row->data >> 32), (uint32_t)row->data}};
}

/* The side whose names and places a pair shows. */
static int side_shown(struct row_pair pair)
{
    return pair.rows[1] == NOTHING ? 0 : 1;
}

static double column_value(const struct merged_metric *metric, double left, double right)
{
    double expected = metric->factor * left;
    switch (metric->column) {
    case MERGED_LEFT: return left;
    case MERGED_RIGHT: return right;
    case MERGED_DIFFERENCE: return right - expected;
    default: return expected != 0 ? right / expected : NAN;
    }
}

static struct cost column_cost(const struct merged_metric *metric, struct cost left,
                               struct cost right)
{
    return (struct cost){.inclusive = column_value(metric, left.inclusive, right.inclusive),
                         .exclusive = column_value(metric, left.exclusive, right.exclusive)};
}

/* Sets the costs from both sides; 0 for a side without the scope. */
static void add_costs(struct view *view, uint32_t number, struct row_pair pair)
{
    const struct merged_view *merged = view->state;
    const struct cost *of_side[SIDES];
    for (int side = 0; side < SIDES; side++)
        of_side[side] =
            pair.rows[side] == NOTHING ? NULL : view_costs(merged->sides[side], pair.rows[side]);
    struct cost *costs = view_costs_of_new(view, number);
    for (size_t m = 0; m < view->n_metrics; m++) {
        const struct merged_metric *from = &merged->from[m];
        struct cost both[SIDES] = {0};
        for (int side = 0; side < SIDES; side++)
            if (of_side[side])
                both[side] = of_side[side][from->sides[side]];
        costs[m] = column_cost(from, both[0], both[1]);
    }
}

static void add_pair(struct view *view, uint32_t parent, struct row_pair pair)
{
    const struct merged_view *merged = view->state;
    int shown = side_shown(pair);
    const struct row *from = view_row(merged->sides[shown], pair.rows[shown]);
    struct row row = {.kind = from->kind,
                      .is_leaf = true,
                      .place = from->place,
                      .line = from->line,
                      .call_file = from->call_file,
                      .call_line = from->call_line,
                      .has_several_call_sites = from->has_several_call_sites,
                      .no_call_site = from->no_call_site,
                      .data = pack(pair)};
    for (int side = 0; side < SIDES; side++)
        if (pair.rows[side] != NOTHING) {
            const struct row *of_side = view_row(merged->sides[side], pair.rows[side]);
            row.is_leaf &= of_side->is_leaf;
            row.has_several_call_sites |= of_side->has_several_call_sites;
        }
    add_costs(view, view_add(view, parent, row), pair);
}

static void release_sides(const struct merged_view *merged, struct row_pair pair)
{
    for (int side = 0; side < SIDES; side++)
        if (pair.rows[side] != NOTHING)
            view_release(merged->sides[side], pair.rows[side]);
}

/* Expands both sides, or none. */
static enum outcome expand_sides(const struct merged_view *merged, struct row_pair pair)
{
    for (int side = 0; side < SIDES; side++) {
        if (pair.rows[side] == NOTHING)
            continue;
        if (view_expand(merged->sides[side], pair.rows[side]) == DONE)
            continue;
        release_sides(merged, pair);
        return STOPPED;
    }
    return DONE;
}

static enum outcome merged_expand(struct view *view, uint32_t number)
{
    const struct merged_view *merged = view->state;
    struct row_pair pair = pair_of(view_row(view, number));
    if (expand_sides(merged, pair) == STOPPED)
        return STOPPED;
    struct row_pairs pairs = match_children(merged->sides, pair, merged->edits);
    for (size_t i = 0; i < pairs.n; i++)
        add_pair(view, number, pairs.at[i]);
    vec_free(&pairs);
    return DONE;
}

static void merged_release(struct view *view, uint32_t first)
{
    release_sides(view->state, pair_of(view_row(view, view_row(view, first)->parent)));
}

static void merged_start_walk(struct view *view)
{
    const struct merged_view *merged = view->state;
    for (int side = 0; side < SIDES; side++)
        view_start_walk(merged->sides[side]);
}

static const struct view *merged_origin(const struct view *view, uint32_t *row)
{
    const struct merged_view *merged = view->state;
    struct row_pair pair = pair_of(view_row(view, *row));
    int shown = side_shown(pair);
    *row = pair.rows[shown];
    return merged->sides[shown];
}

static void merged_close(struct view *view)
{
    struct merged_view *merged = view->state;
    for (int side = 0; side < SIDES; side++)
        view_close(merged->sides[side]);
    edits_free(merged->edits);
    free(merged);
}

/* The initial sorting: what got worse. */
static size_t first_difference(const struct metrics *metrics, const struct merged_metric *from)
{
    size_t first = metrics_first_measured(metrics);
    for (size_t m = first; m < metrics->n_stored; m++)
        if (from[m].column == MERGED_DIFFERENCE && metric_is_measured(&metrics->at[m]))
            return m;
    return first;
}

struct view *merged_open(struct view *const sides[SIDES], const struct metrics *metrics,
                         const struct merged_metric *from)
{
    assert(sides[0]->class == sides[1]->class);
    struct merged_view *merged = mem_alloc(sizeof *merged);
    merged->from = from;
    merged->edits = edits_new(sides[0]->db, sides[1]->db);
    for (int side = 0; side < SIDES; side++) {
        merged->sides[side] = sides[side];
        sides[side]->side = side;
    }
    merged->class = (struct view_class){.name = sides[0]->class->name,
                                        .title = sides[0]->class->title,
                                        .sorted_by = sides[0]->class->sorted_by,
                                        .shows_callers = sides[0]->class->shows_callers,
                                        .expand = merged_expand,
                                        .release = merged_release,
                                        .close = merged_close,
                                        .start_walk = merged_start_walk,
                                        .origin = merged_origin};
    struct view *view = view_new(&merged->class, NULL, metrics);
    view->state = merged;
    view->rows.at[0].data = pack((struct row_pair){{0, 0}});
    add_costs(view, 0, (struct row_pair){{0, 0}});
    for (size_t m = 0; m < view->n_metrics; m++)
        view->totals[m] = column_cost(&from[m], sides[0]->totals[from[m].sides[0]],
                                      sides[1]->totals[from[m].sides[1]]);
    size_t first = first_difference(metrics, from);
    enum cost_part part = metric_part(&metrics->at[first], merged->class.sorted_by);
    view_sort(view, (struct sorting){.metric = first, .part = part});
    return view;
}

struct row_pair merged_rows(const struct view *view, uint32_t row)
{
    bool is_merged = view->class->origin == merged_origin;
    return is_merged ? pair_of(view_row(view, row)) : (struct row_pair){{row, NOTHING}};
}

struct view *merged_side(const struct view *view, int side)
{
    assert(view->class->origin == merged_origin && side >= 0 && side < SIDES);
    const struct merged_view *merged = view->state;
    return merged->sides[side];
}

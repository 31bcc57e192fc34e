#include "viewer-tui/compare/merged.h"

#include "viewer-tui/compare/match.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The values of the runs that were asked for last. */
struct run_values {
    uint32_t row;
    size_t quantity; /* SIZE_MAX: none */
    double *values;  /* by run */
};

struct merged_view {
    struct view_class class;
    const struct merged_runs *merged;
    struct view **views;
    struct match *match;
    VEC(uint32_t) rows; /* by row, then run */
    struct run_values *known; /* by part */
};

static const uint32_t *rows_of(const struct merged_view *state, uint32_t row)
{
    return state->rows.at + row * state->merged->runs.n;
}

static size_t run_shown(const struct merged_view *state, const uint32_t *rows)
{
    size_t n = state->merged->runs.n, run = state->merged->first_shown;
    for (size_t i = 0; i + 1 < n && rows[run] == NOTHING; i++)
        run = (run + 1) % n;
    return run;
}

/* What a quantity costs in each run in a row, or in the whole program if that is NOTHING; 0 for a run without the scope
 * or the quantity. Valid until the next call for that part. */
static const double *values_of(const struct merged_view *state, uint32_t row, size_t quantity, enum cost_part part)
{
    struct run_values *known = &state->known[part];
    const uint32_t *rows = row == NOTHING ? NULL : rows_of(state, row);
    if (known->row == row && known->quantity == quantity)
        return known->values;
    known->row = row;
    known->quantity = quantity;
    for (size_t run = 0; run < state->merged->runs.n; run++) {
        size_t source = merged_source(state->merged, quantity, run);
        const struct view *view = state->views[run];
        bool is_there = source != SIZE_MAX && (!rows || rows[run] != NOTHING);
        known->values[run] = !is_there ? 0
                             : rows    ? view_cost(view, rows[run], source, part)
                                       : formula_cost_in_array(view->totals, source, part);
    }
    return known->values;
}

/* The value of a metric in a row, or in the whole program if that is NOTHING. */
static double value_of(const struct merged_view *state, uint32_t row, size_t metric, enum cost_part part)
{
    const struct merged_formula *formula = &state->merged->formulas.at[metric];
    const struct merged_term *first = &formula->terms[0];
    double terms[MERGED_TERMS], sum = 0;
    for (size_t i = 0; i < formula->n_terms; i++) {
        const struct merged_term *term = &formula->terms[i];
        terms[i] = term->factor * merged_mean(state->merged, term->group, values_of(state, row, term->quantity, part));
        sum += terms[i];
    }
    switch (formula->operation) {
    case FORMULA_SUM: return sum;
    case FORMULA_QUOTIENT: return terms[1] != 0 ? terms[0] / terms[1] : NAN;
    default:
        return merged_uncertainty(state->merged, values_of(state, row, first->quantity, part), 1,
                                  merged_periods(state->merged, first->quantity), CONFIDENCE_95);
    }
}

static double merged_cost(const struct view *view, uint32_t row, size_t metric, enum cost_part part)
{
    return value_of(view->state, row, metric, part);
}

/* Appends a row for these rows of the runs, and takes note of them. */
static void add_row(struct view *view, uint32_t parent, const uint32_t *rows)
{
    struct merged_view *state = view->state;
    size_t n_runs = state->merged->runs.n, shown = run_shown(state, rows);
    struct row row = *view_row(state->views[shown], rows[shown]);
    row = (struct row){.kind = row.kind,
                       .is_leaf = true,
                       .place = row.place,
                       .line = row.line,
                       .call_file = row.call_file,
                       .call_line = row.call_line,
                       .no_call_site = row.no_call_site};
    for (size_t run = 0; run < n_runs; run++) {
        vec_push(&state->rows, rows[run]);
        if (rows[run] == NOTHING)
            continue;
        const struct row *of_run = view_row(state->views[run], rows[run]);
        row.is_leaf &= of_run->is_leaf;
        row.has_several_call_sites |= of_run->has_several_call_sites;
    }
    view_add(view, parent, row);
}

static void release_runs(const struct merged_view *state, uint32_t row)
{
    const uint32_t *rows = rows_of(state, row);
    for (size_t run = 0; run < state->merged->runs.n; run++)
        if (rows[run] != NOTHING)
            view_release(state->views[run], rows[run]);
}

/* Expands the row in all runs, or in none. */
static enum outcome merged_expand(struct view *view, uint32_t number)
{
    struct merged_view *state = view->state;
    size_t n_runs = state->merged->runs.n;
    const uint32_t *rows = rows_of(state, number);
    for (size_t run = 0; run < n_runs; run++)
        if (rows[run] != NOTHING && view_expand(state->views[run], rows[run]) != DONE) {
            release_runs(state, number);
            return STOPPED;
        }
    autofree matched_rows matched = match_children(state->match, rows);
    for (size_t i = 0; i < matched.n; i += n_runs)
        add_row(view, number, matched.at + i);
    return DONE;
}

static void merged_release(struct view *view, uint32_t first)
{
    struct merged_view *state = view->state;
    release_runs(state, view_row(view, first)->parent);
    state->rows.n = first * state->merged->runs.n;
    state->known[INCLUSIVE].quantity = state->known[EXCLUSIVE].quantity = SIZE_MAX;
}

static const struct view *merged_origin(const struct view *view, uint32_t *row)
{
    const struct merged_view *state = view->state;
    const uint32_t *rows = rows_of(state, *row);
    size_t run = run_shown(state, rows);
    *row = rows[run];
    return state->views[run];
}

static void merged_close(struct view *view)
{
    autofree struct merged_view *state = view->state;
    match_free(state->match);
    for (size_t run = 0; run < state->merged->runs.n; run++)
        view_close(state->views[run]);
    vec_free(&state->rows);
    free(state->views);
    for (int part = INCLUSIVE; part <= EXCLUSIVE; part++)
        free(state->known[part].values);
    free(state->known);
}

struct view *merged_open(const struct merged_runs *merged, struct view **views, struct sorting sorting)
{
    struct merged_view *state = mem_alloc(sizeof *state);
    const struct view_class *class = views[0]->class;
    size_t n_runs = merged->runs.n;
    state->merged = merged;
    state->views = views;
    for (size_t run = 0; run < n_runs; run++) {
        assert(views[run]->class == class);
        views[run]->side = (int)run;
    }
    state->known = mem_alloc((EXCLUSIVE + 1) * sizeof *state->known);
    for (int part = INCLUSIVE; part <= EXCLUSIVE; part++)
        state->known[part] = (struct run_values){NOTHING, SIZE_MAX, mem_alloc(n_runs * sizeof(double))};
    state->match = match_new(merged, state->views);
    state->class = (struct view_class){.name = class->name,
                                       .title = merged->title ? merged->title : class->title,
                                       .sorted_by = class->sorted_by,
                                       .shows_callers = class->shows_callers,
                                       .expand = merged_expand,
                                       .cost = merged_cost,
                                       .release = merged_release,
                                       .close = merged_close,
                                       .origin = merged_origin};
    struct view *view = view_new(&state->class, NULL, &merged->metrics);
    view->state = state;
    for (size_t run = 0; run < n_runs; run++)
        vec_push(&state->rows, 0);
    for (size_t m = 0; m < merged->metrics.n_stored; m++)
        view->totals[m] =
            (struct cost){value_of(state, NOTHING, m, INCLUSIVE), value_of(state, NOTHING, m, EXCLUSIVE)};
    view_sort(view, sorting);
    return view;
}

static const struct merged_view *state_of(const struct view *view)
{
    return view->class->origin == merged_origin ? view->state : NULL;
}

const struct merged_runs *merged_runs_of(const struct view *view)
{
    return state_of(view) ? state_of(view)->merged : NULL;
}

struct view *merged_view_of(const struct view *view, size_t run)
{
    assert(state_of(view) && run < state_of(view)->merged->runs.n);
    return state_of(view)->views[run];
}

const uint32_t *merged_rows(const struct view *view, uint32_t row)
{
    return state_of(view) ? rows_of(state_of(view), row) : NULL;
}

double *merged_costs(const struct view *view, uint32_t row, size_t quantity, enum cost_part part)
{
    size_t size = merged_runs_of(view)->runs.n * sizeof(double);
    return memcpy(mem_alloc(size), values_of(state_of(view), row, quantity, part), size);
}

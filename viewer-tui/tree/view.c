#include "viewer-tui/tree/view.h"

#include "viewer-tui/db/node-costs.h"
#include "viewer-tui/metrics/derived.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint32_t append(struct view *view, struct row row)
{
    uint32_t number = (uint32_t)view->rows.n;
    vec_push(&view->rows, row);
    vec_push(&view->order, number);
    size_t n = view->n_metrics, needed = view->rows.n * n;
    if (view->class->cost)
        return number;
    if (needed > view->costs_size) {
        view->costs_size = needed * 2 + 64;
        view->costs = mem_resize(view->costs, view->costs_size, sizeof *view->costs);
    }
    memset(view->costs + number * n, 0, n * sizeof *view->costs);
    return number;
}

struct view *view_new(const struct view_class *class, struct database *db,
                      const struct metrics *metrics)
{
    struct view *view = mem_alloc(sizeof *view);
    view->class = class;
    view->db = db;
    view->metrics = metrics;
    view->n_metrics = metrics->n_stored;
    append(view, (struct row){.kind = KIND_ROOT, .place = NOTHING, .call_file = NOTHING});
    view->totals = mem_alloc((view->n_metrics + 1) * sizeof *view->totals);
    view->program = mem_alloc((view->n_metrics + 1) * sizeof *view->program);
    view->scratch = mem_alloc((view->n_metrics + 1) * sizeof *view->scratch);
    return view;
}

struct view *view_open(const struct view_class *class, struct database *db)
{
    if (!database_nodes(db))
        return NULL;
    struct view *view = view_new(class, db, &db->metrics);
    node_costs_get(db, 0, view->totals);
    for (size_t m = 0; m < view->n_metrics; m++)
        view->program[m] = (struct cost){
            view->totals[m].inclusive, class->has_all_code ? view->totals[m].inclusive : view->totals[m].exclusive};
    size_t first = metrics_first_measured(view->metrics);
    enum cost_part part = metric_part(&view->metrics->at[first], class->sorted_by);
    view_sort(view, (struct sorting){.metric = first, .part = part});
    if (class->open(view) == DONE)
        return view;
    view_close(view);
    return NULL;
}

void view_close(struct view *view)
{
    if (!view)
        return;
    if (view->class->close)
        view->class->close(view);
    vec_free(&view->rows);
    vec_free(&view->order);
    free(view->costs);
    free(view->totals);
    free(view->program);
    free(view->scratch);
    free(view);
}

void view_sort(struct view *view, struct sorting sorting)
{
    view->sorting = sorting;
    view->sorting_number++;
}

enum outcome view_expand(struct view *view, uint32_t row)
{
    if (view->rows.at[row].is_expanded || view->rows.at[row].is_leaf)
        return DONE;
    assert(row < view->rows.n);
    view->rows.at[row].is_expanded = true;
    view->rows.at[row].first_child = (uint32_t)view->rows.n;
    enum outcome outcome = view->class->expand(view, row);
    view->rows.at[row].n_children = (uint32_t)view->rows.n - view->rows.at[row].first_child;
    if (outcome != DONE)
        view_release(view, row);
    return outcome;
}

uint32_t view_add(struct view *view, uint32_t parent, struct row row)
{
    row.parent = parent;
    row.depth = view->rows.at[parent].depth + 1;
    return append(view, row);
}

static double stored_cost(const struct view *view, uint32_t row, size_t metric, enum cost_part part)
{
    if (view->class->cost && row != 0)
        return view->class->cost(view, row, metric, part);
    const struct cost *costs = view->class->cost ? view->program : view->costs + row * view->n_metrics;
    return part == INCLUSIVE ? costs[metric].inclusive : costs[metric].exclusive;
}

const struct cost *view_costs(const struct view *view, uint32_t row)
{
    if (!view->class->cost)
        return view->costs + row * view->n_metrics;
    for (size_t m = 0; m < view->n_metrics; m++)
        view->scratch[m] = (struct cost){stored_cost(view, row, m, INCLUSIVE), stored_cost(view, row, m, EXCLUSIVE)};
    return view->scratch;
}

struct row_of_view {
    const struct view *view;
    uint32_t row;
};

static double cost_in_row(const void *context, size_t metric, enum cost_part part)
{
    const struct row_of_view *of = context;
    return stored_cost(of->view, of->row, metric, part);
}

double view_cost(const struct view *view, uint32_t row, size_t metric, enum cost_part part)
{
    struct row_of_view of = {view, row};
    return view_value(view, cost_in_row, &of, metric, part);
}

double view_value(const struct view *view, formula_costs *cost, const void *context, size_t metric,
                  enum cost_part part)
{
    if (metric < view->n_metrics)
        return cost(context, metric, part);
    struct formula_input input = {.cost = cost, .context = context, .program = view->totals};
    return metric < view->metrics->n ? derived_value(view->metrics, metric, input, part) : 0;
}

double view_total(const struct view *view, size_t metric)
{
    return view_value(view, formula_cost_in_array, view->totals, metric, INCLUSIVE);
}

/* The share of a metric that is not compared. */
static double plain_share(const struct view *view, uint32_t row, struct sorting by,
                          enum share_of of)
{
    double whole = of == SHARE_OF_WHOLE ? view_whole(view, by.metric) : view_total(view, by.metric);
    double share = whole != 0 ? view_cost(view, row, by.metric, by.part) / whole : 0;
    return isfinite(share) ? share : 0;
}

double view_share(const struct view *view, uint32_t row, struct sorting by, enum share_of of)
{
    if (by.metric >= view->metrics->n)
        return 0;
    const struct metric *metric = &view->metrics->at[by.metric];
    if (!metric_is_compared(metric))
        return metric->is_ratio ? 0 : plain_share(view, row, by, of);
    struct sorting left = {.metric = metric->compared.sides[0], .part = by.part};
    struct sorting right = {.metric = metric->compared.sides[1], .part = by.part};
    return fmax(plain_share(view, row, left, of), plain_share(view, row, right, of));
}

struct sorting view_judged_by(const struct view *view)
{
    struct sorting by = view->sorting;
    const struct metric *sorted = &view->metrics->at[by.metric];
    if (!metric_is_additive(sorted) && !metric_is_compared(sorted))
        by.metric = metrics_first_additive(view->metrics);
    if (!view->class->shows_callers)
        by.part = INCLUSIVE;
    return by;
}

double view_magnitude(const struct view *view, size_t metric)
{
    const struct metric *of = &view->metrics->at[metric];
    if (!metric_is_compared(of) || of->is_ratio)
        return view_total(view, metric);
    return fmax(fabs(view_total(view, of->compared.sides[0])),
                fabs(view_total(view, of->compared.sides[1])));
}

double view_whole(const struct view *view, size_t metric)
{
    double whole = view_total(view, metrics_whole(view->metrics, metric));
    bool has_shares = metric_is_additive(&view->metrics->at[metric]) && isfinite(whole);
    return has_shares ? whole : 0;
}

/* Adds the value of a node of the file's tree, if it has one. That of the whole program is the sum of its entry points,
 * if the file does not have it. */
static void add_value_ref(const struct database *db, struct node_ref from, bool is_subtracted, struct value_refs *refs)
{
    const struct nodes *nodes = db->costs->nodes;
    uint32_t position = nodes->position[from.node];
    if (position != NOTHING)
        vec_push(&refs->list,
                 ((struct value_ref){.context = db->values.index[position].context_id,
                                     .row = from.row,
                                     .scope = node_cost_scope(nodes, from.node, (enum cost_part)from.part),
                                     .is_subtracted = is_subtracted}));
    for (uint32_t entry = 1; from.node == 0 && position == NOTHING && entry < nodes->n; entry = nodes->end[entry])
        add_value_ref(db, (struct node_ref){.node = entry, .row = from.row, .part = from.part}, is_subtracted, refs);
}

/* Adds the values of which the cost of a node is the sum. */
static void add_value_refs(const struct database *db, struct node_ref from, struct value_refs *refs)
{
    const struct fold *fold = db->fold;
    if (!fold)
        add_value_ref(db, from, false, refs);
    for (uint32_t t = fold ? fold->first_term[from.node] : 0; fold && t < fold->first_term[from.node + 1]; t++) {
        struct node_ref ref = {.node = fold->terms[t].node, .row = from.row, .part = from.part};
        if (fold_term_counts(&fold->terms[t], (enum cost_part)from.part))
            add_value_ref(db, ref, fold->terms[t].role == TERM_LEFT, refs);
    }
}

enum outcome view_rows_value_refs(struct view *view, const uint32_t *rows, size_t n, enum cost_part part,
                                  struct value_refs *refs)
{
    struct node_refs nodes = {0};
    if (!view->class->nodes)
        return FAILED;
    enum outcome outcome = view->class->nodes(view, rows, n, part, &nodes);
    for (size_t i = 0; i < nodes.list.n && outcome == DONE; i++)
        add_value_refs(view->db, nodes.list.at[i], refs);
    vec_free(&nodes.list);
    return outcome;
}

enum outcome view_value_refs(struct view *view, uint32_t row, enum cost_part part, struct value_refs *refs)
{
    return view_rows_value_refs(view, &row, 1, part, refs);
}

static void move_row(struct view *view, uint32_t to, uint32_t from)
{
    size_t n = view->n_metrics;
    view->rows.at[to] = view->rows.at[from];
    if (view->costs)
        memmove(view->costs + to * n, view->costs + from * n, n * sizeof *view->costs);
}

static void join_row(struct view *view, uint32_t into, uint32_t from)
{
    struct row *row = &view->rows.at[into], *other = &view->rows.at[from];
    row->is_leaf &= other->is_leaf;
    row->no_call_site |= other->no_call_site;
    row->has_several_call_sites |= other->has_several_call_sites;
    if (row->call_file != other->call_file || row->call_line != other->call_line) {
        row->has_several_call_sites = true;
        row->call_file = NOTHING;
        row->call_line = 0;
    }
    view->class->join(view, into, from);
}

void view_join(struct view *view, uint32_t parent, const uint32_t *groups)
{
    autofree struct idmap rows = {0};
    uint32_t first = view_row(view, parent)->first_child, kept = first;
    uint32_t n = view_row(view, parent)->n_children;
    assert(n == 0 || first + n == view->rows.n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t row = groups[i] == NOTHING ? IDMAP_NONE : idmap_get(&rows, groups[i], 0);
        if (row != IDMAP_NONE) {
            join_row(view, row, first + i);
            continue;
        }
        move_row(view, kept, first + i);
        if (groups[i] != NOTHING)
            idmap_put(&rows, groups[i], 0, kept);
        kept++;
    }
    if (n)
        view->rows.n = view->order.n = kept;
    view->rows.at[parent].n_children = kept - first;
}

void view_dissolve(struct view *view, uint32_t parent, uint32_t child)
{
    assert(view_row(view, child)->parent == parent && view_row(view, child)->is_expanded);
    for (uint32_t i = view_row(view, child)->first_child; i < view->rows.n; i++) {
        view->rows.at[i].parent = parent;
        view->rows.at[i].depth--;
    }
    for (uint32_t i = child + 1; i < view->rows.n; i++)
        move_row(view, i - 1, i);
    view->rows.n--;
    view->order.n--;
    view->rows.at[parent].n_children = (uint32_t)view->rows.n - view_row(view, parent)->first_child;
}

void view_release(struct view *view, uint32_t row)
{
    struct row *released = &view->rows.at[row];
    if (!released->is_expanded)
        return;
    uint32_t first = released->first_child;
    released->is_expanded = false;
    released->n_children = 0;
    released->sorted_by = 0;
    if (first < view->rows.n && view->class->release)
        view->class->release(view, first);
    view->rows.n = view->order.n = first;
}

#include "viewer-tui/tree/view.h"

#include "viewer-tui/db/node-costs.h"
#include "viewer-tui/metrics/derived.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sums over the nodes of rows, if these are several. */
struct row_sums {
    VEC(double) *of;       /* by 2 * metric + part, then by row; NAN: not added up yet */
    uint32_t end;          /* rows from here on have none */
    struct node_refs refs; /* room for the nodes of a row */
};

static uint32_t append(struct view *view, struct row row)
{
    uint32_t number = (uint32_t)view->rows.n;
    vec_push(&view->rows, row);
    vec_push(&view->order, number);
    return number;
}

struct view *view_new(const struct view_class *class, struct database *db,
                      const struct metrics *metrics)
{
    struct view *view = mem_alloc(sizeof *view);
    view->class = class;
    view->db = db;
    view->metrics = metrics;
    append(view, (struct row){.kind = KIND_ROOT, .place = NOTHING, .call_file = NOTHING});
    view->totals = mem_alloc((metrics->n_stored + 1) * sizeof *view->totals);
    view->sums = mem_alloc(sizeof *view->sums);
    view->sums->of = mem_alloc((2 * metrics->n_stored + 1) * sizeof *view->sums->of);
    return view;
}

struct view *view_open(const struct view_class *class, struct database *db)
{
    if (!database_nodes(db))
        return NULL;
    struct view *view = view_new(class, db, &db->metrics);
    node_costs_get(db, 0, view->totals);
    size_t first = metrics_first_measured(view->metrics);
    enum cost_part part = metric_part(&view->metrics->at[first], class->sorted_by);
    view_sort(view, (struct sorting){.metric = first, .part = part});
    if (!class->open || class->open(view) == DONE)
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
    vec_free(&view->nodes);
    free(view->totals);
    for (size_t i = 0; i < 2 * view->metrics->n_stored; i++)
        vec_free(&view->sums->of[i]);
    free(view->sums->of);
    vec_free(&view->sums->refs.list);
    free(view->sums);
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

/* ---- costs ---- */

/* Adds the nodes of a row. The inclusive costs of a statement are its exclusive ones, since its calls are siblings; a
 * program has no code outside of its entry points. */
static void add_nodes(const struct view *view, uint32_t number, enum cost_part part, struct node_refs *refs)
{
    const struct row *row = view_row(view, number);
    const struct nodes *nodes = database_nodes(view->db);
    uint32_t exposed_end = 0;
    if (row->kind == KIND_PROGRAM && part == EXCLUSIVE)
        return;
    part = row->kind == KIND_STATEMENT ? EXCLUSIVE : part;
    for (uint32_t i = row->first_node; i < row->first_node + row->n_nodes; i++) {
        uint32_t node = view->nodes.at[i].node;
        if (part == INCLUSIVE && node < exposed_end)
            continue;
        exposed_end = nodes->end[node];
        vec_push(&refs->list, ((struct node_ref){node, part}));
    }
}

enum outcome view_nodes(const struct view *view, uint32_t row, enum cost_part part, struct node_refs *refs)
{
    if (!view->db)
        return FAILED;
    if (row == 0)
        vec_push(&refs->list, ((struct node_ref){.part = view->class->has_all_code ? INCLUSIVE : part}));
    else if (view->class->nodes)
        return view->class->nodes(view, row, part, refs);
    else
        add_nodes(view, row, part, refs);
    return DONE;
}

static double sum_of_nodes(const struct view *view, uint32_t row, size_t metric, enum cost_part part)
{
    struct row_sums *sums = view->sums;
    size_t column = 2 * metric + part;
    if (row < sums->of[column].n && !isnan(sums->of[column].at[row]))
        return sums->of[column].at[row];
    double sum = 0;
    sums->refs.list.n = 0;
    add_nodes(view, row, part, &sums->refs);
    for (size_t i = 0; i < sums->refs.list.n; i++)
        sum += node_cost(view->db, sums->refs.list.at[i].node, metric, (enum cost_part)sums->refs.list.at[i].part);
    if (sums->refs.list.n <= 1 && !view->db->fold)
        return sum;
    while (sums->of[column].n <= row)
        vec_push(&sums->of[column], NAN);
    sums->of[column].at[row] = sum;
    sums->end = row < sums->end ? sums->end : row + 1;
    return sum;
}

void view_add_costs(struct view *view, uint32_t row, const struct cost *costs, bool is_exposed)
{
    struct row_sums *sums = view->sums;
    for (size_t column = 0; column < 2 * view->metrics->n_stored; column++) {
        const struct cost *of = &costs[column / 2];
        double cost = column % 2 == EXCLUSIVE ? of->exclusive : is_exposed ? of->inclusive : 0;
        while (sums->of[column].n <= row) {
            bool is_unknown = sums->of[column].n < row;
            vec_push(&sums->of[column], is_unknown ? NAN : 0);
        }
        sums->of[column].at[row] += cost;
    }
    sums->end = row < sums->end ? sums->end : row + 1;
}

/* Forgets the sums of rows from `first` on. */
static void forget_sums(const struct view *view, uint32_t first)
{
    for (size_t i = 0; i < 2 * view->metrics->n_stored && first < view->sums->end; i++)
        if (view->sums->of[i].n > first)
            view->sums->of[i].n = first;
    view->sums->end = first < view->sums->end ? first : view->sums->end;
}

static double stored_cost(const struct view *view, uint32_t row, size_t metric, enum cost_part part)
{
    if (row == 0 && view->db)
        return part == INCLUSIVE || view->class->has_all_code ? view->totals[metric].inclusive
                                                              : view->totals[metric].exclusive;
    return view->class->cost ? view->class->cost(view, row, metric, part) : sum_of_nodes(view, row, metric, part);
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
    if (metric < view->metrics->n_stored)
        return cost(context, metric, part);
    struct formula_input input = {.cost = cost, .context = context, .program = view->totals};
    return metric < view->metrics->n ? derived_value(view->metrics, metric, input, part) : 0;
}

struct node_of_view {
    const struct view *view;
    uint32_t node;
};

static double cost_of_node(const void *context, size_t metric, enum cost_part part)
{
    const struct node_of_view *of = context;
    return node_cost(of->view->db, of->node, metric, part);
}

double view_node_value(const struct view *view, uint32_t node, size_t metric, enum cost_part part)
{
    struct node_of_view of = {view, node};
    return view_value(view, cost_of_node, &of, metric, part);
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
                                     .scope = node_cost_scope(nodes, from.node, (enum cost_part)from.part),
                                     .is_subtracted = is_subtracted}));
    for (uint32_t entry = 1; from.node == 0 && position == NOTHING && entry < nodes->n; entry = nodes->end[entry])
        add_value_ref(db, (struct node_ref){entry, from.part}, is_subtracted, refs);
}

/* Adds the values of which the cost of a node is the sum. */
static void add_value_refs(const struct database *db, struct node_ref from, struct value_refs *refs)
{
    const struct fold *fold = db->fold;
    if (!fold)
        add_value_ref(db, from, false, refs);
    for (uint32_t t = fold ? fold->first_term[from.node] : 0; fold && t < fold->first_term[from.node + 1]; t++) {
        struct node_ref ref = {fold->terms[t].node, from.part};
        if (fold_term_counts(&fold->terms[t], (enum cost_part)from.part))
            add_value_ref(db, ref, fold->terms[t].role == TERM_LEFT, refs);
    }
}

void view_node_value_refs(const struct view *view, uint32_t node, enum cost_part part, struct value_refs *refs)
{
    add_value_refs(view->db, (struct node_ref){node, part}, refs);
}

enum outcome view_value_refs(struct view *view, uint32_t row, enum cost_part part, struct value_refs *refs)
{
    struct node_refs nodes = {0};
    enum outcome outcome = view_nodes(view, row, part, &nodes);
    for (size_t i = 0; i < nodes.list.n && outcome == DONE; i++)
        add_value_refs(view->db, nodes.list.at[i], refs);
    vec_free(&nodes.list);
    return outcome;
}

/* Merges the nodes of two rows, in preorder, after all others. */
static void join_nodes(struct view *view, struct row *row, const struct row *other)
{
    uint32_t first = (uint32_t)view->nodes.n, n = row->n_nodes + other->n_nodes;
    vec_reserve(&view->nodes, n);
    const struct row_node *a = view->nodes.at + row->first_node, *b = view->nodes.at + other->first_node;
    const struct row_node *end_a = a + row->n_nodes, *end_b = b + other->n_nodes;
    while (a < end_a || b < end_b) {
        bool is_a = b == end_b || (a < end_a && a->node < b->node);
        view->nodes.at[view->nodes.n++] = is_a ? *a++ : *b++;
    }
    row->first_node = first;
    row->n_nodes = n;
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
    if (other->kind == KIND_PROCEDURE)
        row->kind = KIND_PROCEDURE;
    join_nodes(view, row, other);
}

void view_join(struct view *view, uint32_t parent, const uint32_t *groups)
{
    autofree struct idmap rows = {0};
    uint32_t first = view_row(view, parent)->first_child, kept = first;
    uint32_t n = view_row(view, parent)->n_children;
    assert(n == 0 || first + n == view->rows.n);
    forget_sums(view, first);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t row = groups[i] == NOTHING ? IDMAP_NONE : idmap_get(&rows, groups[i], 0);
        if (row != IDMAP_NONE) {
            join_row(view, row, first + i);
            continue;
        }
        view->rows.at[kept] = view->rows.at[first + i];
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
        view->rows.at[i - 1] = view->rows.at[i];
    forget_sums(view, child);
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
    for (size_t i = first; i < view->rows.n && !view->class->cost; i++)
        if (view->rows.at[i].n_nodes && view->rows.at[i].first_node < view->nodes.n)
            view->nodes.n = view->rows.at[i].first_node;
    forget_sums(view, first);
    view->rows.n = view->order.n = first;
}

#include "viewer-tui/tree/view.h"

#include "viewer-tui/db/fold.h"
#include "viewer-tui/metrics/derived.h"
#include "viewer-tui/tree/thread-statistics.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add_costs_for(struct view *view, size_t n_rows)
{
    size_t needed = n_rows * view->n_metrics;
    if (needed > view->costs_size) {
        view->costs_size = needed * 2 + 64;
        view->costs = mem_resize(view->costs, view->costs_size, sizeof *view->costs);
    }
    memset(view->costs + (n_rows - 1) * view->n_metrics, 0, view->n_metrics * sizeof *view->costs);
}

static uint32_t append(struct view *view, struct row row)
{
    uint32_t number = (uint32_t)view->rows.n;
    vec_push(&view->rows, row);
    vec_push(&view->order, number);
    add_costs_for(view, view->rows.n);
    return number;
}

static enum outcome terms_of(void *view, uint32_t row, enum cost_part part, struct value_refs *refs)
{
    return view_value_refs(view, row, part, refs);
}

struct view *view_new(const struct view_class *class, struct database *db,
                      const struct metrics *metrics)
{
    struct view *view = mem_alloc(sizeof *view);
    view->class = class;
    view->db = db;
    view->metrics = metrics;
    view->n_metrics = metrics->n_stored;
    view->statistics = thread_statistics_new(db, terms_of, view);
    append(view, (struct row){.kind = KIND_ROOT, .place = NOTHING, .call_file = NOTHING});
    view->totals = mem_alloc((view->n_metrics + 1) * sizeof *view->totals);
    view->scratch = mem_alloc((view->n_metrics + 1) * sizeof *view->scratch);
    return view;
}

struct view *view_open(const struct view_class *class, struct database *db, const struct cct *cct)
{
    struct view *view = view_new(class, db, &db->metrics);
    view->cct = cct;
    database_totals(db, view->totals);
    memcpy(view->costs, view->totals, view->n_metrics * sizeof *view->costs);
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
    thread_statistics_free(view->statistics);
    free(view->scratch);
    free(view);
}

void view_sort(struct view *view, struct sorting sorting)
{
    view->sorting = sorting;
    view->sorting_number++;
    thread_statistics_resume(view->statistics);
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

/* `row` NOTHING: the costs are of no row, so values of threads are unknown. */
static double cost_in(const struct view *view, const struct cost *costs, uint32_t row,
                      size_t metric, enum cost_part part)
{
    if (metric >= view->metrics->n)
        return 0;
    if (metric < view->n_metrics)
        return part == INCLUSIVE ? costs[metric].inclusive : costs[metric].exclusive;
    struct derived_row of = {.costs = costs,
                             .program = view->totals,
                             .threads = row == NOTHING ? NULL : thread_statistics_value,
                             .statistics = view->statistics,
                             .number = row};
    return derived_value(view->metrics, metric, &of, part);
}

double view_cost(const struct view *view, uint32_t row, size_t metric, enum cost_part part)
{
    return cost_in(view, view_costs(view, row), row, metric, part);
}

/* Arguments of view_gather. */
struct gathering {
    struct view *view;
    const uint32_t *rows;
    size_t n;
};

static bool gather(void *context, size_t metric)
{
    const struct gathering *gathering = context;
    return thread_statistics_gather(gathering->view->statistics, gathering->rows, gathering->n,
                                    metric) == DONE;
}

void view_gather(struct view *view, const uint32_t *rows, size_t n, size_t metric)
{
    struct gathering gathering = {view, rows, n};
    derived_thread_needs(view->metrics, metric, gather, &gathering);
}

double view_value(const struct view *view, const struct cost *costs, size_t metric,
                  enum cost_part part)
{
    return cost_in(view, costs, NOTHING, metric, part);
}

double view_total(const struct view *view, size_t metric)
{
    return cost_in(view, view->totals, 0, metric, INCLUSIVE);
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

/* They are the costs of context 0, or where these are missing those of the entry points. */
void view_program_value_refs(const struct view *view, struct value_refs *refs)
{
    bool has_totals = values_position(&view->db->values, 0, 0) != NO_POSITION;
    if (has_totals)
        value_refs_add_inclusive(refs, 0);
    for (uint32_t i = 0; i < view->db->entries.n && !has_totals; i++) {
        struct v4_entry entry;
        if (database_entry(view->db, i, &entry, NULL))
            value_refs_add_inclusive(refs, entry.context_id);
    }
}

/* The values in the file that are added up for a context of a folded database. */
static void unfold_ref(const struct fold_part *parts, size_t n, struct value_ref folded,
                       struct value_refs *refs)
{
    for (size_t i = 0; i < n; i++) {
        struct value_ref ref = {parts[i].id, folded.scope, parts[i].role == PART_LEFT};
        if (!fold_part_counts(parts[i], folded.scope == METRIC_EXECUTION))
            continue;
        if (parts[i].role == PART_INLINED)
            ref.scope = METRIC_FUNCTION;
        vec_push(&refs->list, ref);
    }
}

static void unfold_refs(const struct view *view, struct value_refs *refs)
{
    struct value_refs unfolded = {0};
    if (!view->db || !view->db->fold)
        return;
    for (size_t i = 0; i < refs->list.n; i++) {
        size_t n;
        const struct fold_part *parts = fold_parts(view->db, refs->list.at[i].context, &n);
        unfold_ref(parts, n, refs->list.at[i], &unfolded);
    }
    vec_free(&refs->list);
    *refs = unfolded;
}

enum outcome view_value_refs(struct view *view, uint32_t row, enum cost_part part,
                             struct value_refs *refs)
{
    if (!view->class->refs)
        return FAILED;
    enum outcome outcome = DONE;
    if (row == 0 && part == INCLUSIVE)
        view_program_value_refs(view, refs);
    else
        outcome = view->class->refs(view, row, part, refs);
    unfold_refs(view, refs);
    return outcome;
}

static void move_row(struct view *view, uint32_t to, uint32_t from)
{
    size_t n = view->n_metrics;
    view->rows.at[to] = view->rows.at[from];
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
    struct idmap rows = {0};
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
    idmap_free(&rows);
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

void view_start_walk(struct view *view)
{
    view->visited = 0;
    if (view->class->start_walk)
        view->class->start_walk(view);
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
    thread_statistics_forget(view->statistics, first);
    view->rows.n = view->order.n = first;
}

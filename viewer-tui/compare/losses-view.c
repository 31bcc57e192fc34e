/* The view of losses: the views of all runs in one. A row stands for the rows of the runs that are
 * the same scope. */
#include "viewer-tui/compare/losses.h"

#include "viewer-tui/tree/labels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct loss_view {
    struct view_class class;
    const struct losses *losses;
    struct view **sides;    /* by run */
    VEC(uint32_t) matching; /* n_runs for each row: its rows in the views of runs, or NOTHING */
};

static const uint32_t *rows_in_runs(const struct loss_view *merged, uint32_t row)
{
    return merged->matching.at + row * merged->losses->n_runs;
}

/* ---- which rows are the same ---- */

/* A child of a row in one run. */
struct child {
    size_t run;
    uint32_t row;
    char *procedure; /* identity without call site */
    char *site;      /* "" for none */
    bool lacks_site; /* the run does not know it */
};

typedef VEC(struct child) child_list;

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

static char *take(struct text *text)
{
    text_add(text, "");
    return text->at;
}

static struct child child_of(const struct view *view, size_t run, uint32_t number)
{
    const struct row *row = view_row(view, number);
    struct text identity = {0}, site = {0};
    uint32_t file, line;
    label_place(view, number, &file, &line);
    text_printf(&identity, "%d\n", row->kind);
    label_name(view, number, &identity);
    text_printf(&identity, "\n%s\n%u\n", or_empty(database_file_path(view->db, file)), line);
    if (row_is_procedure(row) || row->kind == KIND_MODULE)
        text_add(&identity, or_empty(database_module_path(view->db, label_module(view, number))));
    if (row->call_line)
        text_printf(&site, "%s\n%u", or_empty(database_file_path(view->db, row->call_file)),
                    row->call_line);
    return (struct child){.run = run,
                          .row = number,
                          .procedure = take(&identity),
                          .site = take(&site),
                          .lacks_site = row->no_call_site || row->has_several_call_sites};
}

/* In the order of runs. */
static void list_children(const struct loss_view *merged, const uint32_t *rows, child_list *list)
{
    for (size_t run = 0; run < merged->losses->n_runs; run++) {
        if (rows[run] == NOTHING)
            continue;
        const struct view *view = merged->sides[run];
        const struct row *row = view_row(view, rows[run]);
        for (uint32_t i = 0; i < row->n_children; i++)
            vec_push(list, child_of(view, run, row->first_child + i));
    }
}

static int compare_children(const void *left, const void *right)
{
    const struct child *a = left, *b = right;
    int result = strcmp(a->procedure, b->procedure);
    if (result == 0)
        result = strcmp(a->site, b->site);
    if (result == 0)
        result = (a->run > b->run) - (a->run < b->run);
    return result ? result : (a->row > b->row) - (a->row < b->row);
}

/* Removes the sites of a procedure's calls if a run does not know one of them. */
static void forget_doubtful_sites(child_list *list)
{
    for (size_t from = 0, to; from < list->n; from = to) {
        bool is_doubtful = false;
        for (to = from; to < list->n; to++) {
            if (strcmp(list->at[to].procedure, list->at[from].procedure) != 0)
                break;
            is_doubtful |= list->at[to].lacks_site;
        }
        for (size_t i = from; is_doubtful && i < to; i++)
            list->at[i].site[0] = '\0';
    }
}

/* Sorts the children so that those that are the same stand together, by runs. */
static void sort_children(child_list *list)
{
    if (list->n == 0)
        return;
    qsort(list->at, list->n, sizeof *list->at, compare_children);
    forget_doubtful_sites(list);
    qsort(list->at, list->n, sizeof *list->at, compare_children);
}

static bool is_same(const struct child *a, const struct child *b)
{
    return strcmp(a->procedure, b->procedure) == 0 && strcmp(a->site, b->site) == 0;
}

static void free_children(child_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        free(list->at[i].procedure);
        free(list->at[i].site);
    }
    vec_free(list);
}

/* ---- costs ---- */

static double value_of(const struct cost *costs, size_t metric, size_t n, enum cost_part part)
{
    if (metric >= n)
        return 0;
    return part == INCLUSIVE ? costs[metric].inclusive : costs[metric].exclusive;
}

/* Adds the share of a run in the means of its group. */
static void add_run(const struct loss_view *merged, size_t run, const struct cost *costs,
                    enum cost_part part, double *values)
{
    const struct loss_sources *from = &merged->losses->sources[run];
    double share = 1 / (double)merged->losses->groups.at[from->group].n_runs;
    size_t n = merged->sides[run]->n_metrics;
    double *group = values + from->group * LOSS_PARTS;
    group[WORK_DONE] += share * value_of(costs, from->work, n, part);
    group[LOST_OVERHEAD] += share * value_of(costs, from->overhead, n, part);
    group[LOST_IDLENESS] += share * value_of(costs, from->idleness, n, part);
}

/* Sets one part of the costs from those of the runs; NULL for a run without the scope. */
static void set_costs(const struct loss_view *merged, const struct cost *const *of_runs,
                      enum cost_part part, struct cost *costs)
{
    const struct losses *losses = merged->losses;
    size_t n = losses->metrics.n_stored;
    double *values = mem_alloc(n * sizeof *values);
    for (size_t run = 0; run < losses->n_runs; run++)
        if (of_runs[run])
            add_run(merged, run, of_runs[run], part, values);
    bool has_one = losses->one < losses->groups.n;
    double one = has_one ? values[losses->one * LOSS_PARTS + WORK_DONE] : 0;
    for (size_t m = 0; m < n; m += LOSS_PARTS) {
        double *group = values + m, waste = group[LOST_OVERHEAD] + group[LOST_IDLENESS];
        group[INFLATION] = group[WORK_DONE] - one;
        group[LOSS] = group[INFLATION] + waste;
        group[EFFORT_MADE] = group[WORK_DONE] + waste;
    }
    for (size_t m = 0; m < n; m++)
        *(part == INCLUSIVE ? &costs[m].inclusive : &costs[m].exclusive) = values[m];
    free(values);
}

static void add_costs(struct view *view, uint32_t number)
{
    const struct loss_view *merged = view->state;
    const uint32_t *rows = rows_in_runs(merged, number);
    const struct cost **of_runs = mem_alloc(merged->losses->n_runs * sizeof *of_runs);
    for (size_t run = 0; run < merged->losses->n_runs; run++)
        if (rows[run] != NOTHING)
            of_runs[run] = view_costs(merged->sides[run], rows[run]);
    set_costs(merged, of_runs, INCLUSIVE, view_costs_of_new(view, number));
    set_costs(merged, of_runs, EXCLUSIVE, view_costs_of_new(view, number));
    free(of_runs);
}

/* ---- rows ---- */

/* The run whose names and places a row shows: the first that has it. */
static size_t run_shown(const struct loss_view *merged, const uint32_t *rows)
{
    size_t run = 0;
    while (run + 1 < merged->losses->n_runs && rows[run] == NOTHING)
        run++;
    return run;
}

/* Adds the row for children that are the same, at most one of each run. */
static void add_row(struct view *view, uint32_t parent, const struct child *children, size_t n)
{
    struct loss_view *merged = view->state;
    size_t n_runs = merged->losses->n_runs;
    const struct child *first = &children[0];
    const struct row *from = view_row(merged->sides[first->run], first->row);
    struct row row = {.kind = from->kind,
                      .is_leaf = true,
                      .place = from->place,
                      .line = from->line,
                      .call_file = from->call_file,
                      .call_line = from->call_line,
                      .no_call_site = from->no_call_site};
    vec_reserve(&merged->matching, n_runs);
    uint32_t *rows = merged->matching.at + merged->matching.n;
    for (size_t run = 0; run < n_runs; run++)
        rows[run] = NOTHING;
    merged->matching.n += n_runs;
    for (size_t i = 0; i < n; i++) {
        const struct row *other = view_row(merged->sides[children[i].run], children[i].row);
        rows[children[i].run] = children[i].row;
        row.is_leaf &= other->is_leaf;
        row.has_several_call_sites |=
            other->has_several_call_sites || other->call_line != from->call_line;
    }
    add_costs(view, view_add(view, parent, row));
}

/* Joins children of a run that are the same. `children`: sorted. */
static void join_in_run(const struct loss_view *merged, size_t run, uint32_t row,
                        const child_list *children)
{
    struct view *view = merged->sides[run];
    uint32_t first = view_row(view, row)->first_child, n = view_row(view, row)->n_children;
    uint32_t *groups = mem_alloc((n + 1) * sizeof *groups);
    uint32_t number = 0;
    bool has_same = false;
    for (size_t i = 0; i < children->n; i++) {
        const struct child *child = &children->at[i];
        bool is_new = i == 0 || !is_same(child, child - 1);
        number += is_new;
        if (child->run == run)
            groups[child->row - first] = number;
        has_same |= child->run == run && !is_new && child[-1].run == run;
    }
    if (has_same && view->class->join)
        view_join(view, row, groups);
    free(groups);
}

static void join_same_children(const struct loss_view *merged, const uint32_t *rows)
{
    child_list children = {0};
    list_children(merged, rows, &children);
    sort_children(&children);
    for (size_t run = 0; run < merged->losses->n_runs; run++)
        if (rows[run] != NOTHING)
            join_in_run(merged, run, rows[run], &children);
    free_children(&children);
}

static void add_rows(struct view *view, uint32_t parent, const uint32_t *rows)
{
    child_list children = {0};
    list_children(view->state, rows, &children);
    sort_children(&children);
    for (size_t from = 0, to; from < children.n; from = to) {
        for (to = from + 1; to < children.n; to++)
            if (!is_same(&children.at[from], &children.at[to]) ||
                children.at[to].run == children.at[to - 1].run)
                break;
        add_row(view, parent, children.at + from, to - from);
    }
    free_children(&children);
}

static void release_runs(const struct loss_view *merged, uint32_t row)
{
    const uint32_t *rows = rows_in_runs(merged, row);
    for (size_t run = 0; run < merged->losses->n_runs; run++)
        if (rows[run] != NOTHING)
            view_release(merged->sides[run], rows[run]);
}

static enum outcome loss_expand(struct view *view, uint32_t number)
{
    struct loss_view *merged = view->state;
    size_t n_runs = merged->losses->n_runs, size = n_runs * sizeof(uint32_t);
    const uint32_t *known = rows_in_runs(merged, number);
    for (size_t run = 0; run < n_runs; run++)
        if (known[run] != NOTHING && view_expand(merged->sides[run], known[run]) != DONE) {
            release_runs(merged, number);
            return STOPPED;
        }
    uint32_t *rows = mem_alloc(size); /* since `known` moves when rows are added */
    memcpy(rows, known, size);
    join_same_children(merged, rows);
    add_rows(view, number, rows);
    free(rows);
    return DONE;
}

static void loss_release(struct view *view, uint32_t first)
{
    struct loss_view *merged = view->state;
    release_runs(merged, view_row(view, first)->parent);
    merged->matching.n = first * merged->losses->n_runs;
}

static void loss_start_walk(struct view *view)
{
    const struct loss_view *merged = view->state;
    for (size_t run = 0; run < merged->losses->n_runs; run++)
        view_start_walk(merged->sides[run]);
}

static const struct view *loss_origin(const struct view *view, uint32_t *row)
{
    const struct loss_view *merged = view->state;
    const uint32_t *rows = rows_in_runs(merged, *row);
    size_t run = run_shown(merged, rows);
    *row = rows[run];
    return merged->sides[run];
}

static void loss_close(struct view *view)
{
    struct loss_view *merged = view->state;
    for (size_t run = 0; run < merged->losses->n_runs; run++)
        view_close(merged->sides[run]);
    vec_free(&merged->matching);
    free(merged->sides);
    free(merged);
}

/* Row 0, which stands for the whole program in all runs. */
static void set_root(struct view *view)
{
    struct loss_view *merged = view->state;
    size_t n_runs = merged->losses->n_runs;
    const struct cost **totals = mem_alloc(n_runs * sizeof *totals);
    for (size_t run = 0; run < n_runs; run++) {
        vec_push(&merged->matching, 0);
        totals[run] = merged->sides[run]->totals;
    }
    add_costs(view, 0);
    set_costs(merged, totals, INCLUSIVE, view->totals);
    set_costs(merged, totals, EXCLUSIVE, view->totals);
    free(totals);
}

struct view *losses_view(const struct losses *losses, struct view *const *views)
{
    struct loss_view *merged = mem_alloc(sizeof *merged);
    const struct view_class *class = views[0]->class;
    merged->losses = losses;
    merged->sides = mem_alloc(losses->n_runs * sizeof(struct view *));
    for (size_t run = 0; run < losses->n_runs; run++) {
        merged->sides[run] = views[run];
        merged->sides[run]->side = (int)run;
    }
    merged->class = (struct view_class){
        .name = class->name,
        .title = "loss = inflation + overhead + idleness, sums over workers, means over runs; "
                 "inflation: work that one worker does not have",
        .sorted_by = class->sorted_by,
        .shows_callers = class->shows_callers,
        .expand = loss_expand,
        .release = loss_release,
        .close = loss_close,
        .start_walk = loss_start_walk,
        .origin = loss_origin};
    struct view *view = view_new(&merged->class, NULL, &losses->metrics);
    view->state = merged;
    set_root(view);
    view_sort(view, (struct sorting){.metric = metrics_first_measured(&losses->metrics),
                                     .part = class->sorted_by});
    return view;
}

#include "viewer-tui/compare/join-calls.h"

#include "viewer-tui/base/text.h"
#include "viewer-tui/tree/labels.h"

#include <stdlib.h>
#include <string.h>

/* A call of a procedure; in the bottom-up view, a caller. */
struct call {
    size_t run;
    uint32_t child;   /* index among the children of its run's row */
    char *name;       /* owned */
    const char *file; /* name without folders, "" if unknown */
    bool has_site, is_unknown;
};

typedef VEC(struct call) call_list;

/* Lists the calls among the children of a row; NOTHING has none. */
static void list_calls(call_list *calls, const struct view *view, size_t run, uint32_t parent)
{
    if (parent == NOTHING)
        return;
    const struct row *around = view_row(view, parent);
    for (uint32_t i = 0; i < around->n_children; i++) {
        uint32_t number = around->first_child + i;
        const struct row *row = view_row(view, number);
        if (row->kind != KIND_PROCEDURE && (row->kind != KIND_INLINED || !view->class->shows_callers))
            continue;
        const char *path = label_path(view, number, NULL);
        const struct call call = {.run = run,
                                  .child = i,
                                  .name = label_copy(view, number),
                                  .file = path ? path_name(path) : "",
                                  .has_site = row->call_line != 0,
                                  .is_unknown = row->no_call_site};
        vec_push(calls, call);
    }
}

static void free_calls(call_list *calls)
{
    for (size_t i = 0; i < calls->n; i++)
        free(calls->at[i].name);
    vec_free(calls);
}

static int by_procedure(const void *left, const void *right)
{
    const struct call *a = left, *b = right;
    int result = strcmp(a->name, b->name);
    return result ? result : strcmp(a->file, b->file);
}

/* By procedure, then run and child. */
static int compare(const void *left, const void *right)
{
    const struct call *a = left, *b = right;
    int result = by_procedure(a, b);
    result = result ? result : (a->run > b->run) - (a->run < b->run);
    return result ? result : (a->child > b->child) - (a->child < b->child);
}

/* Whether the calls of one procedure, in order of runs, must be joined. */
static bool are_one(const struct call *calls, size_t n)
{
    bool has_sited = false, has_unsited = false, is_unknown = false, is_one_each = true;
    for (size_t i = 0; i < n; i++) {
        has_sited |= calls[i].has_site;
        has_unsited |= !calls[i].has_site;
        is_unknown |= calls[i].is_unknown;
        is_one_each &= i == 0 || calls[i].run != calls[i - 1].run;
    }
    return has_sited && has_unsited && (is_unknown || is_one_each);
}

/* ---- loops ---- */

/* Expands a loop and the loops in it, and says whether there is a call of one of these procedures. */
static bool has_call_of(const call_list *unknown, struct view *view, uint32_t loop)
{
    bool is_found = false;
    call_list calls = {0};
    view_expand(view, loop);
    list_calls(&calls, view, 0, loop);
    for (size_t i = 0; i < calls.n; i++)
        is_found |= bsearch(&calls.at[i], unknown->at, unknown->n, sizeof *unknown->at, by_procedure) != NULL;
    free_calls(&calls);
    uint32_t first = view_row(view, loop)->first_child, n = view_row(view, loop)->n_children;
    for (uint32_t i = first; i < first + n && !is_found; i++)
        if (view_row(view, i)->kind == KIND_LOOP)
            is_found = has_call_of(unknown, view, i);
    return is_found;
}

static void dissolve_loops(const call_list *unknown, struct view *view, uint32_t row)
{
    for (uint32_t i = 0; i < view_row(view, row)->n_children;) {
        uint32_t child = view_row(view, row)->first_child + i;
        bool is_loop = view_row(view, child)->kind == KIND_LOOP;
        bool has_call = is_loop && has_call_of(unknown, view, child);
        view_release(view, child);
        if (has_call && view_expand(view, child) == DONE)
            view_dissolve(view, row, child);
        else
            i++;
    }
}

/* Replaces loops by their contents if the call from an unknown site may be in them. Bottom-up views have no loops. */
static void look_through_loops(struct view *const *views, size_t n_runs, const uint32_t *rows)
{
    call_list all = {0}, unknown = {0};
    for (size_t run = 0; run < n_runs; run++)
        list_calls(&all, views[run], run, rows[run]);
    for (size_t i = 0; i < all.n; i++)
        if (all.at[i].is_unknown)
            vec_push(&unknown, all.at[i]);
    vec_sort(&unknown, compare);
    for (size_t run = 0; run < n_runs && unknown.n; run++)
        if (rows[run] != NOTHING)
            dissolve_loops(&unknown, views[run], rows[run]);
    vec_free(&unknown); /* its names are those of `all` */
    free_calls(&all);
}

/* ---- groups ---- */

/* Joins the children of a row by groups, and notes the row of each group. */
static void join_groups(struct view *view, uint32_t parent, const uint32_t *groups, joined_calls *joined,
                        size_t run, size_t n_runs)
{
    uint32_t row = view_row(view, parent)->first_child, n = view_row(view, parent)->n_children;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t *of_group = groups[i] == NOTHING ? NULL : &joined->at[groups[i] * n_runs + run];
        bool is_kept = !of_group || *of_group == NOTHING;
        if (is_kept && of_group)
            *of_group = row;
        row += is_kept;
    }
    view_join(view, parent, groups);
}

joined_calls join_calls(struct view *const *views, size_t n_runs, const uint32_t *rows)
{
    joined_calls joined = {0};
    size_t n_rows = 0;
    for (size_t run = 0; run < n_runs; run++)
        n_rows += rows[run] != NOTHING;
    if (n_rows < 2 || !view_can_join(views[0]))
        return joined;
    look_through_loops(views, n_runs, rows);
    uint32_t **groups = mem_alloc(n_runs * sizeof *groups), n_groups = 0;
    call_list calls = {0};
    for (size_t run = 0; run < n_runs; run++) {
        uint32_t n = rows[run] == NOTHING ? 0 : view_row(views[run], rows[run])->n_children;
        groups[run] = mem_alloc((n + 1) * sizeof **groups); /* by child */
        for (uint32_t i = 0; i < n; i++)
            groups[run][i] = NOTHING;
        list_calls(&calls, views[run], run, rows[run]);
    }
    vec_sort(&calls, compare);
    for (size_t first = 0, n; first < calls.n; first += n) {
        n = 1;
        while (first + n < calls.n && by_procedure(&calls.at[first], &calls.at[first + n]) == 0)
            n++;
        if (!are_one(&calls.at[first], n))
            continue;
        for (size_t i = first; i < first + n; i++)
            groups[calls.at[i].run][calls.at[i].child] = n_groups;
        n_groups++;
        for (size_t run = 0; run < n_runs; run++)
            vec_push(&joined, NOTHING);
    }
    for (size_t run = 0; run < n_runs; run++) {
        if (n_groups && rows[run] != NOTHING)
            join_groups(views[run], rows[run], groups[run], &joined, run, n_runs);
        free(groups[run]);
    }
    free(groups);
    free_calls(&calls);
    return joined;
}

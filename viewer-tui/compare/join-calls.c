#include "viewer-tui/compare/join-calls.h"

#include "viewer-tui/base/text.h"
#include "viewer-tui/tree/labels.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A call of a procedure; in the bottom-up view, a caller. */
struct call {
    int side;
    uint32_t child;   /* index among the children of its side's row */
    char *name;       /* owned */
    const char *file; /* name without folders, "" if unknown */
    bool has_site, is_unknown;
};

struct calls {
    struct call *at;
    size_t n, cap;
};

static bool is_call(const struct view *view, const struct row *row)
{
    return row->kind == KIND_PROCEDURE || (row->kind == KIND_INLINED && view->class->shows_callers);
}

static void list_calls(struct calls *calls, const struct view *view, int side, uint32_t parent)
{
    const struct row *around = view_row(view, parent);
    for (uint32_t i = 0; i < around->n_children; i++) {
        uint32_t number = around->first_child + i, file, line;
        const struct row *row = view_row(view, number);
        if (!is_call(view, row))
            continue;
        struct text name = {0};
        label_name(view, number, &name);
        label_place(view, number, &file, &line);
        const char *path = database_file_path(view->db, file);
        const struct call call = {.side = side,
                                  .child = i,
                                  .name = mem_strdup(text_string(&name)),
                                  .file = path ? path_name(path) : "",
                                  .has_site = row->call_line != 0,
                                  .is_unknown = row->no_call_site};
        vec_push(calls, call);
        vec_free(&name);
    }
}

static int compare_procedures(const struct call *a, const struct call *b)
{
    int result = strcmp(a->name, b->name);
    return result ? result : strcmp(a->file, b->file);
}

static int compare(const void *left, const void *right)
{
    const struct call *a = left, *b = right;
    int result = compare_procedures(a, b);
    if (result == 0)
        result = a->side - b->side;
    return result ? result : (a->child > b->child) - (a->child < b->child);
}

/* Whether the calls of one procedure must be joined. */
static bool are_one(const struct call *calls, size_t n)
{
    bool has_sited = false, has_unsited = false, is_unknown = false;
    for (size_t i = 0; i < n; i++) {
        has_sited |= calls[i].has_site;
        has_unsited |= !calls[i].has_site;
        is_unknown |= calls[i].is_unknown;
    }
    bool is_one_each = n == SIDES && calls[0].side != calls[1].side;
    return has_sited && has_unsited && (is_unknown || is_one_each);
}

/* ---- loops ---- */

/* The calls from unknown sites, sorted by procedure. */
static struct calls unknown_calls(struct view *const sides[SIDES], struct row_pair parents)
{
    struct calls all = {0}, unknown = {0};
    for (int side = 0; side < SIDES; side++)
        list_calls(&all, sides[side], side, parents.rows[side]);
    for (size_t i = 0; i < all.n; i++)
        if (all.at[i].is_unknown)
            vec_push(&unknown, all.at[i]);
        else
            free(all.at[i].name);
    vec_free(&all);
    if (unknown.n)
        qsort(unknown.at, unknown.n, sizeof *unknown.at, compare);
    return unknown;
}

static int by_procedure(const void *left, const void *right)
{
    return compare_procedures(left, right);
}

/* Expands a loop and the loops in it, and says whether there is a call of one of these
 * procedures. */
static bool has_call_of(const struct calls *unknown, struct view *view, int side, uint32_t loop)
{
    bool is_found = false;
    struct calls calls = {0};
    view_expand(view, loop);
    list_calls(&calls, view, side, loop);
    for (size_t i = 0; i < calls.n; i++) {
        is_found |= bsearch(&calls.at[i], unknown->at, unknown->n, sizeof *unknown->at,
                            by_procedure) != NULL;
        free(calls.at[i].name);
    }
    vec_free(&calls);
    uint32_t first = view_row(view, loop)->first_child, n = view_row(view, loop)->n_children;
    for (uint32_t i = first; i < first + n && !is_found; i++)
        if (view_row(view, i)->kind == KIND_LOOP)
            is_found = has_call_of(unknown, view, side, i);
    return is_found;
}

static void dissolve_loops(const struct calls *unknown, struct view *view, int side, uint32_t row)
{
    for (uint32_t i = 0; i < view_row(view, row)->n_children;) {
        uint32_t child = view_row(view, row)->first_child + i;
        bool is_loop = view_row(view, child)->kind == KIND_LOOP;
        bool has_call = is_loop && has_call_of(unknown, view, side, child);
        view_release(view, child);
        if (has_call && view_expand(view, child) == DONE)
            view_dissolve(view, row, child);
        else
            i++;
    }
}

static void free_calls(struct calls *calls)
{
    for (size_t i = 0; i < calls->n; i++)
        free(calls->at[i].name);
    vec_free(calls);
}

/* Replaces loops by their contents if the call from an unknown site may be in them. Bottom-up views
 * have no loops. */
static void look_through_loops(struct view *const sides[SIDES], struct row_pair parents)
{
    struct calls unknown = unknown_calls(sides, parents);
    for (int side = 0; side < SIDES && unknown.n; side++)
        dissolve_loops(&unknown, sides[side], side, parents.rows[side]);
    free_calls(&unknown);
}

/* ---- groups ---- */

/* Groups of children to join, for view_join. */
struct groups {
    uint32_t *of[SIDES];
    uint32_t n;
};

static void group_calls(struct groups *groups, const struct calls *calls)
{
    size_t n;
    for (size_t first = 0; first < calls->n; first += n) {
        for (n = 1; first + n < calls->n; n++)
            if (compare_procedures(&calls->at[first], &calls->at[first + n]) != 0)
                break;
        if (!are_one(&calls->at[first], n))
            continue;
        for (size_t i = first; i < first + n; i++)
            groups->of[calls->at[i].side][calls->at[i].child] = groups->n;
        groups->n++;
    }
}

/* The rows that the groups become, by group; NOTHING if the side has none. */
static uint32_t *join_groups(struct view *view, uint32_t parent, const struct groups *groups,
                             int side)
{
    uint32_t *rows = mem_alloc(groups->n * sizeof *rows);
    for (uint32_t i = 0; i < groups->n; i++)
        rows[i] = NOTHING;
    uint32_t row = view_row(view, parent)->first_child;
    uint32_t n = view_row(view, parent)->n_children;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t group = groups->of[side][i];
        bool is_kept = group == NOTHING || rows[group] == NOTHING;
        if (is_kept && group != NOTHING)
            rows[group] = row;
        row += is_kept;
    }
    view_join(view, parent, groups->of[side]);
    return rows;
}

static struct row_pairs join(struct view *const sides[SIDES], struct row_pair parents,
                             const struct groups *groups)
{
    struct row_pairs pairs = {0};
    uint32_t *rows[SIDES];
    for (int side = 0; side < SIDES; side++)
        rows[side] = join_groups(sides[side], parents.rows[side], groups, side);
    for (uint32_t i = 0; i < groups->n; i++)
        if (rows[0][i] != NOTHING && rows[1][i] != NOTHING)
            vec_push(&pairs, (struct row_pair){{rows[0][i], rows[1][i]}});
    for (int side = 0; side < SIDES; side++)
        free(rows[side]);
    return pairs;
}

static bool can_join(struct view *const sides[SIDES], struct row_pair parents)
{
    for (int side = 0; side < SIDES; side++)
        if (!sides[side]->class->join || parents.rows[side] == NOTHING)
            return false;
    return true;
}

struct row_pairs join_calls(struct view *const sides[SIDES], struct row_pair parents)
{
    assert(sides[0]->class == sides[1]->class);
    struct row_pairs pairs = {0};
    if (!can_join(sides, parents))
        return pairs;
    struct calls calls = {0};
    struct groups groups = {0};
    look_through_loops(sides, parents);
    for (int side = 0; side < SIDES; side++) {
        uint32_t n = view_row(sides[side], parents.rows[side])->n_children;
        groups.of[side] = mem_alloc((n + 1) * sizeof **groups.of);
        for (uint32_t i = 0; i < n; i++)
            groups.of[side][i] = NOTHING;
        list_calls(&calls, sides[side], side, parents.rows[side]);
    }
    if (calls.n)
        qsort(calls.at, calls.n, sizeof *calls.at, compare);
    group_calls(&groups, &calls);
    if (groups.n)
        pairs = join(sides, parents, &groups);
    for (int side = 0; side < SIDES; side++)
        free(groups.of[side]);
    free_calls(&calls);
    return pairs;
}

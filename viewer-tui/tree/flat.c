/* The flat view: the program as it is written. Modules > files > procedures > inlined code and
 * loops > statements, each with the costs of all contexts in which it ran.
 *
 * A static scope merges many contexts.
 * - Exclusive costs are summed over these; for a file or module they are the costs of all its code.
 * - Inclusive costs count every cost below any of the contexts once, even if one lies below another
 *   through recursion: the rule of bottomup.c, for each scope.
 * - Inclusive costs of a statement are its own and those of the procedures that it calls. Code
 *   inlined at it is a scope of its own, beside it.
 *
 * All scopes are made in one pass over the contexts when the view is opened. In preorder a cost
 * that covers an interval of contexts is new to a scope unless it begins before the end of the last
 * interval that was counted for that scope. */
#include "viewer-tui/base/task.h"
#include "viewer-tui/tree/view.h"

#include <stdlib.h>
#include <string.h>

/* A value of which one part of a scope's cost is the sum. */
struct scope_value_ref {
    uint32_t scope_and_part; /* 2 * the scope + the part */
    struct value_ref ref;
};

/* The values of all scopes: collected in any order, then sorted by scope. */
struct scope_value_refs {
    VEC(struct scope_value_ref) collected; /* until they are sorted */
    struct value_ref *at;                  /* those of a scope and part together, */
    uint32_t *first;                       /* from first[scope_and_part] on; NULL: not sorted yet */
};

struct static_scope {
    uint32_t parent;                            /* scope, NOTHING for a module */
    uint32_t place, line, call_file, call_line; /* as in struct row */
    uint32_t covered;                           /* contexts before this number have been counted */
    uint8_t kind;
};

struct flat {
    VEC(struct static_scope) scopes;
    struct cost *costs; /* n_metrics for each scope */
    size_t costs_size;
    uint32_t *scope_of;               /* by context; NOTHING for none */
    struct scope_value_refs refs;     /* of all scopes, once they are needed */
    uint32_t *children, *first_child; /* first_child[s] .. first_child[s + 1] - 1 in children;
                                         those of the program stand at s = scopes.n */
};

/* State of a pass over the contexts: either the pass that makes the scopes, or the one
 * that says what their costs are made of. */
struct making {
    struct view *view;
    struct flat *flat;
    struct scope_value_refs *refs; /* NULL when scopes are made */
    uint32_t *procedure_scopes;    /* by id of the procedure; NOTHING for none yet */
    struct idmap scopes;           /* (parent and place, line or call site and kind) -> scope */
    struct line_numbers call_sites;
};

/* ---- values of which costs are sums ---- */

static void collect_value_ref(struct scope_value_refs *refs, uint32_t scope, enum cost_part part,
                              struct value_ref ref)
{
    vec_push(&refs->collected, (struct scope_value_ref){2 * scope + (uint32_t)part, ref});
}

static void sort_value_refs(struct scope_value_refs *refs, uint32_t n_scopes)
{
    size_t n = refs->collected.n, n_keys = 2 * (size_t)n_scopes;
    uint32_t *next = mem_alloc((n_keys + 1) * sizeof *next); /* counts, then places */
    refs->first = mem_alloc((n_keys + 1) * sizeof *refs->first);
    refs->at = mem_alloc((n + 1) * sizeof *refs->at);
    for (size_t i = 0; i < n; i++)
        next[refs->collected.at[i].scope_and_part]++;
    for (size_t key = 0; key < n_keys; key++) {
        refs->first[key + 1] = refs->first[key] + next[key];
        next[key] = refs->first[key];
    }
    for (size_t i = 0; i < n; i++) {
        const struct scope_value_ref *from = &refs->collected.at[i];
        refs->at[next[from->scope_and_part]++] = from->ref;
    }
    vec_free(&refs->collected);
    free(next);
}

static void free_value_refs(struct scope_value_refs *refs)
{
    vec_free(&refs->collected);
    free(refs->at);
    free(refs->first);
    *refs = (struct scope_value_refs){0};
}

/* ---- scopes ---- */

static uint32_t new_scope(struct flat *flat, size_t n_metrics, struct static_scope scope)
{
    uint32_t number = (uint32_t)flat->scopes.n;
    vec_push(&flat->scopes, scope);
    size_t needed = flat->scopes.n * n_metrics;
    if (needed > flat->costs_size) {
        flat->costs_size = needed * 2 + 64;
        flat->costs = mem_resize(flat->costs, flat->costs_size, sizeof *flat->costs);
    }
    memset(flat->costs + number * n_metrics, 0, n_metrics * sizeof *flat->costs);
    return number;
}

/* The scope with this description, made if it is new. Inlined code is identified by the line at
 * which it is inlined, loops and statements by their own line. */
static uint32_t scope_for(struct making *making, struct static_scope scope)
{
    uint64_t line = scope.kind == KIND_INLINED
                        ? line_number_of(&making->call_sites, scope.call_file, scope.call_line)
                        : scope.line;
    uint64_t above = (uint64_t)scope.parent << 32 | scope.place;
    uint64_t itself = line << 8 | scope.kind;
    uint32_t number = idmap_get(&making->scopes, above, itself);
    if (number == IDMAP_NONE) {
        number = new_scope(making->flat, making->view->n_metrics, scope);
        idmap_put(&making->scopes, above, itself, number);
    }
    return number;
}

static uint32_t outer_scope(struct making *making, uint32_t parent, enum scope_kind kind,
                            uint32_t place)
{
    return scope_for(
        making, (struct static_scope){
                    .parent = parent, .kind = (uint8_t)kind, .place = place, .call_file = NOTHING});
}

static uint32_t procedure_scope(struct making *making, uint32_t context)
{
    uint32_t id = making->view->cct->place[context];
    if (making->procedure_scopes[id] == NOTHING) {
        struct procedure procedure = database_procedure(making->view->db, id);
        uint32_t module = outer_scope(making, NOTHING, KIND_MODULE, procedure.module);
        uint32_t file = outer_scope(making, module, KIND_FILE, procedure.file);
        making->procedure_scopes[id] = outer_scope(making, file, KIND_PROCEDURE, id);
    }
    return making->procedure_scopes[id];
}

/* The scope of the innermost procedure, inlined procedure or loop around a context. */
static uint32_t scope_around(const struct making *making, uint32_t context)
{
    const struct cct *cct = making->view->cct;
    uint32_t around = cct->parent[context];
    while (cct->kind[around] == KIND_STATEMENT || cct->kind[around] == KIND_INSTRUCTION)
        around = cct->parent[around];
    return making->flat->scope_of[around];
}

/* The scope of an inlined procedure, loop or statement; NOTHING for code outside of procedures. */
static uint32_t inner_scope(struct making *making, uint32_t context)
{
    const struct cct *cct = making->view->cct;
    uint32_t parent = scope_around(making, context);
    if (parent == NOTHING)
        return NOTHING;
    struct static_scope scope = {.parent = parent,
                                 .kind = cct->kind[context],
                                 .place = cct->place[context],
                                 .line = cct->line[context],
                                 .call_file = NOTHING};
    uint32_t call_site = cct_call_site(cct, context);
    if (scope.kind == KIND_INLINED && call_site) {
        scope.call_file = cct->place[call_site];
        scope.call_line = cct->line[call_site];
    }
    return scope_for(making, scope);
}

/* The scope of a context, made if it has none yet. Statements get theirs only if they have costs.
 */
static uint32_t scope_of(struct making *making, uint32_t context)
{
    uint32_t *scope = &making->flat->scope_of[context];
    if (*scope == NOTHING && !making->refs)
        *scope = making->view->cct->kind[context] == KIND_PROCEDURE
                     ? procedure_scope(making, context)
                     : inner_scope(making, context);
    return *scope;
}

static void add_exclusive(struct making *making, uint32_t scope, uint32_t context,
                          const struct cost *from)
{
    const struct cct *cct = making->view->cct;
    if (making->refs) {
        bool is_loop = cct->kind[context] == KIND_LOOP;
        collect_value_ref(making->refs, scope, EXCLUSIVE,
                          value_ref_exclusive(cct->id[context], is_loop));
        return;
    }
    size_t n = making->view->n_metrics;
    struct cost *costs = making->flat->costs + scope * n;
    for (size_t m = 0; m < n; m++)
        costs[m].exclusive += from[m].exclusive;
}

/* Counts the inclusive costs of a context, with `part` INCLUSIVE also those below it, unless they
 * have been counted for the scope. */
static void cover(struct making *making, uint32_t scope, uint32_t context, const struct cost *from,
                  enum cost_part part)
{
    const struct cct *cct = making->view->cct;
    uint32_t *covered = &making->flat->scopes.at[scope].covered;
    if (context < *covered)
        return;
    *covered = part == INCLUSIVE ? cct->end[context] : context + 1;
    if (making->refs) {
        collect_value_ref(making->refs, scope, INCLUSIVE,
                          part == INCLUSIVE ? value_ref_inclusive(cct->id[context])
                                            : value_ref_exclusive(cct->id[context], false));
        return;
    }
    size_t n = making->view->n_metrics;
    struct cost *costs = making->flat->costs + scope * n;
    for (size_t m = 0; m < n; m++)
        costs[m].inclusive += part == INCLUSIVE ? from[m].inclusive : from[m].exclusive;
}

static void add_procedure(struct making *making, uint32_t context, const struct cost *costs)
{
    uint32_t scope = scope_of(making, context);
    for (; scope != NOTHING; scope = making->flat->scopes.at[scope].parent) {
        add_exclusive(making, scope, context, costs);
        cover(making, scope, context, costs, INCLUSIVE);
    }
    uint32_t call_site = cct_call_site(making->view->cct, context);
    uint32_t caller = call_site ? scope_of(making, call_site) : NOTHING;
    if (caller != NOTHING)
        cover(making, caller, context, costs, INCLUSIVE);
}

/* Inlined code belongs to the file and the module of the procedure around it. */
static void add_inlined_or_loop(struct making *making, uint32_t context, const struct cost *costs)
{
    uint32_t scope = scope_of(making, context);
    if (scope == NOTHING)
        return;
    add_exclusive(making, scope, context, costs);
    cover(making, scope, context, costs, INCLUSIVE);
    if (making->view->cct->kind[context] == KIND_LOOP)
        return;
    while (making->flat->scopes.at[scope].kind != KIND_PROCEDURE)
        scope = making->flat->scopes.at[scope].parent;
    while ((scope = making->flat->scopes.at[scope].parent) != NOTHING)
        add_exclusive(making, scope, context, costs);
}

static void add_statement(struct making *making, uint32_t context, const struct cost *costs)
{
    bool has_costs = false;
    for (size_t m = 0; m < making->view->n_metrics; m++)
        has_costs |= costs[m].exclusive != 0;
    uint32_t scope = has_costs ? scope_of(making, context) : NOTHING;
    if (scope == NOTHING)
        return;
    add_exclusive(making, scope, context, costs);
    cover(making, scope, context, costs, EXCLUSIVE);
}

static void add_context(struct making *making, uint32_t context)
{
    struct view *view = making->view;
    enum scope_kind kind = view->cct->kind[context];
    if (kind == KIND_ROOT || kind == KIND_INSTRUCTION)
        return;
    struct cost *costs = view->scratch;
    if (!making->refs || kind == KIND_STATEMENT)
        cct_costs(view->cct, &view->db->values, context, costs);
    if (kind == KIND_PROCEDURE)
        add_procedure(making, context, costs);
    else if (kind == KIND_STATEMENT)
        add_statement(making, context, costs);
    else
        add_inlined_or_loop(making, context, costs);
}

/* Lists the children of each scope, in the order in which they were made. */
static void list_children(struct flat *flat)
{
    uint32_t n = (uint32_t)flat->scopes.n;
    flat->children = mem_alloc((n + 1) * sizeof *flat->children);
    flat->first_child = mem_alloc((n + 2) * sizeof *flat->first_child);
    uint32_t *ends = mem_alloc((n + 1) * sizeof *ends); /* first counts, then ends */
    for (uint32_t s = 0; s < n; s++) {
        uint32_t parent = flat->scopes.at[s].parent;
        ends[parent == NOTHING ? n : parent]++;
    }
    for (uint32_t s = 0; s <= n; s++) {
        flat->first_child[s + 1] = flat->first_child[s] + ends[s];
        ends[s] = flat->first_child[s];
    }
    for (uint32_t s = 0; s < n; s++) {
        uint32_t parent = flat->scopes.at[s].parent;
        flat->children[ends[parent == NOTHING ? n : parent]++] = s;
    }
    free(ends);
}

static uint32_t *nothings(size_t n)
{
    uint32_t *array = mem_resize(NULL, n, sizeof *array);
    memset(array, 0xff, n * sizeof *array);
    return array;
}

static enum outcome pass_over_contexts(struct making *making)
{
    struct view *view = making->view;
    progress_begin("adding up scopes", view->cct->n);
    for (uint32_t context = 1; context < view->cct->n && progress_at(context); context++)
        add_context(making, context);
    return progress_end();
}

static enum outcome make_scopes(struct view *view)
{
    struct flat *flat = view->state;
    struct making making = {
        .view = view, .flat = flat, .procedure_scopes = nothings(database_n_procedures(view->db))};
    flat->scope_of = nothings(view->cct->n);
    enum outcome outcome = pass_over_contexts(&making);
    free(making.procedure_scopes);
    idmap_free(&making.scopes);
    idmap_free(&making.call_sites.ids);
    return outcome;
}

static enum outcome flat_open(struct view *view)
{
    struct flat *flat = view->state = mem_alloc(sizeof *flat);
    enum outcome outcome = make_scopes(view);
    list_children(flat);
    view->rows.at[0].data = flat->scopes.n;
    for (size_t m = 0; m < view->n_metrics; m++)
        view->costs[m].exclusive = view->totals[m].inclusive;
    return outcome;
}

static void flat_close(struct view *view)
{
    struct flat *flat = view->state;
    vec_free(&flat->scopes);
    free(flat->costs);
    free(flat->scope_of);
    free_value_refs(&flat->refs);
    free(flat->children);
    free(flat->first_child);
    free(flat);
}

static enum outcome flat_expand(struct view *view, uint32_t number)
{
    const struct flat *flat = view->state;
    uint64_t scope = view_row(view, number)->data;
    for (uint32_t i = flat->first_child[scope]; i < flat->first_child[scope + 1]; i++) {
        uint32_t child = flat->children[i];
        const struct static_scope *from = &flat->scopes.at[child];
        struct row row = {.kind = from->kind,
                          .is_leaf = flat->first_child[child] == flat->first_child[child + 1],
                          .place = from->place,
                          .line = from->line,
                          .call_file = from->call_file,
                          .call_line = from->call_line,
                          .data = child};
        uint32_t added = view_add(view, number, row);
        memcpy(view_costs_of_new(view, added), flat->costs + child * view->n_metrics,
               view->n_metrics * sizeof *flat->costs);
    }
    return DONE;
}

/* Repeats the pass that made the scopes, to collect the values that it adds up. */
static enum outcome find_terms(struct view *view)
{
    struct flat *flat = view->state;
    struct making making = {.view = view, .flat = flat, .refs = &flat->refs};
    for (size_t s = 0; s < flat->scopes.n; s++)
        flat->scopes.at[s].covered = 0;
    enum outcome outcome = pass_over_contexts(&making);
    if (outcome == DONE)
        sort_value_refs(&flat->refs, (uint32_t)flat->scopes.n);
    else
        free_value_refs(&flat->refs);
    return outcome;
}

static enum outcome flat_value_refs(struct view *view, uint32_t number, enum cost_part part,
                                    struct value_refs *refs)
{
    if (number == 0) {
        view_program_value_refs(view, refs);
        return DONE;
    }
    struct flat *flat = view->state;
    if (!flat->refs.first && find_terms(view) == STOPPED)
        return STOPPED;
    size_t key = 2 * (size_t)view_row(view, number)->data + (size_t)part;
    for (uint32_t i = flat->refs.first[key]; i < flat->refs.first[key + 1]; i++)
        vec_push(&refs->list, flat->refs.at[i]);
    return DONE;
}

const struct view_class flat_class = {
    .name = "flat",
    .title = "the program as it is written: modules, files, procedures, loops, statements",
    .sorted_by = INCLUSIVE,
    .needs_cct = true,
    .open = flat_open,
    .expand = flat_expand,
    .refs = flat_value_refs,
    .close = flat_close,
};

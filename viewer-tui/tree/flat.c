/* The flat view: the program as it is written. Modules > files > procedures > inlined code and
 * loops > statements, each with the costs of all contexts in which it ran.
 *
 * A static scope merges many contexts.
 * - Exclusive costs are summed over these; for a file or module they are the costs of all its code.
 * - Inclusive costs count every cost below any of the contexts once, even if one lies below another
 *   through recursion: the rule of view.h, for each scope.
 * - Inclusive costs of a statement are its own and those of the procedures that it calls. Code
 *   inlined at it is a scope of its own, beside it.
 *
 * All scopes are made and their costs added up in one pass over the nodes when the view is opened.
 * In preorder a cost that covers an interval of nodes is new to a scope
 * unless it begins before the end of the last interval that was counted for that scope. */
#include "viewer-tui/base/task.h"
#include "viewer-tui/db/node-costs.h"
#include "viewer-tui/tree/view.h"

#include <stdlib.h>
#include <string.h>

struct static_scope {
    uint32_t parent;                            /* scope; 0, the program, for a module */
    uint32_t place, line, call_file, call_line; /* as in struct row */
    uint32_t covered;                           /* nodes before this number have been counted */
    uint32_t first_child, last_child, next;     /* 0: none */
    uint8_t kind;
};

struct flat {
    VEC(struct static_scope) scopes;  /* 0 is the program */
    VEC(struct cost) costs;           /* metrics->n_stored for each scope */
    uint32_t *scope_of;               /* by node; NOTHING for none */
};

/* A pass over the nodes: it makes the scopes and adds up their costs, or lists the nodes of some of them. */
struct making {
    const struct view *view;
    struct flat *flat;
    const struct nodes *nodes;
    uint32_t *procedure_scopes; /* by id of the procedure; NOTHING for none yet */
    struct idmap scopes;        /* (parent and place, line or call site and kind) -> scope */
    struct idmap call_sites;
    struct cost *costs;        /* of the current node */
    const uint32_t *number_of; /* by scope: which of the wanted ones; NULL: scopes are made */
    const bool *concerns;      /* by scope: whether it or a scope around it is wanted */
    enum cost_part wanted;
    struct node_refs *refs;
};

/* One part of a scope's cost has that part of the current node's. */
static void take(struct making *making, uint32_t scope, enum cost_part part, uint32_t node, enum cost_part of_node)
{
    if (making->number_of) {
        if (part == making->wanted && making->number_of[scope] != NOTHING)
            vec_push(&making->refs->list,
                     ((struct node_ref){.node = node, .row = making->number_of[scope], .part = of_node}));
        return;
    }
    size_t n = making->view->metrics->n_stored;
    struct cost *costs = making->flat->costs.at + scope * n;
    for (size_t m = 0; m < n; m++) {
        double cost = of_node == INCLUSIVE ? making->costs[m].inclusive : making->costs[m].exclusive;
        *(part == INCLUSIVE ? &costs[m].inclusive : &costs[m].exclusive) += cost;
    }
}

/* ---- scopes ---- */

static void add_scope(struct flat *flat, struct static_scope scope, size_t n_metrics)
{
    vec_push(&flat->scopes, scope);
    for (size_t m = 0; m < n_metrics; m++)
        vec_push(&flat->costs, (struct cost){0});
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
    struct flat *flat = making->flat;
    uint32_t next = (uint32_t)flat->scopes.n, number = idmap_number(&making->scopes, above, itself, next);
    if (number == next) {
        add_scope(flat, scope, making->view->metrics->n_stored);
        struct static_scope *parent = &flat->scopes.at[scope.parent];
        *(parent->first_child ? &flat->scopes.at[parent->last_child].next : &parent->first_child) = number;
        parent->last_child = number;
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

static uint32_t procedure_scope(struct making *making, uint32_t node)
{
    uint32_t id = making->nodes->place[node];
    if (making->procedure_scopes[id] == NOTHING) {
        struct procedure procedure = database_procedure(making->view->db, id);
        uint32_t module = outer_scope(making, 0, KIND_MODULE, procedure.module);
        uint32_t file = outer_scope(making, module, KIND_FILE, procedure.file);
        making->procedure_scopes[id] = outer_scope(making, file, KIND_PROCEDURE, id);
    }
    return making->procedure_scopes[id];
}

/* The scope of an inlined procedure, loop or statement, in that of the innermost procedure, inlined procedure or loop
 * around it; NOTHING for code outside of procedures. */
static uint32_t inner_scope(struct making *making, uint32_t node)
{
    const struct nodes *nodes = making->nodes;
    uint32_t around = nodes->parent[node];
    while (nodes->kind[around] == KIND_STATEMENT || nodes->kind[around] == KIND_INSTRUCTION)
        around = nodes->parent[around];
    struct static_scope scope = {.parent = making->flat->scope_of[around],
                                 .kind = nodes->kind[node],
                                 .place = nodes->place[node],
                                 .line = nodes->line[node],
                                 .call_file = NOTHING};
    if (scope.parent == NOTHING)
        return NOTHING;
    uint32_t call_site = nodes_call_site(nodes, node);
    if (scope.kind == KIND_INLINED && call_site) {
        scope.call_file = nodes->place[call_site];
        scope.call_line = nodes->line[call_site];
    }
    return scope_for(making, scope);
}

/* The scope of a node, made if it has none yet. */
static uint32_t scope_of(struct making *making, uint32_t node)
{
    uint32_t *scope = &making->flat->scope_of[node];
    if (*scope == NOTHING && !making->number_of)
        *scope = making->nodes->kind[node] == KIND_PROCEDURE ? procedure_scope(making, node)
                                                             : inner_scope(making, node);
    return *scope;
}

/* Counts the inclusive costs of a node, with `part` INCLUSIVE also those below it, unless they have been counted for
 * the scope. */
static void cover(struct making *making, uint32_t scope, uint32_t node, enum cost_part part)
{
    uint32_t *covered = &making->flat->scopes.at[scope].covered;
    if (node < *covered)
        return;
    *covered = part == INCLUSIVE ? making->nodes->end[node] : node + 1;
    take(making, scope, INCLUSIVE, node, part);
}

static void add_procedure(struct making *making, uint32_t node)
{
    uint32_t scope = scope_of(making, node);
    for (; scope != 0 && scope != NOTHING; scope = making->flat->scopes.at[scope].parent) {
        take(making, scope, EXCLUSIVE, node, EXCLUSIVE);
        cover(making, scope, node, INCLUSIVE);
    }
    uint32_t call_site = nodes_call_site(making->nodes, node);
    uint32_t caller = call_site ? scope_of(making, call_site) : NOTHING;
    if (caller != NOTHING)
        cover(making, caller, node, INCLUSIVE);
}

/* Inlined code belongs to the file and the module of the procedure around it. */
static void add_inlined_or_loop(struct making *making, uint32_t node)
{
    uint32_t scope = scope_of(making, node);
    if (scope == NOTHING)
        return;
    take(making, scope, EXCLUSIVE, node, EXCLUSIVE);
    cover(making, scope, node, INCLUSIVE);
    if (making->nodes->kind[node] == KIND_LOOP)
        return;
    while (making->flat->scopes.at[scope].kind != KIND_PROCEDURE)
        scope = making->flat->scopes.at[scope].parent;
    while ((scope = making->flat->scopes.at[scope].parent))
        take(making, scope, EXCLUSIVE, node, EXCLUSIVE);
}

/* Statements get a scope only if they have costs. */
static void add_statement(struct making *making, uint32_t node)
{
    bool has_costs = making->number_of;
    for (size_t m = 0; m < making->view->metrics->n_stored && !has_costs; m++)
        has_costs = making->costs[m].exclusive != 0;
    uint32_t scope = has_costs ? scope_of(making, node) : NOTHING;
    if (scope == NOTHING)
        return;
    take(making, scope, EXCLUSIVE, node, EXCLUSIVE);
    cover(making, scope, node, EXCLUSIVE);
}

static enum outcome pass_over_nodes(struct making *making)
{
    const struct nodes *nodes = making->nodes = database_nodes(making->view->db);
    for (size_t s = 0; s < making->flat->scopes.n; s++)
        making->flat->scopes.at[s].covered = 0;
    progress_begin("adding up scopes", nodes->n);
    for (uint32_t node = 1; node < nodes->n && progress_at(node); node++) {
        uint32_t call_site = nodes_call_site(nodes, node);
        uint32_t scope = making->flat->scope_of[node], caller = call_site ? making->flat->scope_of[call_site] : NOTHING;
        if (!making->number_of)
            node_costs_get(making->view->db, node, making->costs);
        else if ((scope == NOTHING || !making->concerns[scope]) && (caller == NOTHING || !making->concerns[caller]))
            continue; /* it is neither in a wanted scope nor called from a wanted statement */
        switch (nodes->kind[node]) {
        case KIND_PROCEDURE: add_procedure(making, node); break;
        case KIND_STATEMENT: add_statement(making, node); break;
        case KIND_INLINED:
        case KIND_LOOP: add_inlined_or_loop(making, node); break;
        default: break;
        }
    }
    return progress_end();
}

static uint32_t *nothings(size_t n)
{
    uint32_t *array = mem_resize(NULL, n, sizeof *array);
    memset(array, 0xff, n * sizeof *array);
    return array;
}

static enum outcome flat_open(struct view *view)
{
    struct flat *flat = view->state = mem_alloc(sizeof *flat);
    autofree struct cost *costs = mem_alloc((view->metrics->n_stored + 1) * sizeof *costs);
    struct making making = {.view = view, .flat = flat, .costs = costs};
    making.procedure_scopes = nothings(database_n_procedures(view->db));
    flat->scope_of = nothings(database_nodes(view->db)->n);
    add_scope(flat, (struct static_scope){.kind = KIND_ROOT}, view->metrics->n_stored);
    enum outcome outcome = pass_over_nodes(&making);
    free(making.procedure_scopes);
    idmap_free(&making.scopes);
    idmap_free(&making.call_sites);
    return outcome;
}

static void flat_close(struct view *view)
{
    autofree struct flat *flat = view->state;
    vec_free(&flat->scopes);
    vec_free(&flat->costs);
    free(flat->scope_of);
}

static enum outcome flat_expand(struct view *view, uint32_t number)
{
    const struct flat *flat = view->state;
    const struct static_scope *around = &flat->scopes.at[view_row(view, number)->scope], *from;
    for (uint32_t child = around->first_child; child; child = from->next) {
        from = &flat->scopes.at[child];
        struct row row = {.kind = from->kind,
                          .is_leaf = !from->first_child,
                          .place = from->place,
                          .line = from->line,
                          .call_file = from->call_file,
                          .call_line = from->call_line,
                          .scope = child};
        view_add(view, number, row);
    }
    return DONE;
}

/* The row of a scope, made with those above it. */
static uint32_t row_of_scope(struct view *view, uint32_t scope)
{
    const struct flat *flat = view->state;
    autofree VEC(uint32_t) way = {0};
    uint32_t row = 0;
    for (; scope; scope = flat->scopes.at[scope].parent)
        vec_push(&way, scope);
    while (way.n) {
        scope = way.at[--way.n];
        view_expand(view, row);
        for (row = view_row(view, row)->first_child; view_row(view, row)->scope != scope;)
            row++;
    }
    return row;
}

uint32_t flat_row_of_node(struct view *view, uint32_t node)
{
    const struct flat *flat = view->state;
    return flat->scope_of[node] == NOTHING ? NOTHING : row_of_scope(view, flat->scope_of[node]);
}

uint32_t flat_row_of_procedure(struct view *view, uint32_t id)
{
    const struct flat *flat = view->state;
    uint32_t found = NOTHING;
    double most = 0;
    for (uint32_t s = 1; s < flat->scopes.n; s++) {
        const struct static_scope *scope = &flat->scopes.at[s];
        if (scope->place != id || (scope->kind != KIND_PROCEDURE && scope->kind != KIND_INLINED))
            continue;
        if (scope->kind == KIND_PROCEDURE)
            return row_of_scope(view, s);
        double cost = view_value(view, formula_cost_in_array, &flat->costs.at[s * view->metrics->n_stored],
                                 view->sorting.metric, INCLUSIVE);
        if (found == NOTHING || cost > most) {
            found = s;
            most = cost;
        }
    }
    return found == NOTHING ? NOTHING : row_of_scope(view, found);
}

static double flat_cost(const struct view *view, uint32_t number, size_t metric, enum cost_part part)
{
    const struct flat *flat = view->state;
    const struct cost *costs = &flat->costs.at[view_row(view, number)->scope * view->metrics->n_stored];
    return formula_cost_in_array(costs, metric, part);
}

static enum outcome flat_nodes(const struct view *view, const uint32_t *rows, size_t n, enum cost_part part,
                               struct node_refs *refs)
{
    struct flat *flat = view->state;
    autofree uint32_t *number_of = nothings(flat->scopes.n);
    autofree bool *concerns = mem_alloc(flat->scopes.n);
    struct making making = {
        .view = view, .flat = flat, .number_of = number_of, .concerns = concerns, .wanted = part, .refs = refs};
    for (uint32_t i = 0; i < n; i++)
        number_of[view_row(view, rows[i])->scope] = i;
    for (size_t s = 1; s < flat->scopes.n; s++) /* a scope comes after that around it */
        concerns[s] = number_of[s] != NOTHING || concerns[flat->scopes.at[s].parent];
    enum outcome outcome = n == 1 && rows[0] == 0 ? DONE : pass_over_nodes(&making);
    return outcome;
}

const struct view_class flat_class = {
    .name = "flat",
    .has_all_code = true,
    .title = "the program as it is written: modules, files, procedures, loops, statements",
    .sorted_by = INCLUSIVE,
    .expand = flat_expand,
    .cost = flat_cost,
    .nodes = flat_nodes,
    .open = flat_open,
    .close = flat_close,
};

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
 * Modules, files and procedures are made and their costs added up in a pass over the nodes when the view is opened; the
 * scopes in a procedure when it is expanded, in a pass over its contexts.
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
    bool has_scopes;  /* of a procedure: there are some in it, */
    bool made_scopes; /* and they have been made */
};

struct flat {
    VEC(struct static_scope) scopes; /* 0 is the program */
    VEC(struct cost) costs;          /* metrics->n_stored for each scope */
    uint32_t *scope_of;              /* by node; NOTHING for none */
    uint32_t *procedure_scopes;      /* by id of the procedure; NOTHING for none yet */
    uint32_t *contexts;       /* nodes of procedures, by procedure, in preorder: */
    uint32_t *first_context;  /* by id: index of the first one; that of the next id is the end */
    struct idmap numbers;     /* (parent and place, line or call site and kind) -> scope */
    struct idmap call_sites;
};

/* A pass over nodes: it adds up the costs of scopes, or lists the nodes of one of them. */
struct making {
    const struct view *view;
    struct flat *flat;
    const struct nodes *nodes;
    struct cost *costs;        /* of the current node */
    uint32_t wanted;      /* the scope whose nodes are listed; 0: costs are added up */
    const bool *concerns; /* by scope: whether it or a scope around it is wanted */
    enum cost_part wanted_part;
    struct node_refs *refs;
};

/* One part of a scope's cost has that part of the current node's. */
static void take(struct making *making, uint32_t scope, enum cost_part part, uint32_t node, enum cost_part of_node)
{
    if (making->wanted) {
        if (part == making->wanted_part && scope == making->wanted)
            vec_push(&making->refs->list, ((struct node_ref){node, of_node}));
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
                        ? line_number_of(&making->flat->call_sites, scope.call_file, scope.call_line)
                        : scope.line;
    uint64_t above = (uint64_t)scope.parent << 32 | scope.place;
    uint64_t itself = line << 8 | scope.kind;
    struct flat *flat = making->flat;
    uint32_t next = (uint32_t)flat->scopes.n, number = idmap_number(&making->flat->numbers, above, itself, next);
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
    uint32_t id = making->nodes->place[node], *scope = &making->flat->procedure_scopes[id];
    if (*scope == NOTHING) {
        struct procedure procedure = database_procedure(making->view->db, id);
        uint32_t module = outer_scope(making, 0, KIND_MODULE, procedure.module);
        uint32_t file = outer_scope(making, module, KIND_FILE, procedure.file);
        *scope = outer_scope(making, file, KIND_PROCEDURE, id);
    }
    return *scope;
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

/* The node of the procedure around a node, or itself; its entry point, or 0, if there is none. */
static uint32_t procedure_around(const struct nodes *nodes, uint32_t node)
{
    node = nodes->procedure[node];
    while (nodes->kind[node] == KIND_INLINED)
        node = nodes_caller(nodes, node);
    return node;
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

/* ---- modules, files, procedures ---- */

static void add_to_outer(struct making *making, uint32_t node)
{
    const struct flat *flat = making->flat;
    bool is_procedure = making->nodes->kind[node] == KIND_PROCEDURE;
    uint32_t scope = flat->scope_of[procedure_around(making->nodes, node)];
    if (scope == NOTHING)
        return;
    /* Inlined code belongs to the file and the module of the procedure around it. */
    for (scope = is_procedure ? scope : flat->scopes.at[scope].parent; scope; scope = flat->scopes.at[scope].parent) {
        take(making, scope, EXCLUSIVE, node, EXCLUSIVE);
        if (is_procedure)
            cover(making, scope, node, INCLUSIVE);
    }
}

/* Notes that the procedure around a node has scopes in it: the node's, or that of the line that calls it. Lines have
 * one only if they have costs, or call a procedure. */
static void note_inner(struct making *making, uint32_t node)
{
    const struct nodes *nodes = making->nodes;
    uint8_t kind = nodes->kind[node];
    if (kind == KIND_PROCEDURE && (node = nodes_call_site(nodes, node)) == 0)
        return;
    uint32_t scope = making->flat->scope_of[procedure_around(nodes, node)];
    bool *has_scopes = scope == NOTHING ? NULL : &making->flat->scopes.at[scope].has_scopes;
    if (has_scopes && !*has_scopes)
        *has_scopes = kind != KIND_STATEMENT || node_has_own_cost(making->view->db, node);
}

/* Makes these scopes, and adds up their costs. */
static enum outcome make_outer(struct making *making)
{
    const struct nodes *nodes = making->nodes;
    struct flat *flat = making->flat;
    progress_begin("adding up scopes", nodes->n);
    for (uint32_t node = 1; node < nodes->n && progress_at(node); node++) {
        uint8_t kind = nodes->kind[node];
        if (kind == KIND_PROCEDURE) {
            flat->scope_of[node] = procedure_scope(making, node);
            flat->first_context[nodes->place[node] + 1]++;
        }
        if (is_procedure_kind(kind)) {
            node_costs_get(making->view->db, node, making->costs);
            add_to_outer(making, node);
        }
        if (is_procedure_kind(kind) || kind == KIND_LOOP || kind == KIND_STATEMENT)
            note_inner(making, node);
    }
    return progress_end();
}

/* Lists the contexts of each procedure; they have been counted. */
static void list_contexts(struct making *making)
{
    const struct nodes *nodes = making->nodes;
    struct flat *flat = making->flat;
    uint32_t n = database_n_procedures(making->view->db);
    autofree uint32_t *next = mem_alloc((n + 1) * sizeof *next);
    for (uint32_t id = 0; id < n; id++)
        next[id + 1] = flat->first_context[id + 1] += flat->first_context[id];
    flat->contexts = mem_alloc((flat->first_context[n] + 1) * sizeof *flat->contexts);
    for (uint32_t node = 1; node < nodes->n; node++)
        if (nodes->kind[node] == KIND_PROCEDURE)
            flat->contexts[next[nodes->place[node]]++] = node;
}

/* ---- in a procedure ---- */

/* The scope of a node in a procedure, made if it has none yet and costs are added up. */
static uint32_t scope_of(struct making *making, uint32_t node)
{
    uint32_t *scope = &making->flat->scope_of[node];
    if (*scope == NOTHING && !making->wanted)
        *scope = inner_scope(making, node);
    return *scope;
}

static void add_inlined_or_loop(struct making *making, uint32_t node)
{
    uint32_t scope = scope_of(making, node);
    if (scope == NOTHING)
        return;
    take(making, scope, EXCLUSIVE, node, EXCLUSIVE);
    cover(making, scope, node, INCLUSIVE);
}

/* Statements get a scope only if they have costs. */
static void add_statement(struct making *making, uint32_t node)
{
    bool has_costs = making->wanted;
    for (size_t m = 0; m < making->view->metrics->n_stored && !has_costs; m++)
        has_costs = making->costs[m].exclusive != 0;
    uint32_t scope = has_costs ? scope_of(making, node) : NOTHING;
    if (scope == NOTHING)
        return;
    take(making, scope, EXCLUSIVE, node, EXCLUSIVE);
    cover(making, scope, node, EXCLUSIVE);
}

/* The line that calls a procedure. */
static void add_to_caller(struct making *making, uint32_t node)
{
    uint32_t call_site = nodes_call_site(making->nodes, node);
    uint32_t caller = call_site ? scope_of(making, call_site) : NOTHING;
    if (caller != NOTHING)
        cover(making, caller, node, INCLUSIVE);
}

static void add_to_inner(struct making *making, uint32_t node)
{
    switch (making->nodes->kind[node]) {
    case KIND_PROCEDURE: add_to_caller(making, node); break;
    case KIND_STATEMENT: add_statement(making, node); break;
    case KIND_INLINED:
    case KIND_LOOP: add_inlined_or_loop(making, node); break;
    default: break;
    }
}

/* Makes the scopes in a procedure, and adds up their costs, in preorder. What it calls is passed over, unless it calls
 * the procedure again. */
static void make_inner(const struct view *view, uint32_t scope)
{
    struct flat *flat = view->state;
    const struct nodes *nodes = database_nodes(view->db);
    autofree struct cost *costs = mem_alloc((view->metrics->n_stored + 1) * sizeof *costs);
    struct making making = {.view = view, .flat = flat, .nodes = nodes, .costs = costs};
    uint32_t id = flat->scopes.at[scope].place;
    uint32_t next = flat->first_context[id], end = flat->first_context[id + 1];
    if (flat->scopes.at[scope].made_scopes)
        return;
    flat->scopes.at[scope].made_scopes = true;
    for (uint32_t node = 0, around_end = 0; next < end || node < around_end;) {
        if (node >= around_end) {
            node = flat->contexts[next];
            around_end = nodes->end[node];
        }
        bool is_procedure = nodes->kind[node] == KIND_PROCEDURE, is_own = is_procedure && nodes->place[node] == id;
        uint32_t in = is_procedure ? nodes_call_site(nodes, node) : node; /* in which procedure it adds to a scope */
        if (in != 0 && flat->scope_of[procedure_around(nodes, in)] == scope) {
            node_costs_get(view->db, node, costs);
            add_to_inner(&making, node);
        }
        next += is_own;
        bool has_own = is_own || !is_procedure || (next < end && flat->contexts[next] < nodes->end[node]);
        node = has_own ? node + 1 : nodes->end[node];
    }
}

/* Makes those in the procedure around a scope, or in itself, if there is one. */
static void make_inner_around(const struct view *view, uint32_t scope)
{
    const struct flat *flat = view->state;
    while (scope != 0 && flat->scopes.at[scope].kind != KIND_PROCEDURE)
        scope = flat->scopes.at[scope].parent;
    if (scope != 0)
        make_inner(view, scope);
}

/* ---- nodes ---- */

/* Lists the nodes of the wanted scope. */
static enum outcome list_nodes(struct making *making)
{
    const struct nodes *nodes = making->nodes;
    const struct flat *flat = making->flat;
    for (size_t s = 0; s < flat->scopes.n; s++)
        flat->scopes.at[s].covered = 0;
    progress_begin("adding up scopes", nodes->n);
    for (uint32_t node = 1; node < nodes->n && progress_at(node); node++) {
        uint32_t call_site = nodes_call_site(nodes, node);
        uint32_t scope = flat->scope_of[node], caller = call_site ? flat->scope_of[call_site] : NOTHING;
        if (scope == NOTHING && nodes->kind[node] == KIND_INLINED) /* not made, but code of a file and a module */
            scope = flat->scope_of[procedure_around(nodes, node)];
        if ((scope == NOTHING || !making->concerns[scope]) && (caller == NOTHING || !making->concerns[caller]))
            continue; /* it is neither in a wanted scope nor called from a wanted statement */
        if (is_procedure_kind(nodes->kind[node]))
            add_to_outer(making, node);
        add_to_inner(making, node);
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
    struct making making = {.view = view, .flat = flat, .nodes = database_nodes(view->db), .costs = costs};
    uint32_t n = database_n_procedures(view->db);
    flat->procedure_scopes = nothings(n);
    flat->first_context = mem_alloc((n + 1) * sizeof *flat->first_context);
    flat->scope_of = nothings(making.nodes->n);
    add_scope(flat, (struct static_scope){.kind = KIND_ROOT}, view->metrics->n_stored);
    enum outcome outcome = make_outer(&making);
    if (outcome == DONE)
        list_contexts(&making);
    return outcome;
}

static void flat_close(struct view *view)
{
    autofree struct flat *flat = view->state;
    vec_free(&flat->scopes);
    vec_free(&flat->costs);
    free(flat->scope_of);
    free(flat->procedure_scopes);
    free(flat->contexts);
    free(flat->first_context);
    idmap_free(&flat->numbers);
    idmap_free(&flat->call_sites);
}

static enum outcome flat_expand(struct view *view, uint32_t number)
{
    const struct flat *flat = view->state;
    make_inner_around(view, view_row(view, number)->scope);
    const struct static_scope *around = &flat->scopes.at[view_row(view, number)->scope], *from;
    for (uint32_t child = around->first_child; child; child = from->next) {
        from = &flat->scopes.at[child];
        struct row row = {.kind = from->kind,
                          .is_leaf = from->kind == KIND_PROCEDURE ? !from->has_scopes : !from->first_child,
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
    uint32_t procedure = flat->scope_of[procedure_around(database_nodes(view->db), node)];
    if (procedure != NOTHING)
        make_inner(view, procedure);
    return flat->scope_of[node] == NOTHING ? NOTHING : row_of_scope(view, flat->scope_of[node]);
}

uint32_t flat_row_of_procedure(struct view *view, uint32_t id)
{
    const struct flat *flat = view->state;
    uint32_t found = NOTHING;
    double most = 0;
    if (flat->procedure_scopes[id] != NOTHING)
        return row_of_scope(view, flat->procedure_scopes[id]);
    for (uint32_t s = 1, n = (uint32_t)flat->scopes.n; s < n; s++)
        if (flat->scopes.at[s].kind == KIND_PROCEDURE)
            make_inner(view, s);
    for (uint32_t s = 1; s < flat->scopes.n; s++) {
        const struct static_scope *scope = &flat->scopes.at[s];
        if (scope->place != id || scope->kind != KIND_INLINED)
            continue;
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

static enum outcome flat_nodes(const struct view *view, uint32_t row, enum cost_part part, struct node_refs *refs)
{
    struct flat *flat = view->state;
    autofree bool *concerns = mem_alloc(flat->scopes.n);
    struct making making = {.view = view, .flat = flat, .nodes = database_nodes(view->db), .refs = refs,
                            .wanted = view_row(view, row)->scope, .wanted_part = part, .concerns = concerns};
    for (size_t s = 1; s < flat->scopes.n; s++) /* a scope comes after that around it */
        concerns[s] = s == making.wanted || concerns[flat->scopes.at[s].parent];
    return list_nodes(&making);
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

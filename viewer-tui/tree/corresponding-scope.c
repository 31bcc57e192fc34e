#include "viewer-tui/tree/corresponding-scope.h"

#include "viewer-tui/db/node-costs.h"
#include "viewer-tui/tree/row-path.h"
#include "viewer-tui/tree/view.h"
#include "viewer-tui/tree/walk.h"

/* What is looked for among the children of a row. */
struct wanted {
    enum scope_kind kind;
    uint32_t place, line;
    bool has_call; /* call_file and call_line matter */
    uint32_t call_file, call_line;
};

/* The first such child in order; NOTHING if there is none. */
static uint32_t find_child(struct view *view, uint32_t row, const struct wanted *wanted)
{
    view_expand(view, row);
    for (uint32_t i = 0; i < view_row(view, row)->n_children; i++) {
        uint32_t number = view_child(view, row, i);
        const struct row *child = view_row(view, number);
        bool is_called_so = !wanted->has_call || (child->call_file == wanted->call_file &&
                                                  child->call_line == wanted->call_line);
        if (child->kind == wanted->kind && child->place == wanted->place &&
            child->line == wanted->line && is_called_so)
            return number;
    }
    return NOTHING;
}

uint32_t corresponding_procedure(struct view *bottomup, const struct view *from, uint32_t row)
{
    row = view_procedure_at(from, row);
    if (!row)
        return NOTHING;
    struct wanted called = {.kind = KIND_PROCEDURE, .place = view_row(from, row)->place};
    struct wanted inlined = {.kind = KIND_INLINED, .place = called.place};
    uint32_t found = find_child(bottomup, 0, &called);
    return found != NOTHING ? found : find_child(bottomup, 0, &inlined);
}

/* The row of a procedure that was called. */
static uint32_t flat_procedure(struct view *flat, uint32_t id)
{
    struct procedure procedure = database_procedure(flat->db, id);
    struct wanted way[] = {{.kind = KIND_MODULE, .place = procedure.module},
                           {.kind = KIND_FILE, .place = procedure.file},
                           {.kind = KIND_PROCEDURE, .place = id}};
    uint32_t row = 0;
    for (size_t i = 0; i < sizeof way / sizeof *way && row != NOTHING; i++)
        row = find_child(flat, row, &way[i]);
    return row;
}

/* Searches for the most expensive inlined copy of a procedure. */
struct copies {
    uint32_t id;
    double most;
    struct path path; /* of the best one so far; empty if none */
};

static void look_at_copy(void *context, struct view *flat, uint32_t number, uint32_t level)
{
    (void)level;
    struct copies *copies = context;
    const struct row *row = view_row(flat, number);
    double cost = view_cost(flat, number, flat->sorting.metric, INCLUSIVE);
    if (row->kind != KIND_INLINED || row->place != copies->id ||
        (copies->path.steps.n && cost <= copies->most))
        return;
    copies->most = cost;
    path_free(&copies->path);
    copies->path = path_of(flat, number);
}

static uint32_t flat_copy(struct view *flat, uint32_t id)
{
    struct copies copies = {.id = id};
    struct limits all = {.depth = NO_DEPTH_LIMIT, .share = -1};
    struct visitor visitor = {.enter = look_at_copy, .context = &copies};
    size_t n;
    walk_view(flat, 0, &all, &visitor);
    uint32_t found = copies.path.steps.n ? path_find(flat, &copies.path, &n) : NOTHING;
    path_free(&copies.path);
    return found;
}

uint32_t corresponding_static_scope(struct view *flat, const struct view *from, uint32_t row)
{
    if (from->class->shows_callers) {
        uint32_t id = view_row(from, row)->place;
        uint32_t found = row ? flat_procedure(flat, id) : NOTHING;
        return found != NOTHING || !row ? found : flat_copy(flat, id);
    }
    autofree VEC(uint32_t) inside = {0}; /* the scopes within the procedure that was called */
    for (; row && view_row(from, row)->kind != KIND_PROCEDURE; row = view_row(from, row)->parent)
        vec_push(&inside, row);
    uint32_t found = row ? flat_procedure(flat, view_row(from, row)->place) : NOTHING;
    while (inside.n && found != NOTHING) {
        const struct row *at = view_row(from, inside.at[--inside.n]);
        struct wanted wanted = {at->kind,      at->place,    at->line, at->kind == KIND_INLINED,
                                at->call_file, at->call_line};
        found = find_child(flat, found, &wanted);
    }
    return found;
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

/* The most expensive context of a row; 0 if there is none. */
static uint32_t hottest_context(const struct view *view, uint32_t row)
{
    enum cost_part part = view->class->shows_callers ? view->sorting.part : INCLUSIVE;
    uint32_t hottest = 0;
    double most = 0;
    autofree struct node_refs contexts = {0};
    if (view_row(view, row)->kind <= KIND_FILE) /* whose exclusive costs are those of all procedures in it */
        return 0;
    view_nodes(view, &row, 1, EXCLUSIVE, &contexts);
    for (size_t i = 0; i < contexts.list.n; i++) {
        uint32_t node = contexts.list.at[i].node;
        bool is_own = view_row(view, row)->kind == KIND_STATEMENT;
        double value = view_value(view, cost_of_node, &(struct node_of_view){view, node}, view->sorting.metric,
                                  is_own ? EXCLUSIVE : part);
        if (!hottest || value > most) {
            hottest = node;
            most = value;
        }
    }
    return hottest;
}

/* The row of a context in the top-down view. */
static uint32_t row_of(struct view *topdown, uint32_t context)
{
    const struct nodes *nodes = database_nodes(topdown->db);
    autofree VEC(uint32_t) way = {0};
    for (uint32_t c = context; c; c = nodes->parent[c])
        if (c == context || (nodes->kind[c] != KIND_STATEMENT && nodes->kind[c] != KIND_INSTRUCTION))
            vec_push(&way, c);
    uint32_t row = 0;
    if (way.n && database_shows_programs(topdown->db)) {
        uint32_t entry = nodes->place[way.at[way.n - 1]];
        struct wanted program = {.kind = KIND_PROGRAM,
                                 .place = database_program_of_entry(topdown->db, entry)};
        row = find_child(topdown, 0, &program);
    }
    while (way.n && row != NOTHING) {
        uint32_t c = way.at[--way.n];
        struct wanted wanted = {
            nodes->kind[c], nodes->place[c], nodes->line[c], is_procedure_kind(nodes->kind[c]), NOTHING, 0};
        uint32_t site = nodes_call_site(nodes, c);
        if (wanted.has_call && site) {
            wanted.call_file = nodes->place[site];
            wanted.call_line = nodes->line[site];
        }
        row = find_child(topdown, row, &wanted);
    }
    return row;
}

uint32_t corresponding_context(struct view *topdown, const struct view *from, uint32_t row)
{
    uint32_t context = row ? hottest_context(from, row) : 0;
    return context ? row_of(topdown, context) : NOTHING;
}

uint32_t call_site_row(struct view *topdown, uint32_t row)
{
    const struct row *called = view_row(topdown, row);
    if (!is_procedure_kind(called->kind))
        return NOTHING;
    struct wanted line = {
        .kind = KIND_STATEMENT, .place = called->call_file, .line = called->call_line};
    uint32_t parent = called->parent;
    uint32_t found = called->call_line ? find_child(topdown, parent, &line) : NOTHING;
    return found != NOTHING ? found : parent;
}

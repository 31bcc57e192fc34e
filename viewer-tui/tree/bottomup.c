/* The bottom-up view: all procedures, and below each its callers.
 *
 * The nodes of a row are contexts of one procedure. On the first level these are all contexts of a procedure, called or
 * inlined. The children of a row divide its nodes by caller: by the procedure one level further out and the line of the
 * call. */
#include "viewer-tui/db/node-costs.h"
#include "viewer-tui/tree/view.h"

/* The division of a row's nodes among its children. */
struct division {
    VEC(struct row_node) nodes;
    VEC(uint32_t) rows;    /* of each node: the child it belongs to */
    struct idmap callers;  /* (procedure, call site) -> child */
    struct idmap call_sites;
    uint32_t first_row;
};

/* The child for nodes with the procedure and call site of `row`. */
static uint32_t child_for(struct view *view, struct division *division, uint32_t parent,
                          struct row row)
{
    uint32_t call_site = line_number_of(&division->call_sites, row.call_file, row.call_line);
    uint32_t next = (uint32_t)view->rows.n;
    uint32_t child = idmap_number(&division->callers, row.place, call_site, next);
    if (child == next)
        view_add(view, parent, row);
    view->rows.at[child].no_call_site |= row.no_call_site;
    return child;
}

static bool has_caller(const struct nodes *nodes, uint32_t frame)
{
    return nodes->kind[nodes_caller(nodes, frame)] != KIND_ROOT;
}

/* Adds a node to the child it belongs to. Inlined copies of a procedure belong to the procedure. */
static void divide_node(const struct view *view, struct division *division, uint32_t child, struct row_node node)
{
    const struct nodes *nodes = database_nodes(view->db);
    struct row *row = &view->rows.at[child];
    vec_push(&division->nodes, node);
    vec_push(&division->rows, child);
    row->kind = nodes->kind[node.frame] == KIND_PROCEDURE ? KIND_PROCEDURE : row->kind;
    row->is_leaf &= !has_caller(nodes, node.frame);
    row->n_nodes++;
}

static void divide_program(struct view *view, struct division *division)
{
    const struct nodes *nodes = database_nodes(view->db);
    size_t n = database_n_procedures(view->db);
    autofree uint32_t *children = mem_alloc(n * sizeof *children), *exposed_ends = mem_alloc(n * sizeof *exposed_ends);
    autofree struct cost *costs = mem_alloc((view->metrics->n_stored + 1) * sizeof *costs);
    for (uint32_t c = 1; c < nodes->n && progress_at(c); c++) {
        uint32_t id = nodes->place[c];
        if (!is_procedure_kind(nodes->kind[c]))
            continue;
        if (!children[id])
            children[id] = view_add(
                view, 0, (struct row){.kind = nodes->kind[c], .is_leaf = true, .place = id, .call_file = NOTHING});
        divide_node(view, division, children[id], (struct row_node){c, c});
        node_costs_get(view->db, c, costs);
        view_add_costs(view, children[id], costs, c >= exposed_ends[id]);
        exposed_ends[id] = c >= exposed_ends[id] ? nodes->end[c] : exposed_ends[id];
    }
}

static void divide_row(struct view *view, struct division *division, uint32_t parent)
{
    const struct nodes *nodes = database_nodes(view->db);
    for (uint32_t i = 0; i < view_row(view, parent)->n_nodes && progress_at(i); i++) {
        struct row_node node = view->nodes.at[view_row(view, parent)->first_node + i];
        if (!has_caller(nodes, node.frame))
            continue;
        uint32_t callee = node.frame;
        node.frame = nodes_caller(nodes, callee);
        struct row row = {.kind = nodes->kind[node.frame], .is_leaf = true, .place = nodes->place[node.frame]};
        row_set_call_site(&row, nodes, callee);
        divide_node(view, division, child_for(view, division, parent, row), node);
    }
}

/* Stores the nodes child by child, in preorder within each. */
static void store_nodes(struct view *view, const struct division *division)
{
    uint32_t end = (uint32_t)view->nodes.n;
    vec_reserve(&view->nodes, division->nodes.n);
    view->nodes.n += division->nodes.n;
    for (size_t child = division->first_row; child < view->rows.n; child++) {
        struct row *row = &view->rows.at[child];
        row->first_node = end;
        end += row->n_nodes;
        row->n_nodes = 0;
    }
    for (size_t i = 0; i < division->nodes.n; i++) {
        struct row *row = &view->rows.at[division->rows.at[i]];
        view->nodes.at[row->first_node + row->n_nodes++] = division->nodes.at[i];
    }
}

static enum outcome bottomup_expand(struct view *view, uint32_t number)
{
    struct division division = {.first_row = (uint32_t)view->rows.n};
    progress_begin("adding up callers",
                   number == 0 ? database_nodes(view->db)->n : view_row(view, number)->n_nodes);
    if (number == 0)
        divide_program(view, &division);
    else
        divide_row(view, &division, number);
    enum outcome outcome = progress_end();
    store_nodes(view, &division);
    vec_free(&division.nodes);
    vec_free(&division.rows);
    idmap_free(&division.callers);
    idmap_free(&division.call_sites);
    return outcome;
}

const struct view_class bottomup_class = {
    .name = "bottom-up",
    .has_all_code = true,
    .title = "procedures, and below each who called it",
    .sorted_by = EXCLUSIVE,
    .shows_callers = true,
    .expand = bottomup_expand,
};

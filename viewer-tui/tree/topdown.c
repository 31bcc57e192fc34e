/* The top-down view: the calling context tree.
 *
 * A call from a line of a procedure, loop or inlined procedure is a child of that scope, beside the
 * line itself, and has the line as its call site. A line is a row (a statement) only if it has
 * costs of its own. Instructions are part of the line or scope around them.
 *
 * If there are several programs, each has a row above its entry points.
 *
 * A row has one node. A program, and a row to which others were joined, have several: the same call, line or loop in
 * two of them is one row below it. */
#include "viewer-tui/db/node-costs.h"
#include "viewer-tui/tree/view.h"

static void add_row(struct view *view, uint32_t parent, uint32_t node)
{
    const struct nodes *nodes = database_nodes(view->db);
    enum scope_kind kind = nodes->kind[node];
    struct row row = {.kind = (uint8_t)kind,
                      .is_leaf = kind == KIND_STATEMENT || nodes->end[node] == node + 1,
                      .place = nodes->place[node],
                      .line = nodes->line[node],
                      .call_file = NOTHING};
    if (is_procedure_kind(kind))
        row_set_call_site(&row, nodes, node);
    view_add(view, parent, row);
    view_add_node(view, node);
}

/* Adds the rows below a node. What is below a line or an instruction belongs to the scope around it. */
static void add_below(struct view *view, uint32_t parent, uint32_t node)
{
    const struct nodes *nodes = database_nodes(view->db);
    for (uint32_t below = node + 1; below < nodes->end[node];) {
        bool is_statement = nodes->kind[below] == KIND_STATEMENT;
        if (nodes->kind[below] != KIND_INSTRUCTION && (!is_statement || node_has_own_cost(view->db, below)))
            add_row(view, parent, below);
        below = is_statement || nodes->kind[below] == KIND_INSTRUCTION ? below + 1 : nodes->end[below];
    }
}

static int compare_entries(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static void add_programs(struct view *view)
{
    const struct nodes *nodes = database_nodes(view->db);
    autofree VEC(uint64_t) entries = {0}; /* with their programs */
    for (uint32_t entry = 1; entry < nodes->n; entry = nodes->end[entry])
        vec_push(&entries, (uint64_t)database_program_of_entry(view->db, nodes->place[entry]) << 32 | entry);
    vec_sort(&entries, compare_entries);
    for (size_t i = 0; i < entries.n; i++) {
        uint32_t program = (uint32_t)(entries.at[i] >> 32);
        if (i == 0 || entries.at[i - 1] >> 32 != program)
            view_add(view, 0, (struct row){.kind = KIND_PROGRAM, .place = program, .call_file = NOTHING});
        view_add_node(view, (uint32_t)entries.at[i]);
    }
}

/* Joins equal ones among the rows that were just made below a row with several nodes. */
static void join_same(struct view *view, uint32_t parent)
{
    uint32_t first = view_row(view, parent)->first_child;
    uint32_t n = (uint32_t)view->rows.n - first;
    autofree uint32_t *groups = mem_alloc((n + 1) * sizeof *groups);
    autofree struct idmap numbers = {0};
    autofree struct idmap call_sites = {0};
    for (uint32_t i = 0; i < n; i++) {
        const struct row *row = view_row(view, first + i);
        uint32_t call_site = line_number_of(&call_sites, row->call_file, row->call_line);
        uint64_t scope = (uint64_t)row->kind << 32 | row->place;
        uint64_t place = (uint64_t)row->line << 32 | call_site;
        groups[i] = idmap_number(&numbers, scope, place, i);
    }
    view->rows.at[parent].n_children = n;
    view_join(view, parent, groups);
}

static enum outcome topdown_expand(struct view *view, uint32_t number)
{
    struct row row = *view_row(view, number); /* a copy: rows move when others are added */
    if (number == 0 && database_shows_programs(view->db))
        add_programs(view);
    else if (number == 0)
        add_below(view, 0, 0);
    for (uint32_t i = row.first_node; i < row.first_node + row.n_nodes; i++)
        if (row.kind == KIND_PROGRAM)
            add_row(view, number, view->nodes.at[i].node);
        else
            add_below(view, number, view->nodes.at[i].node);
    if (row.n_nodes > 1 && row.kind != KIND_PROGRAM)
        join_same(view, number);
    return DONE;
}

const struct view_class topdown_class = {
    .name = "top-down",
    .title = "calling contexts, from the outermost procedure inwards",
    .sorted_by = INCLUSIVE,
    .expand = topdown_expand,
};

#include "viewer-tui/tree/corresponding-scope.h"

#include "viewer-tui/db/node-costs.h"

uint32_t corresponding_procedure(struct view *bottomup, const struct view *from, uint32_t row)
{
    row = view_procedure_at(from, row);
    view_expand(bottomup, 0);
    const struct row *program = view_row(bottomup, 0);
    for (uint32_t found = program->first_child; row && found < program->first_child + program->n_children; found++)
        if (view_row(bottomup, found)->place == view_row(from, row)->place)
            return found;
    return NOTHING;
}

uint32_t corresponding_static_scope(struct view *flat, const struct view *from, uint32_t row)
{
    const struct row *at = view_row(from, row);
    if (row == 0)
        return NOTHING;
    return from->class->shows_callers ? flat_row_of_procedure(flat, at->place)
                                      : flat_row_of_node(flat, from->nodes.at[at->first_node].node);
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
    view_nodes(view, row, EXCLUSIVE, &contexts);
    for (size_t i = 0; i < contexts.list.n; i++) {
        uint32_t node = contexts.list.at[i].node;
        bool is_own = view_row(view, row)->kind == KIND_STATEMENT;
        double value = view_node_value(view, node, view->sorting.metric, is_own ? EXCLUSIVE : part);
        if (!hottest || value > most) {
            hottest = node;
            most = value;
        }
    }
    return hottest;
}

/* The child of a row with the innermost node around a node of the tree, and that node in *innermost. NOTHING if there
 * is none. Calls are rows beside the line that contains them. */
static uint32_t child_around(struct view *topdown, uint32_t row, uint32_t node, uint32_t *innermost)
{
    const struct nodes *nodes = database_nodes(topdown->db);
    uint32_t found = NOTHING;
    view_expand(topdown, row);
    for (uint32_t i = 0; i < view_row(topdown, row)->n_children; i++) {
        uint32_t child = view_row(topdown, row)->first_child + i;
        const struct row *at = view_row(topdown, child);
        for (uint32_t k = at->first_node; k < at->first_node + at->n_nodes; k++) {
            uint32_t around = topdown->nodes.at[k].node;
            if (around <= node && node < nodes->end[around] && (found == NOTHING || around > *innermost)) {
                *innermost = around;
                found = child;
            }
        }
    }
    return found;
}

uint32_t corresponding_context(struct view *topdown, const struct view *from, uint32_t row)
{
    uint32_t context = row ? hottest_context(from, row) : 0, found = context ? 0 : NOTHING, innermost = 0;
    while (found != NOTHING && innermost != context)
        found = child_around(topdown, found, context, &innermost);
    return found;
}

uint32_t call_site_row(struct view *topdown, uint32_t row)
{
    const struct row *called = view_row(topdown, row), *around = view_row(topdown, called->parent);
    if (!is_procedure_kind(called->kind))
        return NOTHING;
    for (uint32_t i = 0; i < around->n_children && called->call_line; i++) {
        uint32_t number = view_child(topdown, called->parent, i);
        const struct row *at = view_row(topdown, number);
        if (at->kind == KIND_STATEMENT && at->place == called->call_file && at->line == called->call_line)
            return number;
    }
    return called->parent;
}

/* The top-down view: the calling context tree.
 *
 * What a procedure, loop or inlined procedure calls from one of its lines is its child, next to
 * the line itself, and remembers the line as its call site; a line is a row, a statement, only
 * where it has costs of its own. Instructions are part of the line or scope around them.
 *
 * A row's data is the offset of its context (or entry point) in meta.db; children are read from
 * there when they are asked for. */
#include "viewer-tui/views/view.h"

#include "viewer-tui/base/problem.h"
#include "viewer-tui/database/context.h"

#include <stdlib.h>
#include <string.h>

/* The contexts below a line or instruction, which become children of the scope around it. */
struct hoisted {
    struct context_range rest;
    uint32_t call_file, call_line;
};

struct topdown {
    VEC(struct hoisted) hoisted;
    uint64_t near; /* where the values of the next context may be */
};

static void topdown_open(struct view *view)
{
    view->state = mem_alloc(sizeof(struct topdown));
}

static void topdown_close(struct view *view)
{
    struct topdown *state = view->state;
    vec_free(&state->hoisted);
    free(state);
}

static uint64_t take_position(struct view *view, uint32_t id)
{
    struct topdown *state = view->state;
    uint64_t position = values_position(&view->db->values, id, state->near);
    if (position != NO_POSITION)
        state->near = position + 1;
    return position;
}

/* A statement has no costs but its own: what it calls stands next to it. It is no row when it has
 * none. */
static void add_statement(struct view *view, uint32_t parent, const struct context *context,
                          uint64_t at)
{
    struct cost *costs = view->scratch;
    values_fetch(&view->db->values, take_position(view, context->id), false, costs);
    bool has_costs = false;
    for (size_t m = 0; m < view->n_metrics; m++) {
        costs[m].inclusive = costs[m].exclusive;
        has_costs |= costs[m].exclusive != 0;
    }
    if (!has_costs)
        return;
    struct row row = {.kind = KIND_STATEMENT,
                      .is_leaf = true,
                      .place = context->place,
                      .line = context->line,
                      .call_file = NOTHING,
                      .data = at};
    uint32_t number = view_add(view, parent, row);
    memcpy(view_costs_of_new(view, number), costs, view->n_metrics * sizeof *costs);
}

static void add_scope(struct view *view, uint32_t parent, const struct context *context,
                      uint64_t at, const struct hoisted *from)
{
    uint64_t position = take_position(view, context->id);
    if (database_leaves_out(view->db, position != NO_POSITION))
        return;
    struct row row = {.kind = (uint8_t)context->kind,
                      .is_leaf = !context_has_children(context),
                      .place = context->place,
                      .line = context->line,
                      .call_file = NOTHING,
                      .data = at};
    if (context->kind != KIND_LOOP) {
        row.call_file = from->call_file;
        row.call_line = from->call_line;
    }
    uint32_t number = view_add(view, parent, row);
    values_fetch(&view->db->values, position, context->kind == KIND_LOOP,
                 view_costs_of_new(view, number));
}

/* Adds the row that a context is, if it is one. */
static void add_context(struct view *view, uint32_t parent, const struct context *context,
                        uint64_t at, const struct hoisted *from)
{
    struct topdown *state = view->state;
    struct hoisted below = {context->children, from->call_file, from->call_line};
    if (context->kind == KIND_STATEMENT) {
        add_statement(view, parent, context, at);
        below.call_file = context->place;
        below.call_line = context->line;
    } else if (context->kind != KIND_INSTRUCTION) {
        add_scope(view, parent, context, at, from);
        return;
    }
    if (context_has_children(context))
        vec_push(&state->hoisted, below);
}

static bool may_go_on(struct view *view)
{
    if (view->visited++ < contexts_limit(view->db))
        return true;
    problem_found(view->db->meta.path, "corrupt: contexts overlap or form a cycle");
    return false;
}

static void add_contexts(struct view *view, uint32_t parent, struct context_range children)
{
    struct topdown *state = view->state;
    state->hoisted.n = 0;
    vec_push(&state->hoisted, (struct hoisted){children, NOTHING, 0});
    while (state->hoisted.n) {
        struct hoisted *top = &state->hoisted.at[state->hoisted.n - 1];
        struct hoisted from = *top;
        struct context context;
        if (!context_next(view->db, &top->rest, &context))
            state->hoisted.n--;
        else if (may_go_on(view))
            add_context(view, parent, &context, from.rest.at, &from);
        else
            return;
    }
}

static void add_entry(struct view *view, uint32_t index)
{
    struct v4_entry entry;
    const char *name;
    if (!database_entry(view->db, index, &entry, &name))
        return;
    uint64_t position = take_position(view, entry.context_id);
    if (database_leaves_out(view->db, position != NO_POSITION))
        return;
    struct row row = {.kind = KIND_ROOT,
                      .is_leaf = entry.children_size == 0,
                      .place = index,
                      .call_file = NOTHING};
    uint32_t number = view_add(view, 0, row);
    values_fetch(&view->db->values, position, false, view_costs_of_new(view, number));
}

/* The context that a row stands for; false, with the problem noted, when it is damaged. */
static bool context_of(struct view *view, const struct row *row, struct context *context)
{
    if (row->kind == KIND_ROOT) {
        struct v4_entry entry;
        const char *name;
        if (!database_entry(view->db, row->place, &entry, &name))
            return false;
        *context = (struct context){.kind = KIND_ROOT,
                                    .id = entry.context_id,
                                    .children = entry_children(view->db, &entry)};
        return true;
    }
    const struct v4_section *section = &view->db->meta.sections[V4_META_CONTEXTS];
    struct context_range range = {row->data, section->at + section->size};
    return context_next(view->db, &range, context);
}

static void topdown_expand(struct view *view, uint32_t number)
{
    if (number == 0) {
        for (uint32_t i = 0; i < view->db->entries.n; i++)
            add_entry(view, i);
        return;
    }
    struct context context;
    if (context_of(view, view_row(view, number), &context))
        add_contexts(view, number, context.children);
}

/* A statement's costs are its own. */
static void topdown_terms(struct view *view, uint32_t number, enum cost_part part,
                          struct terms *terms)
{
    struct context context = {.kind = KIND_ROOT};
    if (number != 0 && !context_of(view, view_row(view, number), &context))
        return;
    if (part == INCLUSIVE && context.kind != KIND_STATEMENT)
        terms_add_inclusive(terms, context.id);
    else
        terms_add_exclusive(terms, context.id, context.kind == KIND_LOOP);
}

const struct view_class topdown_class = {
    .name = "top-down",
    .title = "calling contexts, from the outermost procedure inwards",
    .sorted_by = INCLUSIVE,
    .open = topdown_open,
    .expand = topdown_expand,
    .terms = topdown_terms,
    .close = topdown_close,
};

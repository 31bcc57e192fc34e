/* The top-down view: the calling context tree.
 *
 * A call from a line of a procedure, loop or inlined procedure is a child of that scope, beside the
 * line itself, and has the line as its call site. A line is a row (a statement) only if it has
 * costs of its own. Instructions are part of the line or scope around them.
 *
 * If there are several programs, each has a row above its entry points.
 *
 * A row's data is the offset of its context (or entry point) in meta.db, from which its children
 * are read on demand. A row to which others were joined has several contexts, its *parts*. The same
 * call, line or loop in two parts is one row below it. */
#include "viewer-tui/tree/view.h"

#include "viewer-tui/base/task.h"
#include "viewer-tui/db/context.h"
#include "viewer-tui/db/database.h"

#include <stdlib.h>
#include <string.h>

/* The contexts below a line or instruction; they become children of the scope around it. */
struct hoisted {
    struct context_range rest;
    uint32_t call_file, call_line;
};

/* One of several contexts of a row. */
struct part {
    uint64_t at;
    uint32_t next; /* index of the next part of the row; NOTHING: none */
};

/* Flag in a row's data: the rest is the index of its first part. */
#define HAS_PARTS ((uint64_t)1 << 63)

struct topdown {
    VEC(struct hoisted) hoisted;
    VEC(struct part) parts; /* ordered by row, those of siblings mixed */
    uint64_t near;          /* likely position of the next context's values */
};

static enum outcome topdown_open(struct view *view)
{
    view->state = mem_alloc(sizeof(struct topdown));
    return DONE;
}

static void topdown_close(struct view *view)
{
    struct topdown *state = view->state;
    vec_free(&state->hoisted);
    vec_free(&state->parts);
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

/* A statement has only its own costs, since its calls are siblings. Without costs it is no row. */
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
        row.no_call_site = database_lacks_call_site(view->db, context->id);
    }
    uint32_t number = view_add(view, parent, row);
    values_fetch(&view->db->values, position, context->kind == KIND_LOOP,
                 view_costs_of_new(view, number));
}

/* Adds the row of a context, if it has one. */
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

static void add_entry(struct view *view, uint32_t parent, uint32_t index)
{
    struct v4_entry entry;
    if (!database_entry(view->db, index, &entry, NULL))
        return;
    uint64_t position = take_position(view, entry.context_id);
    if (database_leaves_out(view->db, position != NO_POSITION))
        return;
    struct row row = {.kind = KIND_ROOT,
                      .is_leaf = entry.children_size == 0,
                      .place = index,
                      .call_file = NOTHING};
    uint32_t number = view_add(view, parent, row);
    values_fetch(&view->db->values, position, false, view_costs_of_new(view, number));
}

/* Adds up the costs of a program's entry points; false if none of them is shown. */
static bool add_up_program(struct view *view, uint32_t program, struct cost *costs)
{
    bool has_some = false;
    for (uint32_t i = 0; i < view->db->entries.n; i++) {
        struct v4_entry entry;
        if (database_program_of_entry(view->db, i) != program ||
            !database_entry(view->db, i, &entry, NULL))
            continue;
        uint64_t position = take_position(view, entry.context_id);
        has_some |= !database_leaves_out(view->db, position != NO_POSITION);
        values_fetch(&view->db->values, position, false, view->scratch);
        for (size_t m = 0; m < view->n_metrics; m++)
            costs[m].inclusive += view->scratch[m].inclusive;
    }
    return has_some;
}

static void add_program(struct view *view, uint32_t program)
{
    struct cost *costs = mem_alloc((view->n_metrics + 1) * sizeof *costs);
    if (add_up_program(view, program, costs)) {
        struct row row = {.kind = KIND_PROGRAM, .place = program, .call_file = NOTHING};
        uint32_t number = view_add(view, 0, row);
        memcpy(view_costs_of_new(view, number), costs, view->n_metrics * sizeof *costs);
    }
    free(costs);
}

/* Adds the entry points of a program; NOTHING: of all programs. */
static void add_entries(struct view *view, uint32_t parent, uint32_t program)
{
    for (uint32_t i = 0; i < view->db->entries.n; i++)
        if (program == NOTHING || database_program_of_entry(view->db, i) == program)
            add_entry(view, parent, i);
}

/* The context of an entry point; false, with the problem noted, if it is damaged. */
static bool entry_context(struct view *view, const struct row *row, struct context *context)
{
    struct v4_entry entry;
    if (!database_entry(view->db, row->place, &entry, NULL))
        return false;
    *context = (struct context){
        .kind = KIND_ROOT, .id = entry.context_id, .children = entry_children(view->db, &entry)};
    return true;
}

/* The context at an offset; false, with the problem noted, if it is damaged. */
static bool context_at(struct view *view, uint64_t at, struct context *context)
{
    const struct v4_section *section = &view->db->meta.sections[V4_META_CONTEXTS];
    struct context_range range = {at, section->at + section->size};
    return context_next(view->db, &range, context);
}

/* ---- several contexts in a row ---- */

static uint32_t first_part(const struct row *row)
{
    return row->data & HAS_PARTS ? (uint32_t)row->data : NOTHING;
}

/* Iterate over the contexts of a row: the offset of the first one, and of the one after *part. */
static uint64_t first_offset(const struct topdown *state, const struct row *row, uint32_t *part)
{
    *part = first_part(row);
    return *part == NOTHING ? row->data : state->parts.at[*part].at;
}

static bool next_offset(const struct topdown *state, uint32_t *part, uint64_t *at)
{
    *part = *part == NOTHING ? NOTHING : state->parts.at[*part].next;
    if (*part == NOTHING)
        return false;
    *at = state->parts.at[*part].at;
    return true;
}

static void add_part(struct topdown *state, struct row *row, uint64_t at)
{
    vec_push(&state->parts, (struct part){at, first_part(row)});
    row->data = HAS_PARTS | (uint32_t)(state->parts.n - 1);
}

static void topdown_join(struct view *view, uint32_t into, uint32_t number)
{
    struct topdown *state = view->state;
    struct row *row = &view->rows.at[into];
    const struct row *other = view_row(view, number);
    if (first_part(row) == NOTHING) {
        uint64_t at = row->data;
        row->data = HAS_PARTS | NOTHING;
        add_part(state, row, at);
    }
    uint32_t part;
    uint64_t at = first_offset(state, other, &part);
    do
        add_part(state, row, at);
    while (next_offset(state, &part, &at));
    struct cost *costs = view_costs_of_new(view, into);
    for (size_t m = 0; m < view->n_metrics; m++) {
        costs[m].inclusive += view_costs(view, number)[m].inclusive;
        costs[m].exclusive += view_costs(view, number)[m].exclusive;
    }
}

/* Gives up the parts of rows from `first` on. */
static void topdown_release(struct view *view, uint32_t first)
{
    struct topdown *state = view->state;
    for (size_t i = first; i < view->rows.n; i++)
        for (uint32_t part = first_part(view_row(view, (uint32_t)i)); part < state->parts.n;) {
            uint32_t next = state->parts.at[part].next;
            state->parts.n = part;
            part = next;
        }
}

/* Joins equal ones among the rows that were just made below a row with parts. */
static void join_same(struct view *view, uint32_t parent)
{
    uint32_t first = view_row(view, parent)->first_child;
    uint32_t n = (uint32_t)view->rows.n - first;
    uint32_t *groups = mem_alloc((n + 1) * sizeof *groups);
    struct idmap numbers = {0};
    struct line_numbers call_sites = {0};
    for (uint32_t i = 0; i < n; i++) {
        const struct row *row = view_row(view, first + i);
        uint32_t call_site = line_number_of(&call_sites, row->call_file, row->call_line);
        uint64_t scope = (uint64_t)row->kind << 32 | row->place;
        uint64_t place = (uint64_t)row->line << 32 | call_site;
        groups[i] = idmap_get(&numbers, scope, place);
        if (groups[i] == IDMAP_NONE)
            idmap_put(&numbers, scope, place, groups[i] = i);
    }
    view->rows.at[parent].n_children = n;
    view_join(view, parent, groups);
    idmap_free(&numbers);
    idmap_free(&call_sites.ids);
    free(groups);
}

/* ---- the view ---- */

static enum outcome topdown_expand(struct view *view, uint32_t number)
{
    const struct row *row = view_row(view, number);
    if (row->kind == KIND_PROGRAM) {
        add_entries(view, number, row->place);
        return DONE;
    }
    if (number == 0) {
        if (!database_shows_programs(view->db))
            add_entries(view, 0, NOTHING);
        for (uint32_t i = 0; database_shows_programs(view->db) && i < view->db->programs.n; i++)
            add_program(view, i);
        return DONE;
    }
    const struct topdown *state = view->state;
    struct context context;
    if (view_row(view, number)->kind == KIND_ROOT) {
        if (entry_context(view, view_row(view, number), &context))
            add_contexts(view, number, context.children);
        return DONE;
    }
    uint32_t part;
    uint64_t at = first_offset(state, view_row(view, number), &part);
    do
        if (context_at(view, at, &context))
            add_contexts(view, number, context.children);
    while (next_offset(state, &part, &at));
    if (view_row(view, number)->data & HAS_PARTS)
        join_same(view, number);
    return DONE;
}

/* The values of a program are those of its entry points. */
static void add_program_terms(const struct view *view, uint32_t program, enum cost_part part,
                              struct value_refs *refs)
{
    for (uint32_t i = 0; part == INCLUSIVE && i < view->db->entries.n; i++) {
        struct v4_entry entry;
        if (database_program_of_entry(view->db, i) == program &&
            database_entry(view->db, i, &entry, NULL))
            value_refs_add_inclusive(refs, entry.context_id);
    }
}

/* The inclusive costs of a statement are its exclusive ones. */
static void add_value_refs(const struct context *context, enum cost_part cost,
                           struct value_refs *refs)
{
    if (cost == INCLUSIVE && context->kind != KIND_STATEMENT)
        value_refs_add_inclusive(refs, context->id);
    else
        value_refs_add_exclusive(refs, context->id, context->kind == KIND_LOOP);
}

static enum outcome topdown_value_refs(struct view *view, uint32_t number, enum cost_part cost,
                                       struct value_refs *refs)
{
    const struct row *row = view_row(view, number);
    struct context context = {.kind = KIND_ROOT};
    if (row->kind == KIND_PROGRAM) {
        add_program_terms(view, row->place, cost, refs);
        return DONE;
    }
    if (row->kind == KIND_ROOT) {
        if (number == 0 || entry_context(view, row, &context))
            add_value_refs(&context, cost, refs);
        return DONE;
    }
    uint32_t part;
    uint64_t at = first_offset(view->state, row, &part);
    do
        if (context_at(view, at, &context))
            add_value_refs(&context, cost, refs);
    while (next_offset(view->state, &part, &at));
    return DONE;
}

const struct view_class topdown_class = {
    .name = "top-down",
    .title = "calling contexts, from the outermost procedure inwards",
    .sorted_by = INCLUSIVE,
    .open = topdown_open,
    .expand = topdown_expand,
    .refs = topdown_value_refs,
    .join = topdown_join,
    .release = topdown_release,
    .close = topdown_close,
};

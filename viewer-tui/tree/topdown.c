/* The top-down view: the calling context tree.
 *
 * A call from a line of a procedure, loop or inlined procedure is a child of that scope, beside the
 * line itself, and has the line as its call site. A line is a row (a statement) only if it has
 * costs of its own. Instructions are part of the line or scope around them.
 *
 * If there are several programs, each has a row above its entry points.
 *
 * A row's data is its node. A program, and a row to which others were joined, have several nodes, the
 * row's *parts*. The same call, line or loop in two parts is one row below it. */
#include "viewer-tui/db/node-costs.h"
#include "viewer-tui/tree/view.h"

/* One of several nodes of a row. */
struct part {
    uint32_t node;
    uint32_t next; /* index of the next part of the row; of the last one: that of the first */
};

/* Flag in a row's data: the rest is the index of its last part. */
#define HAS_PARTS ((uint64_t)1 << 63)

struct topdown {
    VEC(struct part) parts; /* ordered by row, those of siblings mixed */
};

static enum outcome topdown_open(struct view *view)
{
    view->state = mem_alloc(sizeof(struct topdown));
    return DONE;
}

static void topdown_close(struct view *view)
{
    autofree struct topdown *state = view->state;
    vec_free(&state->parts);
}

/* ---- the nodes of a row ---- */

/* Iterate over the nodes of a row: the first one, and the one after *part; NOTHING: there are no more. */
static uint32_t first_node(const struct view *view, const struct row *row, uint32_t *part)
{
    const struct topdown *state = view->state;
    *part = NOTHING;
    if (!(row->data & HAS_PARTS))
        return (uint32_t)row->data;
    *part = state->parts.at[(uint32_t)row->data].next;
    return state->parts.at[*part].node;
}

static uint32_t next_node(const struct view *view, const struct row *row, uint32_t *part)
{
    const struct topdown *state = view->state;
    if (!(row->data & HAS_PARTS) || *part == (uint32_t)row->data)
        return NOTHING;
    *part = state->parts.at[*part].next;
    return state->parts.at[*part].node;
}

/* Adds a part to a row without any, or after its last one. */
static void add_part(struct topdown *state, struct row *row, uint32_t node)
{
    uint32_t index = (uint32_t)state->parts.n, first = index;
    if (row->data & HAS_PARTS) {
        struct part *last = &state->parts.at[(uint32_t)row->data];
        first = last->next;
        last->next = index;
    }
    vec_push(&state->parts, ((struct part){node, first}));
    row->data = HAS_PARTS | index;
}

static void topdown_join(struct view *view, uint32_t into, uint32_t number)
{
    struct topdown *state = view->state;
    struct row *row = &view->rows.at[into];
    const struct row *other = view_row(view, number);
    uint32_t part;
    if (!(row->data & HAS_PARTS))
        add_part(state, row, (uint32_t)row->data);
    for (uint32_t node = first_node(view, other, &part); node != NOTHING; node = next_node(view, other, &part))
        add_part(state, row, node);
}

/* Gives up the parts of rows from `first` on. */
static void topdown_release(struct view *view, uint32_t first)
{
    struct topdown *state = view->state;
    for (size_t i = first; i < view->rows.n; i++) {
        const struct row *row = &view->rows.at[i];
        uint32_t part;
        for (uint32_t node = first_node(view, row, &part); node != NOTHING; node = next_node(view, row, &part))
            if (part < state->parts.n)
                state->parts.n = part;
    }
}

/* What a row has of its nodes' costs. The inclusive costs of a statement are its exclusive ones, since its calls are
 * siblings; a program has no code outside of its entry points. */
static bool takes_part(const struct row *row, enum cost_part *part)
{
    if (row->kind == KIND_STATEMENT)
        *part = EXCLUSIVE;
    return row->kind != KIND_PROGRAM || *part == INCLUSIVE;
}

static double topdown_cost(const struct view *view, uint32_t number, size_t metric, enum cost_part part)
{
    const struct row *row = view_row(view, number);
    uint32_t at;
    double sum = 0;
    if (!takes_part(row, &part))
        return 0;
    for (uint32_t node = first_node(view, row, &at); node != NOTHING; node = next_node(view, row, &at))
        sum += node_cost(view->db, node, metric, part);
    return sum;
}

static enum outcome topdown_nodes(struct view *view, const uint32_t *rows, size_t n, enum cost_part part,
                                  struct node_refs *refs)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct row *row = view_row(view, rows[i]);
        enum cost_part taken = part;
        uint32_t at;
        if (!takes_part(row, &taken))
            continue;
        for (uint32_t node = first_node(view, row, &at); node != NOTHING; node = next_node(view, row, &at))
            vec_push(&refs->list, ((struct node_ref){.node = node, .row = i, .part = taken}));
    }
    return DONE;
}

/* ---- rows ---- */

static void add_row(struct view *view, uint32_t parent, uint32_t node)
{
    const struct nodes *nodes = database_nodes(view->db);
    enum scope_kind kind = nodes->kind[node];
    struct row row = {.kind = (uint8_t)kind,
                      .is_leaf = kind == KIND_STATEMENT || nodes->end[node] == node + 1,
                      .place = nodes->place[node],
                      .line = nodes->line[node],
                      .call_file = NOTHING,
                      .data = node};
    if (is_procedure_kind(kind))
        row_set_call_site(&row, nodes, node);
    view_add(view, parent, row);
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

static void add_programs(struct view *view)
{
    const struct nodes *nodes = database_nodes(view->db);
    for (uint32_t program = 0; program < view->db->programs.n; program++) {
        struct row row = {.kind = KIND_PROGRAM, .place = program, .call_file = NOTHING};
        for (uint32_t entry = 1; entry < nodes->n; entry = nodes->end[entry])
            if (database_program_of_entry(view->db, nodes->place[entry]) == program)
                add_part(view->state, &row, entry);
        if (row.data & HAS_PARTS)
            view_add(view, 0, row);
    }
}

/* Joins equal ones among the rows that were just made below a row with parts. */
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
    uint32_t part;
    if (number == 0 && database_shows_programs(view->db)) {
        add_programs(view);
        return DONE;
    }
    for (uint32_t node = first_node(view, &row, &part); node != NOTHING; node = next_node(view, &row, &part))
        if (row.kind == KIND_PROGRAM)
            add_row(view, number, node);
        else
            add_below(view, number, node);
    if (row.data & HAS_PARTS && row.kind != KIND_PROGRAM)
        join_same(view, number);
    return DONE;
}

const struct view_class topdown_class = {
    .name = "top-down",
    .title = "calling contexts, from the outermost procedure inwards",
    .sorted_by = INCLUSIVE,
    .open = topdown_open,
    .expand = topdown_expand,
    .nodes = topdown_nodes,
    .cost = topdown_cost,
    .join = topdown_join,
    .release = topdown_release,
    .close = topdown_close,
};

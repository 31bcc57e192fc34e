/* The bottom-up view: all procedures, and below each its callers.
 *
 * A row is a set of *instances*, contexts of one procedure. On the first level these are all
 * contexts of a procedure, called or inlined. The children of a row divide its instances by caller:
 * by the procedure one level further out and the line of the call.
 *
 * Costs are added up by the rule for recursion in Adhianto, Mellor-Crummey, Tallent, "Effectively
 * presenting call path profiles of application performance" (PSTI 2010):
 * - Exclusive costs of contexts never overlap, so they are summed over all instances of the row.
 * - Inclusive costs of an instance include those of instances below it, so only *exposed* instances
 *   count: those without another instance of the row above them.
 * - An instance that is not exposed in a row may be exposed in a child of the row. Therefore the
 *   children's inclusive costs may add up to more than the row's.
 *
 * Instances are visited in preorder: one is exposed unless it lies before the end of the last
 * exposed one. */
#include "viewer-tui/db/node-costs.h"
#include "viewer-tui/tree/view.h"

#include <math.h>
#include <stdlib.h>

/* An instance, and its context of the row's procedure: the instance itself on the first level,
 * below that its callers. */
struct instance {
    uint32_t context, frame;
};

typedef VEC(double) cost_column;

/* A row's data is the index of its first instance and their number. They are in preorder. */
struct bottomup {
    VEC(struct instance) instances;
    cost_column *sums; /* by 2 * metric + part: the costs of rows, NAN if not added up yet */
};

static uint64_t pack(uint32_t start, uint32_t count)
{
    return (uint64_t)start << 32 | count;
}

static enum outcome bottomup_open(struct view *view)
{
    struct bottomup *state = view->state = mem_alloc(sizeof *state);
    state->sums = mem_alloc((2 * view->n_metrics + 1) * sizeof *state->sums);
    return DONE;
}

static void bottomup_close(struct view *view)
{
    autofree struct bottomup *state = view->state;
    for (size_t i = 0; i < 2 * view->n_metrics; i++)
        vec_free(&state->sums[i]);
    free(state->sums);
    vec_free(&state->instances);
}

/* Forgets the costs of rows from `first` on. */
static void forget_sums(const struct view *view, uint32_t first)
{
    struct bottomup *state = view->state;
    for (size_t i = 0; i < 2 * view->n_metrics; i++)
        if (state->sums[i].n > first)
            state->sums[i].n = first;
}

static void bottomup_release(struct view *view, uint32_t first)
{
    struct bottomup *state = view->state;
    for (size_t i = first; i < view->rows.n; i++) {
        size_t start = view_row(view, (uint32_t)i)->data >> 32;
        if (start < state->instances.n)
            state->instances.n = start;
    }
    forget_sums(view, first);
}

/* The division of a row's instances among its children. */
struct division {
    VEC(struct instance) instances;
    VEC(uint32_t) rows;    /* of each instance: the child it belongs to */
    VEC(uint32_t) counts;  /* of each child: number of instances */
    struct idmap callers;  /* (procedure, call site) -> child */
    struct idmap call_sites;
    uint32_t first_row;
};

/* The child for instances with the procedure and call site of `row`. Inlined copies of a procedure
 * belong to the procedure. */
static uint32_t child_for(struct view *view, struct division *division, uint32_t parent,
                          struct row row)
{
    uint32_t call_site = line_number_of(&division->call_sites, row.call_file, row.call_line);
    uint32_t child = idmap_get(&division->callers, row.place, call_site);
    if (child == IDMAP_NONE) {
        child = view_add(view, parent, row);
        idmap_put(&division->callers, row.place, call_site, child);
        vec_push(&division->counts, 0);
    } else {
        view->rows.at[child].no_call_site |= row.no_call_site;
        if (row.kind == KIND_PROCEDURE)
            view->rows.at[child].kind = KIND_PROCEDURE;
    }
    return child;
}

static bool has_caller(const struct nodes *nodes, uint32_t frame)
{
    return nodes->kind[nodes_caller(nodes, frame)] != KIND_ROOT;
}

/* Adds an instance to the child it belongs to. */
static void add_instance(struct view *view, struct division *division, uint32_t parent,
                         struct instance instance, struct row row)
{
    uint32_t child = child_for(view, division, parent, row);
    vec_push(&division->instances, instance);
    vec_push(&division->rows, child);
    if (view->rows.at[child].is_leaf && has_caller(database_nodes(view->db), instance.frame))
        view->rows.at[child].is_leaf = false;
    division->counts.at[child - division->first_row]++;
}

static void divide_program(struct view *view, struct division *division)
{
    const struct nodes *nodes = database_nodes(view->db);
    for (uint32_t c = 1; c < nodes->n && progress_at(c); c++) {
        if (!is_procedure_kind(nodes->kind[c]))
            continue;
        struct row row = {
            .kind = nodes->kind[c], .is_leaf = true, .place = nodes->place[c], .call_file = NOTHING};
        add_instance(view, division, 0, (struct instance){c, c}, row);
    }
}

/* Moves an instance to its caller; false if it has none. */
static bool find_caller(const struct view *view, struct instance *instance, struct row *row)
{
    const struct nodes *nodes = database_nodes(view->db);
    uint32_t callee = instance->frame;
    if (!has_caller(nodes, callee))
        return false;
    instance->frame = nodes_caller(nodes, callee);
    *row = (struct row){.kind = nodes->kind[instance->frame],
                        .is_leaf = true,
                        .place = nodes->place[instance->frame]};
    row_set_call_site(row, nodes, callee);
    return true;
}

static void divide_row(struct view *view, struct division *division, uint32_t parent)
{
    const struct bottomup *state = view->state;
    uint64_t data = view_row(view, parent)->data;
    uint32_t start = (uint32_t)(data >> 32), count = (uint32_t)data;
    for (uint32_t i = start; i < start + count && progress_at(i - start); i++) {
        struct instance instance = state->instances.at[i];
        struct row row;
        if (find_caller(view, &instance, &row))
            add_instance(view, division, parent, instance, row);
    }
}

/* Stores the instances child by child, in preorder within each. */
static void store_instances(struct view *view, struct division *division)
{
    struct bottomup *state = view->state;
    uint32_t start = (uint32_t)state->instances.n;
    vec_reserve(&state->instances, division->instances.n);
    state->instances.n += division->instances.n;
    for (size_t i = 0; i < division->counts.n; i++) {
        uint32_t count = division->counts.at[i];
        view->rows.at[division->first_row + i].data = pack(start, count);
        division->counts.at[i] = start; /* from here on: index for the next instance */
        start += count;
    }
    for (size_t i = 0; i < division->instances.n; i++) {
        uint32_t child = division->rows.at[i] - division->first_row;
        state->instances.at[division->counts.at[child]++] = division->instances.at[i];
    }
}

static enum outcome bottomup_expand(struct view *view, uint32_t number)
{
    struct division division = {.first_row = (uint32_t)view->rows.n};
    progress_begin("adding up callers",
                   number == 0 ? database_nodes(view->db)->n : (uint32_t)view_row(view, number)->data);
    if (number == 0)
        divide_program(view, &division);
    else
        divide_row(view, &division, number);
    enum outcome outcome = progress_end();
    store_instances(view, &division);
    vec_free(&division.instances);
    vec_free(&division.rows);
    vec_free(&division.counts);
    idmap_free(&division.callers);
    idmap_free(&division.call_sites);
    return outcome;
}

/* ---- rows that are joined ---- */

static struct instance *instances_of(const struct view *view, uint32_t row, uint32_t *n)
{
    const struct bottomup *state = view->state;
    uint64_t data = view_row(view, row)->data;
    *n = (uint32_t)data;
    return state->instances.at + (data >> 32);
}

/* Merges the instances of both rows, in preorder, behind all others. */
static void merge_instances(struct view *view, uint32_t into, uint32_t row)
{
    struct bottomup *state = view->state;
    uint32_t start = (uint32_t)state->instances.n, n_a, n_b;
    instances_of(view, into, &n_a);
    instances_of(view, row, &n_b);
    vec_reserve(&state->instances, n_a + n_b);
    const struct instance *a = instances_of(view, into, &n_a), *b = instances_of(view, row, &n_b);
    for (uint32_t i = 0, j = 0; i < n_a || j < n_b;) {
        bool is_a = j == n_b || (i < n_a && a[i].context < b[j].context);
        state->instances.at[state->instances.n++] = is_a ? a[i++] : b[j++];
    }
    view->rows.at[into].data = pack(start, n_a + n_b);
}

static void bottomup_join(struct view *view, uint32_t into, uint32_t row)
{
    if (view_row(view, row)->kind == KIND_PROCEDURE)
        view->rows.at[into].kind = KIND_PROCEDURE;
    merge_instances(view, into, row);
    forget_sums(view, view_row(view, into)->parent + 1);
}

/* ---- costs ---- */

static enum outcome bottomup_nodes(struct view *view, const uint32_t *rows, size_t n, enum cost_part part,
                                   struct node_refs *refs)
{
    const struct nodes *nodes = database_nodes(view->db);
    for (uint32_t r = 0; r < n; r++) {
        uint32_t n_instances, exposed_end = 0;
        const struct instance *instances = instances_of(view, rows[r], &n_instances);
        if (rows[r] == 0)
            vec_push(&refs->list, ((struct node_ref){.node = 0, .row = r, .part = INCLUSIVE}));
        for (uint32_t i = 0; i < n_instances && rows[r] != 0; i++) {
            uint32_t context = instances[i].context;
            if (part == INCLUSIVE && context < exposed_end)
                continue;
            exposed_end = nodes->end[context];
            vec_push(&refs->list, ((struct node_ref){.node = context, .row = r, .part = part}));
        }
    }
    return DONE;
}

static double bottomup_cost(const struct view *view, uint32_t row, size_t metric, enum cost_part part)
{
    const struct bottomup *state = view->state;
    cost_column *sums = &state->sums[2 * metric + part];
    while (sums->n <= row)
        vec_push(sums, NAN);
    if (!isnan(sums->at[row]))
        return sums->at[row];
    const struct nodes *nodes = database_nodes(view->db);
    uint32_t n, exposed_end = 0;
    const struct instance *instances = instances_of(view, row, &n);
    sums->at[row] = 0;
    for (uint32_t i = 0; i < n; i++)
        if (part == EXCLUSIVE || instances[i].context >= exposed_end) {
            exposed_end = nodes->end[instances[i].context];
            sums->at[row] += node_cost(view->db, instances[i].context, metric, part);
        }
    return sums->at[row];
}

const struct view_class bottomup_class = {
    .name = "bottom-up",
    .has_all_code = true,
    .title = "procedures, and below each who called it",
    .sorted_by = EXCLUSIVE,
    .shows_callers = true,
    .open = bottomup_open,
    .expand = bottomup_expand,
    .nodes = bottomup_nodes,
    .cost = bottomup_cost,
    .join = bottomup_join,
    .release = bottomup_release,
    .close = bottomup_close,
};

#include "viewer-tui/timeline/place-scopes.h"

#include "viewer-tui/db/node-costs.h"
#include "viewer-tui/tree/code-owner.h"
#include "viewer-tui/tree/pattern.h"
#include "viewer-tui/tree/start-names.h"

#include <stdlib.h>

/* The node of a context; 0: none. */
static uint32_t node_of(const struct place_scopes *scopes, uint32_t context)
{
    uint64_t position = values_position(&scopes->db->values, context, 0);
    return position == NO_POSITION ? 0 : scopes->at_position[position];
}

/* Whether a procedure is start code of its caller, which is: it has a name of it, or is in the same module. */
static bool is_start_code(const struct place_scopes *scopes, uint32_t node, uint32_t caller, bool caller_is)
{
    char buffer[NAME_SIZE];
    uint32_t of = scopes->nodes->place[node];
    if (name_is_of_start(database_procedure_name(scopes->db, of, buffer)))
        return true;
    return caller_is && database_procedure(scopes->db, of).module ==
                            database_procedure(scopes->db, scopes->nodes->place[caller]).module;
}

/* Whether a procedure that is not start code is the first one. _start of a stripped program has neither a source file
 * nor a name; its main function has start code as its caller. */
static bool may_begin(const struct place_scopes *scopes, uint32_t node, bool caller_is_start)
{
    struct database *db = scopes->db;
    uint32_t of = scopes->nodes->place[node];
    struct procedure procedure = database_procedure(db, of);
    return caller_is_start ||
           (procedure.file != NOTHING && code_owner_of_procedure(db, of, procedure.module) != CODE_OF_SYSTEM);
}

/* Finds how deep each node is. Counting starts again at the first procedure that is not start code of libraries. */
static void find_depths(struct place_scopes *scopes)
{
    const struct nodes *nodes = scopes->nodes;
    autofree bool *is_start = mem_alloc(nodes->n * sizeof *is_start); /* by node: the procedure around it is */
    scopes->depth = mem_alloc(nodes->n * sizeof *scopes->depth);
    scopes->has_begun = mem_alloc(nodes->n * sizeof *scopes->has_begun);
    for (uint32_t node = 1; node < nodes->n; node++) {
        uint32_t above = nodes->parent[node];
        scopes->depth[node] = scopes->depth[above];
        scopes->has_begun[node] = scopes->has_begun[above];
        is_start[node] = is_start[above];
        if (!is_procedure_kind(nodes->kind[node]))
            continue;
        is_start[node] =
            !scopes->has_begun[above] && is_start_code(scopes, node, nodes->procedure[above], is_start[above]);
        bool is_first = !scopes->has_begun[above] && !is_start[node] && may_begin(scopes, node, is_start[above]);
        scopes->has_begun[node] |= is_first;
        scopes->depth[node] = is_first ? 1 : scopes->depth[above] + 1;
    }
}

struct place_scopes place_scopes_of(struct database *db, const struct timeline *timeline, bool is_physical)
{
    struct place_scopes scopes = {.db = db, .nodes = db->nodes, .n = timeline->header.n_places};
    const struct nodes *nodes = scopes.nodes;
    scopes.at_position = mem_alloc((db->values.n_index + 1) * sizeof *scopes.at_position);
    for (uint32_t node = 1; node < nodes->n; node++)
        if (nodes->position[node] != NOTHING)
            scopes.at_position[nodes->position[node]] = node;
    scopes.node = mem_alloc((scopes.n + 1) * sizeof *scopes.node);
    for (uint64_t i = 0; i < scopes.n; i++) {
        const struct timeline_place *place = &timeline->places[i];
        scopes.node[i] = node_of(&scopes, is_physical ? place->physical : place->logical);
    }
    find_depths(&scopes);
    return scopes;
}

void place_scopes_free(struct place_scopes *scopes)
{
    free(scopes->node);
    free(scopes->at_position);
    free(scopes->depth);
    free(scopes->has_begun);
    *scopes = (struct place_scopes){0};
}

/* The procedure around a node that its path has; 0: none. */
static uint32_t procedure_around(const struct place_scopes *scopes, uint32_t node, bool has_begun)
{
    uint32_t around = scopes->nodes->procedure[node];
    bool is_on_path = is_procedure_kind(scopes->nodes->kind[around]) && scopes->has_begun[around] == has_begun;
    return is_on_path ? around : 0;
}

void node_path_find(const struct place_scopes *scopes, uint32_t node, node_path *path)
{
    bool has_begun = scopes->has_begun[node];
    path->n = 0;
    uint32_t at = node ? procedure_around(scopes, node, has_begun) : 0;
    for (; at; at = procedure_around(scopes, scopes->nodes->parent[at], has_begun))
        vec_push(path, at);
    for (size_t i = 0, n = path->n; i < n / 2; i++) {
        uint32_t other = path->at[n - 1 - i];
        path->at[n - 1 - i] = path->at[i];
        path->at[i] = other;
    }
}

uint32_t *place_procedures(const struct place_scopes *scopes, uint32_t depth)
{
    const struct nodes *nodes = scopes->nodes;
    autofree uint32_t *at_depth = mem_alloc(nodes->n * sizeof *at_depth);
    uint32_t *procedures = mem_alloc((scopes->n + 1) * sizeof *procedures);
    at_depth[0] = NOTHING;
    for (uint32_t node = 1; node < nodes->n; node++) {
        bool is_shown = is_procedure_kind(nodes->kind[node]) && scopes->depth[node] <= depth;
        at_depth[node] = is_shown ? nodes->place[node] : at_depth[nodes->parent[node]];
    }
    for (uint64_t i = 0; i < scopes->n; i++)
        procedures[i] = at_depth[scopes->node[i]];
    return procedures;
}

uint32_t place_deepest(const struct place_scopes *scopes)
{
    uint32_t deepest = 0;
    for (uint64_t i = 0; i < scopes->n; i++)
        if (scopes->depth[scopes->node[i]] > deepest)
            deepest = scopes->depth[scopes->node[i]];
    return deepest;
}

/* ---- marks ---- */

/* By place, of marks by node, which are freed. */
static bool *of_places(const struct place_scopes *scopes, bool *is_marked)
{
    bool *marks = mem_alloc(scopes->n + 1);
    for (uint64_t i = 0; i < scopes->n; i++)
        marks[i] = is_marked[scopes->node[i]];
    free(is_marked);
    return marks;
}

/* Whether the costs that a value sums up include those of a node: of its own part of the tree, or of this without what
 * it calls. */
static bool includes(const struct nodes *nodes, uint32_t from, enum metric_scope scope, uint32_t node)
{
    return node >= from && node < nodes->end[from] &&
           (scope == METRIC_EXECUTION || nodes->procedure[node] == nodes->procedure[from]);
}

bool *place_marks_of_row(const struct place_scopes *scopes, struct view *view, uint32_t row)
{
    const struct nodes *nodes = scopes->nodes;
    struct value_refs refs = {0};
    if (view_value_refs(view, row, INCLUSIVE, &refs) != DONE)
        return NULL;
    bool *is_marked = mem_alloc(nodes->n);
    for (int subtracted = 0; subtracted < 2; subtracted++)
        for (size_t i = 0; i < refs.list.n; i++) {
            const struct value_ref *ref = &refs.list.at[i];
            uint32_t from = node_of(scopes, ref->context);
            for (uint32_t node = from; (from || row == 0) && node < nodes->end[from]; node++)
                if (ref->is_subtracted == subtracted && includes(nodes, from, ref->scope, node))
                    is_marked[node] = !subtracted;
        }
    vec_free(&refs.list);
    return of_places(scopes, is_marked);
}

bool *place_marks_of_name(const struct place_scopes *scopes, const struct pattern *pattern, size_t *n_procedures)
{
    const struct nodes *nodes = scopes->nodes;
    uint32_t n = database_n_procedures(scopes->db);
    bool *matches = mem_alloc(n + 1), *is_marked = mem_alloc(nodes->n);
    *n_procedures = 0;
    for (uint32_t id = 0; id < n; id++) {
        char buffer[NAME_SIZE];
        size_t start, end;
        matches[id] = pattern_find(pattern, database_procedure_name(scopes->db, id, buffer), &start, &end);
        *n_procedures += matches[id];
    }
    for (uint32_t node = 1; node < nodes->n; node++) {
        bool is_match = is_procedure_kind(nodes->kind[node]) && nodes->place[node] < n && matches[nodes->place[node]];
        is_marked[node] = is_marked[nodes->parent[node]] || is_match;
    }
    free(matches);
    return of_places(scopes, is_marked);
}

/* ---- rows ---- */

/* Whether the costs of a row include those of a node. */
static bool has_node(const struct place_scopes *scopes, struct view *view, uint32_t row, uint32_t node)
{
    struct value_refs refs = {0};
    bool is_in[2] = {false, false}; /* of the values that are added; that are subtracted */
    if (view_value_refs(view, row, INCLUSIVE, &refs) == DONE)
        for (size_t i = 0; i < refs.list.n; i++) {
            uint32_t from = node_of(scopes, refs.list.at[i].context);
            is_in[refs.list.at[i].is_subtracted] |= from && includes(scopes->nodes, from, refs.list.at[i].scope, node);
        }
    vec_free(&refs.list);
    return is_in[0] && !is_in[1];
}

/* The child of an expanded row in which a node is; 0: none. */
static uint32_t child_with(const struct place_scopes *scopes, struct view *view, uint32_t row, uint32_t node)
{
    uint32_t first = view_row(view, row)->first_child, n = view_row(view, row)->n_children, i = 0;
    while (i < n && !has_node(scopes, view, first + i, node))
        i++;
    return i < n ? first + i : 0;
}

void place_owners_add(const struct place_scopes *scopes, const struct value_refs *values, uint32_t owner,
                      uint32_t *of_node)
{
    for (size_t i = 0; i < values->list.n; i++) {
        uint32_t from = node_of(scopes, values->list.at[i].context);
        for (uint32_t node = from; from && node < scopes->nodes->end[from]; node++)
            if (includes(scopes->nodes, from, values->list.at[i].scope, node))
                of_node[node] = owner;
    }
}

uint32_t place_row(const struct place_scopes *scopes, struct view *topdown, uint32_t node)
{
    uint32_t row = 0, child;
    while (view_expand(topdown, row) == DONE && (child = child_with(scopes, topdown, row, node)))
        row = child;
    return row;
}

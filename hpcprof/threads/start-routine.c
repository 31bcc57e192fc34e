#include "hpcprof/threads/start-routine.h"

#include <stdlib.h>
#include <string.h>

/* The thread library has two frames outside of the start routine; sanitizers and the like add
 * some. */
#define MAX_OUTSIDE 8

uint32_t start_routine_function_at(const struct start_routine *start, uint32_t space,
                                   uint64_t offset)
{
    const struct symbol_table *symbols = start->analysis->symbols;
    if (space == MEASUREMENT_NO_MODULE)
        return symbols_code_function(symbols, start->thread->file, offset);
    if (space >= start->thread->m->modules.n)
        return NO_SYMBOL;
    uint32_t module = start->analysis->measurements->files.at[start->thread->file].module_of[space];
    const struct structure *s = symbols_structure(symbols, module);
    const struct structure_statement *at = s ? structure_find(s, offset) : NULL;
    if (!at)
        return symbols->unknown_function[module];
    return symbols_function(symbols, module, &s->scopes.at[structure_procedure(s, at->scope)]);
}

struct start_routine start_routine_of(const struct analysis *analysis,
                                      const struct thread_ref *thread, enum projection_kind kind)
{
    struct start_routine start = {
        .analysis = analysis,
        .thread = thread,
        .is_logical = kind == PROJECTION_LOGICAL,
    };
    start.function = start_routine_function_at(&start, thread->thread->start_space,
                                               thread->thread->start_offset);
    return start;
}

/* Whether a node is a frame of code whose place no agent decided. */
static bool is_frame(const struct start_routine *start, const struct measurement_node *node)
{
    if (start->is_logical && !node_is_native(node))
        return false;
    return node->ip_space != MEASUREMENT_NO_NOTE && node->ip_space != MEASUREMENT_PLACEHOLDER;
}

static bool may_insert(const struct start_routine *start)
{
    return !start->is_logical || !measurement_has_agent(start->thread->m);
}

/* Whether the frames outside of the start routine end at a node. */
typedef bool is_end(const struct start_routine *start, const struct measurement_node *node);

static bool is_start_routine(const struct start_routine *start, const struct measurement_node *node)
{
    return start_routine_function_at(start, node->ip_space, node->ip_offset) == start->function;
}

static bool is_not_libc(const struct start_routine *start, const struct measurement_node *node)
{
    const struct measurement *m = start->thread->m;
    return node->ip_space >= m->modules.n || !(m->modules.at[node->ip_space].flags & MODULE_LIBC);
}

/* Mark of a node that may be outside, while marking: UNDECIDED + the number of frames around it. */
#define UNDECIDED 16

/* Marks the frames around the outermost nodes that end them as OUTSIDE. Returns false if there are
 * no such nodes. */
static bool mark_outside(const struct start_routine *start, is_end *ends, uint8_t *marks)
{
    const struct measurement_node *nodes = start->thread->thread->nodes.at;
    size_t n = start->thread->thread->nodes.n;
    autofree VEC(uint32_t) found = {0};
    memset(marks, INSIDE, n);
    marks[MEASUREMENT_ROOT] = UNDECIDED;
    for (size_t i = MEASUREMENT_LOST_NODE + 1; i < n; i++) {
        uint8_t caller = marks[nodes[i].parent];
        if (caller < UNDECIDED || caller > UNDECIDED + MAX_OUTSIDE || !is_frame(start, &nodes[i]))
            continue;
        if (ends(start, &nodes[i]))
            vec_push(&found, (uint32_t)i);
        else
            marks[i] = caller + 1;
    }
    for (size_t i = 0; i < found.n; i++)
        for (uint32_t at = nodes[found.at[i]].parent; marks[at] >= UNDECIDED; at = nodes[at].parent)
            marks[at] = OUTSIDE;
    return found.n > 0;
}

/* Marks frames called by OUTSIDE ones that are not the start routine as BELOW_START, and the rest
 * as INSIDE. */
static void mark_below(const struct start_routine *start, uint8_t *marks)
{
    const struct measurement_node *nodes = start->thread->thread->nodes.at;
    marks[MEASUREMENT_ROOT] = OUTSIDE;
    for (size_t i = MEASUREMENT_LOST_NODE + 1; i < start->thread->thread->nodes.n; i++) {
        if (marks[i] == OUTSIDE)
            continue;
        bool is_first_inside = marks[nodes[i].parent] == OUTSIDE && is_frame(start, &nodes[i]);
        marks[i] = is_first_inside && !is_start_routine(start, &nodes[i]) ? BELOW_START : INSIDE;
    }
}

void start_routine_mark(const struct start_routine *start, uint8_t *marks)
{
    bool is_known = start->function != NO_SYMBOL,
         has_frame = is_known && mark_outside(start, is_start_routine, marks);
    if (!is_known || (!has_frame && !may_insert(start))) {
        memset(marks, INSIDE, start->thread->thread->nodes.n);
        return;
    }
    if (!has_frame)
        mark_outside(start, is_not_libc, marks);
    mark_below(start, marks);
}

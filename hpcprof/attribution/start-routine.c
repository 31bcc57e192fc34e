#include "hpcprof/attribution/start-routine.h"

#include <stdlib.h>
#include <string.h>

/* The thread library's frames are two; sanitizers and the like add some. */
#define MOST_OUTSIDE 8

/* The function that code belongs to; PROGRAM_NONE if it is in no module that is known. */
static uint32_t function_at(const struct path_begin *begin, uint32_t space, uint64_t offset)
{
    const struct program *program = begin->program;
    const struct input *input = &begin->inputs->files.at[begin->input];
    if (space == MEASUREMENT_NO_MODULE)
        return program_code_function(program, begin->inputs, begin->input, offset);
    if (space >= input->m->modules.n)
        return PROGRAM_NONE;
    uint32_t module = input->module_of[space];
    const struct structure *s = program->modules->all.at[module].structure;
    const struct structure_statement *at = s ? structure_find(s, offset) : NULL;
    if (!at)
        return program->unknown_function[module];
    const struct structure_scope *scope = &s->scopes.at[structure_procedure(s, at->scope)];
    return program->first_function[module] + scope->function;
}

struct path_begin path_begin_of(const struct inputs *inputs, const struct program *program,
                                size_t input, const struct measurement_thread *thread,
                                bool is_logical)
{
    struct path_begin begin = {
        .inputs = inputs,
        .program = program,
        .thread = thread,
        .input = input,
        .is_logical = is_logical,
    };
    begin.start_routine = function_at(&begin, thread->start_space, thread->start_offset);
    return begin;
}

/* Whether a node is a frame of code that no agent has placed. */
static bool is_frame(const struct path_begin *begin, const struct measurement_node *node)
{
    if (begin->is_logical && !node_is_native(node))
        return false;
    return node->ip_space != MEASUREMENT_NO_NOTE && node->ip_space != MEASUREMENT_PLACEHOLDER;
}

static bool is_start(const struct path_begin *begin, const struct measurement_node *node)
{
    return function_at(begin, node->ip_space, node->ip_offset) == begin->start_routine;
}

static bool is_libc(const struct path_begin *begin, const struct measurement_node *node)
{
    const struct measurement *m = begin->inputs->files.at[begin->input].m;
    return node->ip_space < m->modules.n && m->modules.at[node->ip_space].flags & MODULE_LIBC;
}

static bool may_insert_start(const struct path_begin *begin)
{
    return !begin->is_logical || !measurement_has_agent(begin->inputs->files.at[begin->input].m);
}

/* Whether what is outside ends at a node. */
typedef bool ends_outside(const struct path_begin *begin, const struct measurement_node *node);

static bool is_of_program(const struct path_begin *begin, const struct measurement_node *node)
{
    return !is_libc(begin, node);
}

/* While marking: 1 + the number of frames around a node that may be outside. */
#define UNDECIDED 16

/* Marks as OUTSIDE what is around the outermost nodes that end it; false if there is none. */
static bool mark_around(const struct path_begin *begin, ends_outside *ends, uint8_t *marks)
{
    const struct measurement_node *nodes = begin->thread->nodes.at;
    size_t n = begin->thread->nodes.n;
    VEC(uint32_t) found = {0};
    memset(marks, INSIDE, n);
    marks[MEASUREMENT_ROOT] = UNDECIDED;
    for (size_t i = MEASUREMENT_LOST_NODE + 1; i < n; i++) {
        uint8_t around = marks[nodes[i].parent];
        if (around < UNDECIDED || around > UNDECIDED + MOST_OUTSIDE || !is_frame(begin, &nodes[i]))
            continue;
        if (ends(begin, &nodes[i]))
            vec_push(&found, (uint32_t)i);
        else
            marks[i] = around + 1;
    }
    for (size_t i = 0; i < found.n; i++)
        for (uint32_t at = nodes[found.at[i]].parent; marks[at] >= UNDECIDED; at = nodes[at].parent)
            marks[at] = OUTSIDE;
    bool has_some = found.n > 0;
    vec_free(&found);
    return has_some;
}

/* Marks what is BELOW_START: frames next to the way to the start routine. */
static void mark_below(const struct path_begin *begin, uint8_t *marks)
{
    const struct measurement_node *nodes = begin->thread->nodes.at;
    marks[MEASUREMENT_ROOT] = OUTSIDE;
    for (size_t i = MEASUREMENT_LOST_NODE + 1; i < begin->thread->nodes.n; i++) {
        if (marks[i] == OUTSIDE)
            continue;
        bool is_next = marks[nodes[i].parent] == OUTSIDE && is_frame(begin, &nodes[i]);
        marks[i] = is_next && !is_start(begin, &nodes[i]) ? BELOW_START : INSIDE;
    }
}

void path_begin_mark(const struct path_begin *begin, uint8_t *marks)
{
    bool has_start = begin->start_routine != PROGRAM_NONE && mark_around(begin, is_start, marks);
    if (begin->start_routine == PROGRAM_NONE || (!has_start && !may_insert_start(begin))) {
        memset(marks, INSIDE, begin->thread->nodes.n);
        return;
    }
    if (!has_start)
        mark_around(begin, is_of_program, marks);
    mark_below(begin, marks);
}

/* How many nodes are around the first one that ends what is outside; n: there is none. */
static size_t count_around(const struct path_begin *begin, ends_outside *ends,
                           const uint32_t *nodes, size_t n)
{
    for (size_t i = 0; i < n && i <= MOST_OUTSIDE; i++) {
        const struct measurement_node *node = &begin->thread->nodes.at[nodes[i]];
        if (!is_frame(begin, node))
            return n;
        if (ends(begin, node))
            return i;
    }
    return n;
}

size_t path_begin_count(const struct path_begin *begin, const uint32_t *nodes, size_t n,
                        bool *is_below)
{
    *is_below = false;
    if (begin->start_routine == PROGRAM_NONE)
        return 0;
    size_t count = count_around(begin, is_start, nodes, n);
    if (count < n || !may_insert_start(begin))
        return count < n ? count : 0;
    count = count_around(begin, is_of_program, nodes, n);
    *is_below = count < n;
    return count < n ? count : 0;
}

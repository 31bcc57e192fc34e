#include "hpcprof/placement.h"

#include "lib/database-format.h"

#include <stdlib.h>

/* A note of the projection: what an ip or an lip says. */
struct note {
    uint32_t space; /* as in struct measurement_node */
    uint64_t value; /* offset, address, placeholder or name */
    bool has_site;  /* else the note means a procedure as a whole */
    uint64_t site;
};

/* ---- from notes to contexts ---- */

static uint32_t line_below(struct placer *p, uint32_t module, uint32_t parent, uint32_t file,
                           uint32_t line)
{
    if (line == 0 || file == STRUCTURE_NONE)
        return parent;
    return context_tree_child(&p->tree, parent, CONTEXT_LINE, p->program->file_of[module][file],
                              line);
}

/* The function of a procedure's or inlined procedure's scope. */
static uint32_t function_of(const struct placer *p, uint32_t module,
                            const struct structure_scope *scope)
{
    uint32_t function = p->program->first_function[module] + scope->function;
    return p->projection == PROJECTION_LOGICAL ? p->program->original[function] : function;
}

static uint32_t scope_below(struct placer *p, uint32_t module, uint32_t parent,
                            const struct structure_scope *scope)
{
    const struct program *program = p->program;
    switch (scope->kind) {
    case SCOPE_PROCEDURE:
        return context_tree_child(&p->tree, parent, CONTEXT_CALL, function_of(p, module, scope), 0);
    case SCOPE_INLINED:
        parent = line_below(p, module, parent, scope->file, scope->line);
        return context_tree_child(&p->tree, parent, CONTEXT_INLINED, function_of(p, module, scope),
                                  0);
    default:
        if (scope->line == 0 || scope->file == STRUCTURE_NONE)
            return context_tree_child(&p->tree, parent, CONTEXT_LOOP_AT, module, scope->address);
        return context_tree_child(&p->tree, parent, CONTEXT_LOOP,
                                  program->file_of[module][scope->file], scope->line);
    }
}

/* The context of a statement, its scopes and line, below the call site `parent`. */
static uint32_t statement_below(struct placer *p, uint32_t module, uint32_t parent,
                                const struct structure_statement *statement)
{
    const struct structure *s = p->program->modules->all.at[module].structure;
    p->chain.n = 0;
    for (uint32_t scope = statement->scope; scope != STRUCTURE_NONE;
         scope = s->scopes.at[scope].parent)
        vec_push(&p->chain, scope);
    while (p->chain.n)
        parent = scope_below(p, module, parent, &s->scopes.at[p->chain.at[--p->chain.n]]);
    return line_below(p, module, parent, statement->file, statement->line);
}

static uint32_t code_below(struct placer *p, uint32_t module, uint32_t parent,
                           const struct note *note)
{
    const struct structure *s = p->program->modules->all.at[module].structure;
    uint64_t address = note->has_site ? note->site : note->value;
    const struct structure_statement *statement = s ? structure_find(s, address) : NULL;
    if (!statement)
        return context_tree_child(&p->tree, parent, CONTEXT_CALL,
                                  p->program->unknown_function[module], 0);
    if (note->has_site)
        return statement_below(p, module, parent, statement);
    uint32_t procedure = structure_procedure(s, statement->scope);
    return scope_below(p, module, parent, &s->scopes.at[procedure]);
}

static uint32_t placeholder_below(struct placer *p, uint32_t parent, uint64_t placeholder)
{
    uint32_t function = p->program->unknown_code;
    if (placeholder == PLACEHOLDER_KERNEL)
        function = p->program->kernel;
    if (placeholder == PLACEHOLDER_PARTIAL)
        function = p->program->partial_path;
    return context_tree_child(&p->tree, parent, CONTEXT_CALL, function, 0);
}

static uint32_t name_below(struct placer *p, size_t input, uint32_t parent, const struct note *note)
{
    uint32_t function =
        program_agent_function(p->program, p->inputs, input, note->space, note->value);
    if (function == PROGRAM_NONE)
        function = p->program->unknown_code;
    uint32_t context = context_tree_child(&p->tree, parent, CONTEXT_CALL, function, 0);
    uint32_t file = p->program->functions.at[function].file;
    if (note->has_site && note->site && file != PROGRAM_NONE)
        context = context_tree_child(&p->tree, context, CONTEXT_LINE, file, (uint32_t)note->site);
    return context;
}

/* The context of a note whose caller's context is `parent`. */
static uint32_t note_below(struct placer *p, size_t input, uint32_t parent, const struct note *note)
{
    switch (note->space) {
    case MEASUREMENT_PLACEHOLDER: return placeholder_below(p, parent, note->value);
    case MEASUREMENT_NO_MODULE:
        return context_tree_child(&p->tree, parent, CONTEXT_CALL,
                                  program_code_function(p->program, p->inputs, input, note->value),
                                  0);
    case MEASUREMENT_LOST_RECORD:
        return context_tree_child(&p->tree, parent, CONTEXT_CALL, p->program->unknown_code, 0);
    default:
        if (note->space >= MEASUREMENT_NAMES)
            parent = name_below(p, input, parent, note);
        else
            parent = code_below(p, p->inputs->files.at[input].module_of[note->space], parent, note);
        return note->has_site ? parent
                              : context_tree_child(&p->tree, parent, CONTEXT_NO_SITE, 0, 0);
    }
}

/* The rules of agents, which hide, merge and rename logical notes, belong between an lip and what
 * is returned here. */
static struct note note_of(const struct measurement_node *node, enum projection projection)
{
    if (projection == PROJECTION_PHYSICAL)
        return (struct note){.space = node->ip_space,
                             .value = node->ip_offset,
                             .has_site = true,
                             .site = node->ip_offset};
    return (struct note){.space = node->lip_space,
                         .value = node->lip_value,
                         .has_site = node->has_site,
                         .site = node->site};
}

/* ---- where paths begin ---- */

/* How many creations a path is followed back through: threads that each create the next one would
 * have paths without bound. */
#define MOST_CREATIONS 16

static uint32_t entry(struct placer *p, enum v4_entry_kind kind)
{
    return context_tree_child(&p->tree, CONTEXT_ROOT, CONTEXT_ENTRY, kind, 0);
}

static enum v4_entry_kind entry_of(const struct measurement_thread *thread)
{
    bool initial = thread->known ? thread->kind == THREAD_INITIAL : thread->index == 0;
    return initial ? V4_MAIN_THREAD : V4_APPLICATION_THREAD;
}

static bool is_partial(const struct note *note)
{
    return note->space == MEASUREMENT_PLACEHOLDER && note->value == PLACEHOLDER_PARTIAL;
}

/* Whether an agent has put a path in the place of the thread's own frames, which may have no notes
 * at all. */
static bool is_replaced(const struct measurement *m, const struct measurement_node *node)
{
    bool hidden = m->agents.n > 0 && node->parent != MEASUREMENT_ROOT;
    return node->association == ASSOC_1_M || hidden;
}

static const struct measurement_thread *find_thread(const struct measurement *m, uint64_t index)
{
    size_t low = 0, high = m->threads.n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (m->threads.at[middle].index < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low < m->threads.n && m->threads.at[low].index == index ? &m->threads.at[low] : NULL;
}

static uint32_t thread_root(struct placer *p, size_t input, const struct measurement_thread *thread,
                            unsigned creations);

/* The context above an outermost note, of a node. A path that an agent made began in the thread
 * that it came from: the main one begins in the executable, all others in the C library. So does
 * one whose frames lead from a stack of the runtime's to the main thread's. */
static uint32_t above(struct placer *p, size_t input, const struct measurement_thread *thread,
                      const struct measurement_node *node, const struct note *note,
                      unsigned creations)
{
    const struct measurement *m = p->inputs->files.at[input].m;
    if (is_partial(note))
        return entry(p, V4_UNKNOWN_ENTRY);
    bool in_module = note->space < m->modules.n;
    if (m->agents.n > 0 && in_module && m->modules.at[note->space].flags & MODULE_MAIN)
        return entry(p, V4_MAIN_THREAD);
    if (!is_replaced(m, node) || !in_module)
        return thread_root(p, input, thread, creations);
    return entry(p, V4_APPLICATION_THREAD);
}

/* The context of the last note on the way to a node of a thread, whatever has been placed. */
static uint32_t path_context(struct placer *p, size_t input,
                             const struct measurement_thread *thread, uint32_t node,
                             unsigned creations)
{
    VEC(uint32_t) nodes = {0};
    uint32_t context = CONTEXT_ROOT;
    for (; node != MEASUREMENT_ROOT; node = thread->nodes.at[node].parent)
        vec_push(&nodes, node);
    while (nodes.n) {
        const struct measurement_node *at = &thread->nodes.at[nodes.at[--nodes.n]];
        const struct note note = note_of(at, p->projection);
        if (note.space == MEASUREMENT_NO_NOTE)
            continue;
        if (context == CONTEXT_ROOT)
            context = above(p, input, thread, at, &note, creations);
        context = note_below(p, input, context, &note);
    }
    vec_free(&nodes);
    return context;
}

/* The context that a thread's own frames are rooted in: that of its creation, or its entry. */
static uint32_t thread_root(struct placer *p, size_t input, const struct measurement_thread *thread,
                            unsigned creations)
{
    const struct measurement_thread *creator = NULL;
    uint32_t context = CONTEXT_ROOT;
    if (thread->creator != 0 && creations < MOST_CREATIONS)
        creator = find_thread(p->inputs->files.at[input].m, thread->creator - 1);
    if (creator == thread)
        creations = MOST_CREATIONS; /* a forked one: the path is whole */
    if (creator && thread->creation_context < creator->nodes.n)
        context = path_context(p, input, creator, thread->creation_context, creations + 1);
    return context == CONTEXT_ROOT ? entry(p, entry_of(thread)) : context;
}

/* ---- the nodes of a thread ---- */

#define NOT_NEEDED IDMAP_NONE

/* Marks the nodes that have amounts at or below them: others would be contexts without values. */
static void mark_needed(struct placer *p, const struct measurement_thread *thread)
{
    p->context_of.n = 0;
    vec_reserve(&p->context_of, thread->nodes.n);
    p->context_of.n = thread->nodes.n;
    uint32_t *context_of = p->context_of.at;
    for (size_t i = 0; i < thread->nodes.n; i++)
        context_of[i] = NOT_NEEDED;
    for (size_t i = 0; i < thread->values.n; i++)
        if (thread->values.at[i].amount)
            context_of[thread->values.at[i].node] = CONTEXT_ROOT;
    for (size_t i = thread->nodes.n - 1; i > MEASUREMENT_ROOT; i--)
        if (context_of[i] != NOT_NEEDED)
            context_of[thread->nodes.at[i].parent] = CONTEXT_ROOT;
}

/* Parents come before their children, so one pass gives every node its context. A node without
 * note in this projection has that of the nearest node above it that has one, or CONTEXT_ROOT. */
void placer_place(struct placer *p, size_t input, const struct measurement_thread *thread)
{
    mark_needed(p, thread);
    uint32_t *context_of = p->context_of.at;
    for (size_t i = MEASUREMENT_ROOT + 1; i < thread->nodes.n; i++) {
        if (context_of[i] == NOT_NEEDED)
            continue;
        const struct measurement_node *node = &thread->nodes.at[i];
        const struct note note = note_of(node, p->projection);
        uint32_t parent = context_of[node->parent];
        context_of[i] = parent;
        if (note.space == MEASUREMENT_NO_NOTE)
            continue;
        if (parent == CONTEXT_ROOT)
            parent = above(p, input, thread, node, &note, 0);
        context_of[i] = note_below(p, input, parent, &note);
    }
}

uint32_t placer_context(struct placer *p, const struct measurement_thread *thread, uint32_t node)
{
    uint32_t context = p->context_of.at[node];
    return context == CONTEXT_ROOT ? entry(p, entry_of(thread)) : context;
}

void placer_start(struct placer *p, const struct inputs *inputs, const struct program *program,
                  enum projection projection)
{
    *p = (struct placer){.inputs = inputs, .program = program, .projection = projection};
    context_tree_start(&p->tree);
}

void placer_free(struct placer *p)
{
    vec_free(&p->chain);
    vec_free(&p->context_of);
}

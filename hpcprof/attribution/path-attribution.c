#include "hpcprof/attribution/path-attribution.h"

#include "hpcprof/measurement/executables.h"
#include "hpcprof/attribution/creation-point.h"
#include "hpcprof/attribution/start-routine.h"

#include "lib/binary-search.h"
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

/* Whether a scope is a part of a procedure, an inlet, that is not to be seen by itself. */
static bool is_part(const struct placer *p, uint32_t module, const struct structure_scope *scope)
{
    uint32_t function = p->program->first_function[module] + scope->function;
    return p->projection == PROJECTION_LOGICAL && p->program->is_part[function];
}

static bool is_function_context(const struct context *context)
{
    return context->kind == CONTEXT_CALL || context->kind == CONTEXT_INLINED;
}

/* The scope of a function's in which a call site `parent` is; CONTEXT_ROOT when it is in none of
 * that function's. */
static uint32_t scope_of_call(const struct placer *p, uint32_t parent, uint32_t function)
{
    const struct context *all = p->tree.contexts.at;
    bool is_site = all[parent].kind == CONTEXT_LINE || all[parent].kind == CONTEXT_NO_SITE;
    uint32_t scope = is_site ? all[parent].parent : parent, around = scope;
    while (around != CONTEXT_ROOT && !is_function_context(&all[around]))
        around = all[around].parent;
    return is_function_context(&all[around]) && all[around].name == function ? scope : CONTEXT_ROOT;
}

static uint32_t scope_below(struct placer *p, uint32_t module, uint32_t parent,
                            const struct structure_scope *scope)
{
    const struct program *program = p->program;
    if (scope->kind != SCOPE_LOOP && is_part(p, module, scope)) {
        uint32_t whole = scope_of_call(p, parent, function_of(p, module, scope));
        if (whole != CONTEXT_ROOT)
            return whole;
    }
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

void placer_call(struct placer *p, uint32_t module, uint64_t address, uint64_t target)
{
    const struct structure *s = p->program->modules->all.at[module].structure;
    const struct note call = {.value = address, .has_site = true, .site = address};
    const struct note callee = {.value = target};
    if (structure_find(s, address) && structure_find(s, target))
        code_below(p, module, code_below(p, module, CONTEXT_ROOT, &call), &callee);
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

static uint32_t entry(struct placer *p, size_t input, enum v4_entry_kind kind)
{
    return context_tree_child(&p->tree, CONTEXT_ROOT, CONTEXT_ENTRY, kind,
                              executables_entry(p->inputs, input));
}

static enum v4_entry_kind entry_of(const struct measurement_thread *thread)
{
    bool initial = thread->known ? thread->kind == THREAD_INITIAL : thread->index == 0;
    bool forked =
        thread->creator == (uint64_t)thread->index + 1; /* in a thread, which it continues */
    return initial && !forked ? V4_MAIN_THREAD : V4_APPLICATION_THREAD;
}

static bool is_partial(const struct note *note)
{
    return note->space == MEASUREMENT_PLACEHOLDER && note->value == PLACEHOLDER_PARTIAL;
}

/* Whether an agent has put a path in the place of the thread's own frames, which may have no notes
 * at all. */
static bool is_replaced(const struct measurement *m, const struct measurement_node *node)
{
    bool hidden = measurement_has_agent(m) && node->parent != MEASUREMENT_ROOT;
    return node->association == ASSOC_1_M || hidden;
}

static const struct measurement_thread *find_thread(const struct measurement *m, uint64_t index)
{
    size_t i = partition_point(k, m->threads.n, m->threads.at[k].index < index);
    return i < m->threads.n && m->threads.at[i].index == index ? &m->threads.at[i] : NULL;
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
        return entry(p, input, V4_UNKNOWN_ENTRY);
    bool in_module = note->space < m->modules.n;
    if (measurement_has_agent(m) && in_module && m->modules.at[note->space].flags & MODULE_MAIN)
        return entry(p, input, V4_MAIN_THREAD);
    if (!is_replaced(m, node) || !in_module)
        return thread_root(p, input, thread, creations);
    return entry(p, input, V4_APPLICATION_THREAD);
}

/* ---- where threads hang ---- */

static struct path_begin begin_of(const struct placer *p, size_t input,
                                  const struct measurement_thread *thread)
{
    return path_begin_of(p->inputs, p->program, input, thread, p->projection == PROJECTION_LOGICAL);
}

uint32_t placer_start_routine(const struct placer *p, size_t input,
                              const struct measurement_thread *thread)
{
    uint32_t function = begin_of(p, input, thread).start_routine;
    bool has_original = function != PROGRAM_NONE && p->projection == PROJECTION_LOGICAL;
    return has_original ? p->program->original[function] : function;
}

static uint32_t start_below(struct placer *p, uint32_t parent, uint32_t start_routine)
{
    return context_tree_child(&p->tree, parent, CONTEXT_CALL, start_routine, 0);
}

/* The nodes on the way to a node, outermost first. The caller frees. */
struct node_path {
    VEC(uint32_t) nodes;
    size_t outside; /* how many lie outside the start routine */
    bool is_below;  /* the next one belongs below it; start-routine.h */
};

static struct node_path find_path(const struct placer *p, size_t input,
                                  const struct measurement_thread *thread, uint32_t node)
{
    struct node_path path = {0};
    const struct path_begin begin = begin_of(p, input, thread);
    for (; node != MEASUREMENT_ROOT; node = thread->nodes.at[node].parent)
        vec_push(&path.nodes, node);
    for (size_t i = 0, k = path.nodes.n; i + 1 < k; i++) {
        uint32_t outer = path.nodes.at[--k];
        path.nodes.at[k] = path.nodes.at[i];
        path.nodes.at[i] = outer;
    }
    path.outside = path_begin_count(&begin, path.nodes.at, path.nodes.n, &path.is_below);
    return path;
}

/* The context of the last note among the first `n` nodes of a path, whatever has been placed; of
 * none of them, what is above the path. */
static uint32_t context_on_path(struct placer *p, size_t input,
                                const struct measurement_thread *thread,
                                const struct node_path *path, size_t n, unsigned creations)
{
    uint32_t context = CONTEXT_ROOT;
    for (size_t i = 0; i < path->nodes.n && (i < n || context == CONTEXT_ROOT); i++) {
        const struct measurement_node *at = &thread->nodes.at[path->nodes.at[i]];
        const struct note note = note_of(at, p->projection);
        if (note.space == MEASUREMENT_NO_NOTE)
            continue;
        if (context == CONTEXT_ROOT)
            context = above(p, input, thread, at, &note, creations);
        if (i == path->outside && path->is_below)
            context = start_below(p, context, placer_start_routine(p, input, thread));
        if (i >= path->outside && i < n)
            context = note_below(p, input, context, &note);
    }
    return context;
}

static uint32_t path_context(struct placer *p, size_t input,
                             const struct measurement_thread *thread, uint32_t node,
                             unsigned creations)
{
    struct node_path path = find_path(p, input, thread, node);
    uint32_t context = context_on_path(p, input, thread, &path, path.nodes.n, creations);
    vec_free(&path.nodes);
    return context;
}

/* The same for the node's caller. */
static uint32_t caller_context(struct placer *p, size_t input,
                               const struct measurement_thread *thread, uint32_t node,
                               unsigned creations)
{
    struct node_path path = find_path(p, input, thread, node);
    uint32_t context = context_on_path(p, input, thread, &path, path.nodes.n - 1, creations);
    vec_free(&path.nodes);
    return context;
}

/* Whether all frames between two nodes of one path, without the outer one, are of C++'s library. */
static bool are_of_library(const struct placer *p, size_t input,
                           const struct measurement_thread *thread, uint32_t outer, uint32_t node)
{
    const struct input *in = &p->inputs->files.at[input];
    for (; node > outer; node = thread->nodes.at[node].parent) {
        const struct measurement_node *at = &thread->nodes.at[node];
        if (at->ip_space >= in->m->modules.n ||
            !live_is_library(p->program, in->module_of[at->ip_space], at->ip_offset))
            return false;
    }
    return node == outer;
}

/* The context of a scope and a line in it, below the call of its procedure. */
static uint32_t live_scope_below(struct placer *p, uint32_t module, uint32_t parent,
                                 const struct live_place *place)
{
    const struct structure_statement statement = {
        .scope = place->scope, .file = place->file, .line = place->line};
    return statement_below(p, module, parent, &statement);
}

/* The context that a thread hangs below whose creator joined it. */
static uint32_t live_context(struct placer *p, size_t input,
                             const struct measurement_thread *thread,
                             const struct measurement_thread *creator, unsigned creations)
{
    const struct input *in = &p->inputs->files.at[input];
    const struct measurement_node *frame = &creator->nodes.at[thread->join.node];
    uint32_t node = thread->join.node;
    if (!node_is_native(frame) || frame->ip_space >= in->m->modules.n)
        return path_context(p, input, creator, node, creations);
    struct live_place place = {.kind = LIVE_CALLER};
    uint32_t module = in->module_of[frame->ip_space];
    if (thread->join.space == frame->ip_space)
        place = live_place(p->program, module, frame->ip_offset, thread->join.offset,
                           are_of_library(p, input, creator, node, thread->creation_context));
    if (place.kind == LIVE_CALL)
        return path_context(p, input, creator, node, creations);
    uint32_t caller = caller_context(p, input, creator, node, creations);
    return place.kind == LIVE_CALLER ? caller : live_scope_below(p, module, caller, &place);
}

/* The creator of a thread; NULL if it is not known. */
static const struct measurement_thread *creator_of(const struct placer *p, size_t input,
                                                   const struct measurement_thread *thread)
{
    if (thread->creator == 0)
        return NULL;
    return find_thread(p->inputs->files.at[input].m, thread->creator - 1);
}

bool placer_has_live_frame(const struct placer *p, size_t input,
                           const struct measurement_thread *thread)
{
    const struct measurement_thread *creator = creator_of(p, input, thread);
    return creator && creator != thread && thread->join.known &&
           thread->join.node > MEASUREMENT_LOST_NODE && thread->join.node < creator->nodes.n;
}

uint32_t placer_creation(struct placer *p, size_t input, const struct measurement_thread *thread)
{
    const struct measurement_thread *creator = creator_of(p, input, thread);
    if (!creator || thread->creation_context <= MEASUREMENT_LOST_NODE ||
        thread->creation_context >= creator->nodes.n)
        return CONTEXT_ROOT;
    return path_context(p, input, creator, thread->creation_context, MOST_CREATIONS);
}

/* The context that a thread's own frames are rooted in. */
static uint32_t thread_root(struct placer *p, size_t input, const struct measurement_thread *thread,
                            unsigned creations)
{
    uint32_t context = CONTEXT_ROOT;
    if (p->projection == PROJECTION_LOGICAL && creations < MOST_CREATIONS &&
        placer_has_live_frame(p, input, thread))
        context = live_context(p, input, thread, creator_of(p, input, thread), creations + 1);
    return context == CONTEXT_ROOT ? entry(p, input, entry_of(thread)) : context;
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

static void mark_outside(struct placer *p, size_t input, const struct measurement_thread *thread)
{
    const struct path_begin begin = begin_of(p, input, thread);
    p->start_routine = placer_start_routine(p, input, thread);
    p->outside.n = 0;
    vec_reserve(&p->outside, thread->nodes.n);
    p->outside.n = thread->nodes.n;
    path_begin_mark(&begin, p->outside.at);
}

/* Parents come before their children, so one pass gives every node its context. A node without
 * note in this projection has that of the nearest node above it that has one, or CONTEXT_ROOT. */
void placer_place(struct placer *p, size_t input, const struct measurement_thread *thread)
{
    p->input = input;
    mark_needed(p, thread);
    mark_outside(p, input, thread);
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
        if (p->outside.at[i] == BELOW_START)
            parent = start_below(p, parent, p->start_routine);
        context_of[i] = p->outside.at[i] == OUTSIDE ? parent : note_below(p, input, parent, &note);
    }
}

uint32_t placer_context(struct placer *p, const struct measurement_thread *thread, uint32_t node)
{
    uint32_t context = p->context_of.at[node];
    if (context != CONTEXT_ROOT && p->outside.at[node] == OUTSIDE)
        return start_below(p, context, p->start_routine);
    return context == CONTEXT_ROOT ? entry(p, p->input, entry_of(thread)) : context;
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
    vec_free(&p->outside);
}

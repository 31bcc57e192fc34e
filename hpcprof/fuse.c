#include "hpcprof/fuse.h"

#include "hpcprof/overhead.h"

#include "lib/database-format.h"
#include "lib/parallel.h"
#include "lib/progress.h"

#include <stdlib.h>

/* A note of the projection: what an ip or an lip says. */
struct note {
    uint32_t space; /* as in struct measurement_node */
    uint64_t value; /* offset, address, placeholder or name */
    bool has_site;  /* else the note means a procedure as a whole */
    uint64_t site;
};

/* What one worker has made so far. */
struct fuser {
    const struct inputs *inputs;
    const struct program *program;
    enum projection projection;
    struct context_tree tree;
    VEC(uint32_t) chain;      /* scratch: scopes from the inside out */
    VEC(uint32_t) context_of; /* scratch: context of each node */
    VEC(uint32_t) overhead;   /* scratch: of which kind a sample at each node is */
    VEC(size_t) profiles;     /* those that this worker fused */
};

/* ---- from notes to contexts ---- */

static uint32_t line_below(struct fuser *f, uint32_t module, uint32_t parent, uint32_t file,
                           uint32_t line)
{
    if (line == 0 || file == STRUCTURE_NONE)
        return parent;
    return context_tree_child(&f->tree, parent, CONTEXT_LINE, f->program->file_of[module][file],
                              line);
}

/* The function of a procedure's or inlined procedure's scope. */
static uint32_t function_of(const struct fuser *f, uint32_t module,
                            const struct structure_scope *scope)
{
    uint32_t function = f->program->first_function[module] + scope->function;
    return f->projection == PROJECTION_LOGICAL ? f->program->original[function] : function;
}

static uint32_t scope_below(struct fuser *f, uint32_t module, uint32_t parent,
                            const struct structure_scope *scope)
{
    const struct program *program = f->program;
    switch (scope->kind) {
    case SCOPE_PROCEDURE:
        return context_tree_child(&f->tree, parent, CONTEXT_CALL, function_of(f, module, scope), 0);
    case SCOPE_INLINED:
        parent = line_below(f, module, parent, scope->file, scope->line);
        return context_tree_child(&f->tree, parent, CONTEXT_INLINED, function_of(f, module, scope),
                                  0);
    default:
        if (scope->line == 0 || scope->file == STRUCTURE_NONE)
            return context_tree_child(&f->tree, parent, CONTEXT_LOOP_AT, module, scope->address);
        return context_tree_child(&f->tree, parent, CONTEXT_LOOP,
                                  program->file_of[module][scope->file], scope->line);
    }
}

/* The context of a statement, its scopes and line, below the call site `parent`. */
static uint32_t statement_below(struct fuser *f, uint32_t module, uint32_t parent,
                                const struct structure_statement *statement)
{
    const struct structure *s = f->program->modules->all.at[module].structure;
    f->chain.n = 0;
    for (uint32_t scope = statement->scope; scope != STRUCTURE_NONE;
         scope = s->scopes.at[scope].parent)
        vec_push(&f->chain, scope);
    while (f->chain.n)
        parent = scope_below(f, module, parent, &s->scopes.at[f->chain.at[--f->chain.n]]);
    return line_below(f, module, parent, statement->file, statement->line);
}

static uint32_t code_below(struct fuser *f, uint32_t module, uint32_t parent,
                           const struct note *note)
{
    const struct structure *s = f->program->modules->all.at[module].structure;
    uint64_t address = note->has_site ? note->site : note->value;
    const struct structure_statement *statement = s ? structure_find(s, address) : NULL;
    if (!statement)
        return context_tree_child(&f->tree, parent, CONTEXT_CALL,
                                  f->program->unknown_function[module], 0);
    if (note->has_site)
        return statement_below(f, module, parent, statement);
    uint32_t procedure = structure_procedure(s, statement->scope);
    return scope_below(f, module, parent, &s->scopes.at[procedure]);
}

static uint32_t placeholder_below(struct fuser *f, uint32_t parent, uint64_t placeholder)
{
    uint32_t function = f->program->unknown_code;
    if (placeholder == PLACEHOLDER_KERNEL)
        function = f->program->kernel;
    if (placeholder == PLACEHOLDER_PARTIAL)
        function = f->program->partial_path;
    return context_tree_child(&f->tree, parent, CONTEXT_CALL, function, 0);
}

static uint32_t name_below(struct fuser *f, size_t input, uint32_t parent, const struct note *note)
{
    uint32_t function =
        program_agent_function(f->program, f->inputs, input, note->space, note->value);
    if (function == PROGRAM_NONE)
        function = f->program->unknown_code;
    uint32_t context = context_tree_child(&f->tree, parent, CONTEXT_CALL, function, 0);
    uint32_t file = f->program->functions.at[function].file;
    if (note->has_site && note->site && file != PROGRAM_NONE)
        context = context_tree_child(&f->tree, context, CONTEXT_LINE, file, (uint32_t)note->site);
    return context;
}

/* The context of a note whose caller's context is `parent`. */
static uint32_t note_below(struct fuser *f, size_t input, uint32_t parent, const struct note *note)
{
    switch (note->space) {
    case MEASUREMENT_PLACEHOLDER: return placeholder_below(f, parent, note->value);
    case MEASUREMENT_NO_MODULE:
    case MEASUREMENT_LOST_RECORD:
        return context_tree_child(&f->tree, parent, CONTEXT_CALL, f->program->unknown_code, 0);
    default:
        if (note->space >= MEASUREMENT_NAMES)
            return name_below(f, input, parent, note);
        return code_below(f, f->inputs->files.at[input].module_of[note->space], parent, note);
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

/* ---- threads ---- */

static uint32_t entry(struct fuser *f, enum v4_entry_kind kind)
{
    return context_tree_child(&f->tree, CONTEXT_ROOT, CONTEXT_ENTRY, kind, 0);
}

static enum v4_entry_kind entry_of(const struct measurement_thread *thread)
{
    bool initial = thread->known ? thread->kind == THREAD_INITIAL : thread->index == 0;
    return initial ? V4_MAIN_THREAD : V4_APPLICATION_THREAD;
}

/* The entry above an outermost note, of a node. Where an agent has put a path in the place of the
 * thread's own frames, which may have no notes at all, it began in the thread that it came from:
 * the main one begins in the executable, all others in the C library. */
static enum v4_entry_kind entry_above(const struct measurement *m,
                                      const struct measurement_thread *thread,
                                      const struct measurement_node *node, const struct note *note)
{
    if (note->space == MEASUREMENT_PLACEHOLDER && note->value == PLACEHOLDER_PARTIAL)
        return V4_UNKNOWN_ENTRY;
    bool hidden = m->agents.n > 0 && node->parent != MEASUREMENT_ROOT;
    bool replaced = node->association == ASSOC_1_M || hidden;
    if (!replaced || note->space >= m->modules.n)
        return entry_of(thread);
    bool from_main = m->modules.at[note->space].flags & MODULE_MAIN;
    return from_main ? V4_MAIN_THREAD : V4_APPLICATION_THREAD;
}

#define NOT_NEEDED IDMAP_NONE

/* Marks the nodes that have amounts at or below them: others would be contexts without values. */
static void mark_needed(struct fuser *f, const struct measurement_thread *thread)
{
    f->context_of.n = 0;
    vec_reserve(&f->context_of, thread->nodes.n);
    f->context_of.n = thread->nodes.n;
    uint32_t *context_of = f->context_of.at;
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
static void place_nodes(struct fuser *f, size_t input, const struct measurement_thread *thread)
{
    mark_needed(f, thread);
    uint32_t *context_of = f->context_of.at;
    for (size_t i = MEASUREMENT_ROOT + 1; i < thread->nodes.n; i++) {
        if (context_of[i] == NOT_NEEDED)
            continue;
        const struct measurement_node *node = &thread->nodes.at[i];
        const struct note note = note_of(node, f->projection);
        uint32_t parent = context_of[node->parent];
        context_of[i] = parent;
        if (note.space == MEASUREMENT_NO_NOTE)
            continue;
        if (parent == CONTEXT_ROOT)
            parent = entry(f, entry_above(f->inputs->files.at[input].m, thread, node, &note));
        context_of[i] = note_below(f, input, parent, &note);
    }
}

static void mark_overhead(struct fuser *f, const struct input *input,
                          const struct measurement_thread *thread)
{
    f->overhead.n = 0;
    vec_reserve(&f->overhead, thread->nodes.n);
    overhead_mark(f->inputs, input, thread, f->overhead.at);
}

static void add_point(struct profile *profile, uint32_t context, uint32_t metric, uint64_t amount)
{
    const struct point point = {.context = context, .metric = metric, .amount = amount};
    vec_push(&profile->points, point);
}

/* Pays an amount to its metric or, at a node where samples are overhead, to that of overhead and to
 * the one of its kind. */
static void pay(const struct fuser *f, struct profile *profile, uint32_t context,
                uint32_t metric_id, const struct measurement_value *value)
{
    const struct metric *metric = &f->inputs->metrics.at[metric_id];
    uint32_t kind = f->overhead.at[value->node];
    if (metric->overhead == INPUT_NONE || kind == NOT_OVERHEAD) {
        add_point(profile, context, metric_id, value->amount);
        return;
    }
    add_point(profile, context, metric->overhead, value->amount);
    if (metric->kinds)
        add_point(profile, context, metric->kinds[kind], value->amount);
}

/* What was measured outside of all notes belongs to the thread's entry. */
static void take_points(struct fuser *f, const struct input *input,
                        const struct measurement_thread *thread, struct profile *profile)
{
    vec_reserve(&profile->points, thread->values.n);
    for (size_t i = 0; i < thread->values.n; i++) {
        const struct measurement_value *value = &thread->values.at[i];
        uint32_t metric = input->metric_of[value->metric];
        if (!value->amount || metric == INPUT_NONE)
            continue;
        uint32_t context = f->context_of.at[value->node];
        pay(f, profile, context == CONTEXT_ROOT ? entry(f, entry_of(thread)) : context, metric,
            value);
    }
}

struct fuse_job {
    struct fused *fused;
    struct fuser *fusers;
};

static void fuse_profile(void *context, unsigned worker, size_t index)
{
    struct fuse_job *job = context;
    struct fuser *f = &job->fusers[worker];
    struct profile *profile = &job->fused->profiles.at[index];
    const struct input *input = &f->inputs->files.at[profile->input];
    const struct measurement_thread *thread = &input->m->threads.at[profile->thread];
    place_nodes(f, profile->input, thread);
    mark_overhead(f, input, thread);
    take_points(f, input, thread, profile);
    vec_push(&f->profiles, index);
    progress_add(1);
}

/* ---- all together ---- */

static void list_profiles(struct fused *fused, const struct inputs *inputs)
{
    for (uint32_t i = 0; i < inputs->files.n; i++)
        for (uint32_t k = 0; k < inputs->files.at[i].m->threads.n; k++)
            vec_push(&fused->profiles, (struct profile){.input = i, .thread = k});
}

static void renumber_points(struct profile *profile, const uint32_t *new_ids)
{
    for (size_t i = 0; i < profile->points.n; i++)
        profile->points.at[i].context = new_ids[profile->points.at[i].context];
}

/* Moves what a worker has made into the tree of all. */
static void merge_fuser(struct fused *fused, struct fuser *f)
{
    uint32_t *ids = context_tree_merge(&fused->tree, &f->tree);
    for (size_t i = 0; i < f->profiles.n; i++)
        renumber_points(&fused->profiles.at[f->profiles.at[i]], ids);
    free(ids);
}

void fuse(struct fused *fused, const struct inputs *inputs, const struct program *program,
          enum projection projection, unsigned workers)
{
    *fused = (struct fused){0};
    list_profiles(fused, inputs);
    struct fuser *fusers = mem_alloc(workers * sizeof *fusers);
    for (unsigned i = 0; i < workers; i++) {
        fusers[i] = (struct fuser){.inputs = inputs, .program = program, .projection = projection};
        context_tree_start(&fusers[i].tree);
    }
    struct fuse_job job = {.fused = fused, .fusers = fusers};
    progress_begin("fusing call paths with structure", fused->profiles.n);
    parallel_for(fused->profiles.n, workers, fuse_profile, &job);
    progress_end();
    fused->tree = fusers[0].tree;
    for (unsigned i = 0; i < workers; i++) {
        if (i > 0) {
            merge_fuser(fused, &fusers[i]);
            context_tree_free(&fusers[i].tree);
        }
        vec_free(&fusers[i].chain);
        vec_free(&fusers[i].context_of);
        vec_free(&fusers[i].overhead);
        vec_free(&fusers[i].profiles);
    }
    free(fusers);
}

void fused_renumber(struct fused *fused, const uint32_t *new_ids)
{
    for (size_t i = 0; i < fused->profiles.n; i++)
        renumber_points(&fused->profiles.at[i], new_ids);
    context_tree_free(&fused->tree);
}

void fused_free(struct fused *fused)
{
    context_tree_free(&fused->tree);
    for (size_t i = 0; i < fused->profiles.n; i++)
        vec_free(&fused->profiles.at[i].points);
    vec_free(&fused->profiles);
}

static bool notes_agree(const struct measurement_node *node)
{
    if (node->ip_space != node->lip_space)
        return false;
    if (node->ip_space == MEASUREMENT_NO_NOTE || node->ip_space == MEASUREMENT_PLACEHOLDER)
        return node->ip_offset == node->lip_value;
    return node->ip_offset == node->lip_value && node->has_site && node->site == node->ip_offset;
}

bool projections_agree(const struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->files.n; i++) {
        const struct measurement *m = inputs->files.at[i].m;
        for (size_t k = 0; k < m->threads.n; k++)
            for (size_t n = 0; n < m->threads.at[k].nodes.n; n++)
                if (!notes_agree(&m->threads.at[k].nodes.at[n]))
                    return false;
    }
    return true;
}

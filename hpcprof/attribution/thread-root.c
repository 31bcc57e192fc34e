#include "hpcprof/attribution/thread-root.h"

#include "hpcprof/attribution/creation-point.h"
#include "hpcprof/attribution/start-routine.h"

#include <stdlib.h>

/* Creations that a path is followed back through. Without a limit, threads that each create the
 * next one would have paths of unbounded length. */
#define MAX_CREATIONS 16

struct thread_ref thread_ref_of(const struct measurements *measurements, size_t file, size_t index)
{
    const struct measurement *m = measurements->files.at[file].m;
    return (struct thread_ref){.file = file, .m = m, .thread = &m->threads.at[index]};
}

/* ---- creators ---- */

/* Sets *creator; returns false if the creator of a thread is unknown. */
static bool find_creator(const struct thread_ref *thread, struct thread_ref *creator)
{
    const struct measurement *m = thread->m;
    *creator = (struct thread_ref){.file = thread->file, .m = m};
    if (thread->thread->creator)
        creator->thread = measurement_find_thread(m, thread->thread->creator - 1);
    return creator->thread != NULL;
}

bool has_frame_in_creator(const struct thread_ref *thread)
{
    const struct measurement_join *join = &thread->thread->join;
    struct thread_ref creator;
    return find_creator(thread, &creator) && creator.thread != thread->thread && join->known &&
           join->node > MEASUREMENT_LOST_NODE && join->node < creator.thread->nodes.n;
}

/* ---- entry points ---- */

uint32_t thread_entry(struct context_builder *builder, const struct thread_ref *ref)
{
    const struct measurement_thread *thread = ref->thread;
    bool is_initial = thread->known ? thread->kind == THREAD_INITIAL : thread->index == 0;
    bool continues_forker =
        thread->creator == (uint64_t)thread->index + 1; /* a thread called fork */
    return entry_context(builder, ref->file,
                         is_initial && !continues_forker ? V4_MAIN_THREAD : V4_APPLICATION_THREAD);
}

/* ---- paths of nodes ---- */

uint32_t thread_start_function(const struct context_builder *builder,
                               const struct thread_ref *thread)
{
    uint32_t function = start_routine_of(builder->analysis, thread, builder->kind).function;
    bool has_original = function != NO_SYMBOL && builder->kind == PROJECTION_LOGICAL;
    return has_original ? builder->analysis->clones->original[function] : function;
}

struct node_path {
    VEC(uint32_t) nodes; /* outermost first; owned */
    size_t outside;      /* nodes outside of the start routine */
    bool is_below;       /* the next node is BELOW_START (start-routine.h) */
    size_t borrowed;     /* nodes outside of another thread's start routine (stack-owners.h) */
};

static struct node_path find_path(struct context_builder *builder, const struct thread_ref *thread,
                                  uint32_t node)
{
    struct node_path path = {0};
    const struct start_routine start = start_routine_of(builder->analysis, thread, builder->kind);
    for (; node != MEASUREMENT_ROOT; node = thread->thread->nodes.at[node].parent)
        vec_push(&path.nodes, node);
    for (size_t i = 0, k = path.nodes.n; i + 1 < k; i++) {
        uint32_t outer = path.nodes.at[--k];
        path.nodes.at[k] = path.nodes.at[i];
        path.nodes.at[i] = outer;
    }
    path.outside = start_routine_count_outside(&start, path.nodes.at, path.nodes.n, &path.is_below);
    if (path.outside == 0 && builder->kind == PROJECTION_LOGICAL)
        path.borrowed = stack_owners_count_borrowed(&builder->owners, builder->analysis, thread,
                                                    path.nodes.at, path.nodes.n);
    return path;
}

/* The context of the last note among the first `n` nodes of a path; if none of them has a note, the
 * context above the path. */
static uint32_t context_on_path(struct context_builder *builder, const struct thread_ref *thread,
                                const struct node_path *path, size_t n, unsigned creations)
{
    uint32_t context = CONTEXT_ROOT;
    for (size_t i = 0; i < path->nodes.n && (i < n || context == CONTEXT_ROOT); i++) {
        const struct measurement_node *node = &thread->thread->nodes.at[path->nodes.at[i]];
        const struct note note = note_of(node, builder->kind);
        if (context == CONTEXT_ROOT)
            context = context_of_owner(builder, thread, node, creations);
        if (note.space == MEASUREMENT_NO_NOTE || i < path->borrowed)
            continue;
        if (context == CONTEXT_ROOT)
            context = context_above(builder, thread, node, &note, creations);
        if (i == path->outside && path->is_below)
            context = call_below(builder, context, thread_start_function(builder, thread));
        if (i >= path->outside && i < n)
            context = note_below(builder, thread->file, context, &note);
    }
    return context;
}

/* The context of a node or, without the `innermost` nodes of its path, of a caller. */
static uint32_t path_context(struct context_builder *builder, const struct thread_ref *thread,
                             uint32_t node, size_t innermost, unsigned creations)
{
    struct node_path path = find_path(builder, thread, node);
    uint32_t context = context_on_path(builder, thread, &path, path.nodes.n - innermost, creations);
    vec_free(&path.nodes);
    return context;
}

uint32_t creation_context(struct context_builder *builder, const struct thread_ref *thread)
{
    struct thread_ref creator;
    uint32_t node = thread->thread->creation_context;
    if (!find_creator(thread, &creator) || node <= MEASUREMENT_LOST_NODE ||
        node >= creator.thread->nodes.n)
        return CONTEXT_ROOT;
    return path_context(builder, &creator, node, 0, MAX_CREATIONS);
}

/* ---- roots ---- */

/* Whether all frames from `node` out to `outer`, without the latter, are of C++'s library. */
static bool is_library_between(const struct context_builder *builder,
                               const struct thread_ref *thread, uint32_t outer, uint32_t node)
{
    const struct measurement_file *file = &builder->analysis->measurements->files.at[thread->file];
    for (; node > outer; node = thread->thread->nodes.at[node].parent) {
        const struct measurement_node *at = &thread->thread->nodes.at[node];
        if (at->ip_space >= file->m->modules.n ||
            !is_cxx_library(builder->analysis->symbols, file->module_of[at->ip_space],
                            at->ip_offset))
            return false;
    }
    return node == outer;
}

/* Finds where in its creator's frame a joined thread hangs. */
static struct creation_point find_point(const struct context_builder *builder,
                                        const struct thread_ref *thread,
                                        const struct thread_ref *creator, uint32_t module)
{
    const struct measurement_join *join = &thread->thread->join;
    const struct measurement_node *frame = &creator->thread->nodes.at[join->node];
    if (join->space != frame->ip_space)
        return (struct creation_point){.kind = POINT_CALLER};
    bool is_direct =
        is_library_between(builder, creator, join->node, thread->thread->creation_context);
    return creation_point_find(builder->analysis->symbols, module, frame->ip_offset, join->offset,
                               is_direct);
}

/* The context that a joined thread hangs below. */
static uint32_t context_in_creator(struct context_builder *builder, const struct thread_ref *thread,
                                   const struct thread_ref *creator, unsigned creations)
{
    uint32_t node = thread->thread->join.node;
    const struct measurement_node *frame = &creator->thread->nodes.at[node];
    if (!node_is_native(frame) || frame->ip_space >= creator->m->modules.n)
        return path_context(builder, creator, node, 0, creations);
    uint32_t module =
        builder->analysis->measurements->files.at[creator->file].module_of[frame->ip_space];
    struct creation_point point = find_point(builder, thread, creator, module);
    if (point.kind == POINT_CALL)
        return path_context(builder, creator, node, 0, creations);
    uint32_t caller = path_context(builder, creator, node, 1, creations);
    const struct structure_statement statement = {
        .scope = point.scope, .file = point.file, .line = point.line};
    return point.kind == POINT_CALLER ? caller
                                      : statement_below(builder, module, caller, &statement);
}

/* The context that a thread's own frames hang below. */
static uint32_t thread_root(struct context_builder *builder, const struct thread_ref *thread,
                            unsigned creations)
{
    struct thread_ref creator;
    uint32_t context = CONTEXT_ROOT;
    if (builder->kind == PROJECTION_LOGICAL && creations < MAX_CREATIONS &&
        has_frame_in_creator(thread) && find_creator(thread, &creator))
        context = context_in_creator(builder, thread, &creator, creations + 1);
    return context == CONTEXT_ROOT ? thread_entry(builder, thread) : context;
}

/* The context that another thread of the same process hangs below. */
static uint32_t other_root(struct context_builder *builder, const struct thread_ref *thread,
                           const struct measurement_thread *owner, unsigned creations)
{
    const struct thread_ref other = {.file = thread->file, .m = thread->m, .thread = owner};
    return thread_root(builder, &other, creations);
}

uint32_t context_of_owner(struct context_builder *builder, const struct thread_ref *thread,
                          const struct measurement_node *node, unsigned creations)
{
    const struct measurement_thread *owner =
        builder->kind == PROJECTION_LOGICAL ? stack_owner_named(thread->m, node) : NULL;
    return owner ? other_root(builder, thread, owner, creations) : CONTEXT_ROOT;
}

/* A path made by an agent begins in the thread that it came from: the main thread's begins in the
 * executable, all others in the C library, whose frames are left out. The same holds for a path whose
 * frames lead from a stack of the runtime to that of the main thread. */
uint32_t context_above(struct context_builder *builder, const struct thread_ref *thread,
                       const struct measurement_node *node, const struct note *note,
                       unsigned creations)
{
    const struct measurement *m = thread->m;
    if (note->space == MEASUREMENT_PLACEHOLDER && note->value == PLACEHOLDER_PARTIAL)
        return entry_context(builder, thread->file, V4_UNKNOWN_ENTRY);
    bool is_replaced = path_is_replaced(m, node), is_in_module = note->space < m->modules.n;
    const struct stack_owner *owner =
        is_replaced && builder->kind == PROJECTION_LOGICAL
            ? stack_owner_at(&builder->owners, builder->analysis, thread, note->space, note->value)
            : NULL;
    if (owner)
        return owner->is_unclear ? entry_context(builder, thread->file, V4_APPLICATION_THREAD)
                                 : other_root(builder, thread, owner->thread, creations);
    if (measurement_has_agent(m) && is_in_module && m->modules.at[note->space].flags & MODULE_MAIN)
        return entry_context(builder, thread->file, V4_MAIN_THREAD);
    if (!is_replaced || !is_in_module)
        return thread_root(builder, thread, creations);
    return entry_context(builder, thread->file, V4_APPLICATION_THREAD);
}

#include "hpcprof/threads/thread-paths.h"

#include "hpcprof/threads/creation-point.h"
#include "hpcprof/threads/start-routine.h"

#include <stdlib.h>

#define NOT_NEEDED IDMAP_NONE

/* Creations that a path is followed back through. Without a limit, threads that each create the
 * next one would have paths of unbounded length. */
#define MAX_CREATIONS 16

void thread_paths_start(struct thread_paths *paths, const struct analysis *analysis,
                        enum projection_kind kind)
{
    *paths = (struct thread_paths){0};
    builder_start(&paths->builder, analysis, kind);
}

void thread_paths_free(struct thread_paths *paths)
{
    builder_free(&paths->builder);
    stack_owners_free(&paths->owners);
    vec_free(&paths->context_of);
    vec_free(&paths->marks);
}

struct thread_ref thread_ref_of(const struct measurements *measurements, size_t file, size_t index)
{
    const struct measurement *m = measurements->files.at[file].m;
    return (struct thread_ref){.file = file, .m = m, .thread = &m->threads.at[index]};
}

static uint32_t thread_root(struct thread_paths *paths, const struct thread_ref *thread,
                            unsigned creations);

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
    return find_creator(thread, &creator) && creator.thread->index != thread->thread->index &&
           join->known && join->node > MEASUREMENT_LOST_NODE && join->node < creator.thread->nodes.n;
}

/* ---- above a path ---- */

/* The entry point of a thread that hangs below no other thread. */
static uint32_t thread_entry(struct context_builder *builder, const struct thread_ref *ref)
{
    const struct measurement_thread *thread = ref->thread;
    bool is_initial = thread->known ? thread->kind == THREAD_INITIAL : thread->index == 0;
    bool continues_forker =
        thread->creator == (uint64_t)thread->index + 1; /* a thread called fork */
    return entry_context(builder, ref->file,
                         is_initial && !continues_forker ? V4_MAIN_THREAD : V4_APPLICATION_THREAD);
}

/* The context that another thread of the same process hangs below. */
static uint32_t other_root(struct thread_paths *paths, const struct thread_ref *thread,
                           const struct measurement_thread *owner, unsigned creations)
{
    const struct thread_ref other = {.file = thread->file, .m = thread->m, .thread = owner};
    return thread_root(paths, &other, creations);
}

/* The context above the notes inside of a node that names the owner of their stack (stack-owners.h);
 * CONTEXT_ROOT: it names none. */
static uint32_t context_of_owner(struct thread_paths *paths, const struct thread_ref *thread,
                                 const struct measurement_node *node, unsigned creations)
{
    const struct measurement_thread *owner = paths->builder.kind == PROJECTION_LOGICAL
                                                 ? stack_owner_named(thread->m, node)
                                                 : NULL;
    return owner ? other_root(paths, thread, owner, creations) : CONTEXT_ROOT;
}

/* The context above an outermost note of a thread.
 *
 * A path made by an agent begins in the thread that it came from: the main thread's begins in the
 * executable, all others in the C library, whose frames are left out. The same holds for a path whose
 * frames lead from a stack of the runtime to that of the main thread. */
static uint32_t context_above(struct thread_paths *paths, const struct thread_ref *thread,
                              const struct measurement_node *node, const struct note *note,
                              unsigned creations)
{
    struct context_builder *builder = &paths->builder;
    const struct measurement *m = thread->m;
    if (note->space == MEASUREMENT_PLACEHOLDER && note->value == PLACEHOLDER_PARTIAL)
        return entry_context(builder, thread->file, V4_UNKNOWN_ENTRY);
    bool is_replaced = path_is_replaced(m, node), is_in_module = note->space < m->modules.n;
    const struct stack_owner *owner =
        is_replaced && builder->kind == PROJECTION_LOGICAL
            ? stack_owner_at(&paths->owners, builder->analysis, thread, note->space, note->value)
            : NULL;
    if (owner)
        return owner->is_unclear ? entry_context(builder, thread->file, V4_APPLICATION_THREAD)
                                 : other_root(paths, thread, owner->thread, creations);
    if (measurement_has_agent(m) && is_in_module && m->modules.at[note->space].flags & MODULE_MAIN)
        return entry_context(builder, thread->file, V4_MAIN_THREAD);
    if (!is_replaced || !is_in_module)
        return thread_root(paths, thread, creations);
    return entry_context(builder, thread->file, V4_APPLICATION_THREAD);
}

/* ---- nodes ---- */

uint32_t thread_start_function(const struct context_builder *builder,
                               const struct thread_ref *thread)
{
    uint32_t function = start_routine_of(builder->analysis, thread, builder->kind).function;
    bool has_original = function != NO_SYMBOL && builder->kind == PROJECTION_LOGICAL;
    return has_original ? builder->analysis->clones->original[function] : function;
}

/* Marks the nodes outside of start routines (enum start_mark). */
static void mark_nodes(struct thread_paths *paths, const struct thread_ref *thread, uint8_t *marks)
{
    const struct analysis *analysis = paths->builder.analysis;
    const struct start_routine start = start_routine_of(analysis, thread, paths->builder.kind);
    start_routine_mark(&start, marks);
    if (paths->builder.kind == PROJECTION_LOGICAL)
        stack_owners_mark(&paths->owners, analysis, thread, marks);
}

/* The context above a node, whose parent's context is `parent`: CONTEXT_ROOT as long as no note was met. */
static uint32_t context_around(struct thread_paths *paths, const struct thread_ref *thread,
                               const struct measurement_node *node, uint8_t mark, uint32_t parent,
                               unsigned creations)
{
    const struct note note = note_of(node, paths->builder.kind);
    if (parent == CONTEXT_ROOT)
        parent = context_of_owner(paths, thread, node, creations);
    if (parent == CONTEXT_ROOT && note.space != MEASUREMENT_NO_NOTE && mark != BORROWED)
        parent = context_above(paths, thread, node, &note, creations);
    return parent;
}

/* The context of a node. One without a note in this projection has the context of the nearest ancestor with
 * one, or CONTEXT_ROOT. `start`: function of the thread's start routine. */
static uint32_t context_of_node(struct thread_paths *paths, const struct thread_ref *thread,
                                const struct measurement_node *node, uint8_t mark, uint32_t start,
                                uint32_t parent, unsigned creations)
{
    const struct note note = note_of(node, paths->builder.kind);
    parent = context_around(paths, thread, node, mark, parent, creations);
    if (note.space == MEASUREMENT_NO_NOTE || mark == BORROWED || mark == OUTSIDE)
        return parent;
    if (mark == BELOW_START)
        parent = call_below(&paths->builder, parent, start);
    return note_below(&paths->builder, thread->file, parent, &note);
}

/* ---- the path of a node ---- */

/* A thread that has only the nodes of one path. The caller frees them. */
static struct measurement_thread path_to(const struct measurement_thread *thread, uint32_t node)
{
    struct measurement_thread path = *thread;
    size_t n = MEASUREMENT_LOST_NODE + 1;
    for (uint32_t at = node; at != MEASUREMENT_ROOT; at = thread->nodes.at[at].parent)
        n++;
    path.nodes.at = mem_alloc(n * sizeof *path.nodes.at);
    path.nodes.n = path.nodes.cap = n;
    for (uint32_t at = node; at != MEASUREMENT_ROOT; at = thread->nodes.at[at].parent) {
        path.nodes.at[--n] = thread->nodes.at[at];
        path.nodes.at[n].parent = n == MEASUREMENT_LOST_NODE + 1 ? MEASUREMENT_ROOT : (uint32_t)n - 1;
    }
    return path;
}

/* The context of a node or, without the `innermost` nodes of its path, of a caller. If none of the nodes
 * has a note, the context above the path. */
static uint32_t path_context(struct thread_paths *paths, const struct thread_ref *thread,
                             uint32_t node, size_t innermost, unsigned creations)
{
    struct measurement_thread path = path_to(thread->thread, node);
    const struct thread_ref on_path = {.file = thread->file, .m = thread->m, .thread = &path};
    autofree uint8_t *marks = mem_alloc(path.nodes.n);
    uint32_t start = thread_start_function(&paths->builder, &on_path), context = CONTEXT_ROOT;
    size_t end = path.nodes.n - innermost;
    mark_nodes(paths, &on_path, marks);
    for (size_t i = MEASUREMENT_LOST_NODE + 1; i < end; i++)
        context = context_of_node(paths, &on_path, &path.nodes.at[i], marks[i], start, context,
                                  creations);
    for (size_t i = end; i < path.nodes.n && context == CONTEXT_ROOT; i++)
        context = context_around(paths, &on_path, &path.nodes.at[i], marks[i], context, creations);
    vec_free(&path.nodes);
    return context;
}

uint32_t creation_context(struct thread_paths *paths, const struct thread_ref *thread)
{
    struct thread_ref creator;
    uint32_t node = thread->thread->creation_context;
    if (!find_creator(thread, &creator) || node <= MEASUREMENT_LOST_NODE ||
        node >= creator.thread->nodes.n)
        return CONTEXT_ROOT;
    return path_context(paths, &creator, node, 0, MAX_CREATIONS);
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
static uint32_t context_in_creator(struct thread_paths *paths, const struct thread_ref *thread,
                                   const struct thread_ref *creator, unsigned creations)
{
    uint32_t node = thread->thread->join.node;
    const struct measurement_node *frame = &creator->thread->nodes.at[node];
    if (!node_is_native(frame) || frame->ip_space >= creator->m->modules.n)
        return path_context(paths, creator, node, 0, creations);
    uint32_t module =
        paths->builder.analysis->measurements->files.at[creator->file].module_of[frame->ip_space];
    struct creation_point point = find_point(&paths->builder, thread, creator, module);
    if (point.kind == POINT_CALL)
        return path_context(paths, creator, node, 0, creations);
    uint32_t caller = path_context(paths, creator, node, 1, creations);
    const struct structure_statement statement = {
        .scope = point.scope, .file = point.file, .line = point.line};
    return point.kind == POINT_CALLER ? caller
                                      : statement_below(&paths->builder, module, caller, &statement);
}

/* The context that a thread's own frames hang below. */
static uint32_t thread_root(struct thread_paths *paths, const struct thread_ref *thread,
                            unsigned creations)
{
    struct thread_ref creator;
    uint32_t context = CONTEXT_ROOT;
    if (paths->builder.kind == PROJECTION_LOGICAL && creations < MAX_CREATIONS &&
        has_frame_in_creator(thread) && find_creator(thread, &creator))
        context = context_in_creator(paths, thread, &creator, creations + 1);
    return context == CONTEXT_ROOT ? thread_entry(&paths->builder, thread) : context;
}

/* ---- all nodes of a thread ---- */

/* Marks the nodes with amounts at or below them, as CONTEXT_ROOT. The others would become contexts
 * without values. */
static void mark_needed(struct thread_paths *paths)
{
    const struct measurement_thread *thread = paths->thread.thread;
    paths->context_of.n = 0;
    vec_reserve(&paths->context_of, thread->nodes.n);
    paths->context_of.n = thread->nodes.n;
    uint32_t *context_of = paths->context_of.at;
    for (size_t i = 0; i < thread->nodes.n; i++)
        context_of[i] = NOT_NEEDED;
    for (size_t i = 0; i < thread->values.n; i++)
        if (thread->values.at[i].amount)
            context_of[thread->values.at[i].node] = CONTEXT_ROOT;
    for (size_t i = thread->nodes.n - 1; i > MEASUREMENT_ROOT; i--)
        if (context_of[i] != NOT_NEEDED)
            context_of[thread->nodes.at[i].parent] = CONTEXT_ROOT;
}

/* Parents come before their children, so one pass suffices. */
void thread_paths_attribute(struct thread_paths *paths, const struct thread_ref *thread)
{
    size_t n = thread->thread->nodes.n;
    const struct measurement_node *nodes = thread->thread->nodes.at;
    paths->thread = *thread;
    paths->start_function = thread_start_function(&paths->builder, thread);
    mark_needed(paths);
    paths->marks.n = 0;
    vec_reserve(&paths->marks, n);
    paths->marks.n = n;
    mark_nodes(paths, thread, paths->marks.at);
    uint32_t *context_of = paths->context_of.at;
    for (size_t i = MEASUREMENT_ROOT + 1; i < n; i++)
        if (context_of[i] != NOT_NEEDED)
            context_of[i] = context_of_node(paths, thread, &nodes[i], paths->marks.at[i],
                                            paths->start_function, context_of[nodes[i].parent], 0);
}

uint32_t thread_paths_context(struct thread_paths *paths, uint32_t node)
{
    uint32_t context = paths->context_of.at[node];
    if (context == CONTEXT_ROOT)
        return thread_entry(&paths->builder, &paths->thread);
    if (paths->marks.at[node] == OUTSIDE)
        return call_below(&paths->builder, context, paths->start_function);
    return context;
}

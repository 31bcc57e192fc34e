#include "hpcprof/threads/thread-creations.h"

#include "hpcprof/threads/thread-paths.h"

#include <stdlib.h>

/* Adds the path that leads to a context. */
static void add_path(struct thread_creations *creations, const struct context_tree *tree,
                     uint32_t context)
{
    autofree VEC(uint32_t) inner = {0};
    for (; context != CONTEXT_ROOT; context = tree->contexts.at[context].parent)
        vec_push(&inner, context);
    size_t first = creations->frames.n;
    while (inner.n) {
        const struct context *at = &tree->contexts.at[inner.at[--inner.n]];
        if (context_is_function(at)) {
            const struct creation_frame frame = {.function = at->name, .file = NO_SYMBOL};
            vec_push(&creations->frames, frame);
        } else if (at->kind == CONTEXT_LINE && creations->frames.n > first) {
            creations->frames.at[creations->frames.n - 1].file = at->name;
            creations->frames.at[creations->frames.n - 1].line = (uint32_t)at->detail;
        }
    }
    vec_push(&creations->paths, creations->frames.n);
}

/* Returns the index of the path to a context. Contexts are unique, so each stands for one path. */
static uint32_t path_of(struct thread_creations *creations, struct idmap *known,
                        const struct context_tree *tree, uint32_t context)
{
    if (context == CONTEXT_ROOT)
        return NO_SYMBOL;
    uint32_t path = idmap_get(known, context, 0);
    if (path == IDMAP_NONE) {
        path = (uint32_t)creations->paths.n;
        idmap_put(known, context, 0, path);
        add_path(creations, tree, context);
    }
    return path;
}

void thread_creations_find(struct thread_creations *creations, const struct analysis *analysis)
{
    struct idmap known = {0};
    struct thread_paths paths;
    thread_paths_start(&paths, analysis, PROJECTION_LOGICAL);
    for (size_t i = 0; i < analysis->measurements->files.n; i++)
        for (size_t k = 0; k < analysis->measurements->files.at[i].m->threads.n; k++) {
            const struct thread_ref thread = thread_ref_of(analysis->measurements, i, k);
            uint32_t context = creation_context(&paths, &thread);
            const struct thread_origin origin = {
                .path = path_of(creations, &known, &paths.builder.tree, context),
                .start_routine = thread_start_function(&paths.builder, &thread),
                .is_in_creator = has_frame_in_creator(&thread),
            };
            vec_push(&creations->threads, origin);
        }
    context_tree_free(&paths.builder.tree);
    thread_paths_free(&paths);
    idmap_free(&known);
}

void thread_creations_free(struct thread_creations *creations)
{
    vec_free(&creations->frames);
    vec_free(&creations->paths);
    vec_free(&creations->threads);
}

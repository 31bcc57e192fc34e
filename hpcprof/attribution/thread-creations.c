#include "hpcprof/attribution/thread-creations.h"

#include "hpcprof/attribution/path-attribution.h"

#include <stdlib.h>

/* Adds the path that ends in a context. */
static void add_path(struct creations *creations, const struct context_tree *tree, uint32_t context)
{
    VEC(uint32_t) inner = {0};
    for (; context != CONTEXT_ROOT; context = tree->contexts.at[context].parent)
        vec_push(&inner, context);
    size_t first = creations->frames.n;
    while (inner.n) {
        const struct context *at = &tree->contexts.at[inner.at[--inner.n]];
        if (at->kind == CONTEXT_CALL || at->kind == CONTEXT_INLINED) {
            const struct creation_frame frame = {.function = at->name, .file = PROGRAM_NONE};
            vec_push(&creations->frames, frame);
        } else if (at->kind == CONTEXT_LINE && creations->frames.n > first) {
            creations->frames.at[creations->frames.n - 1].file = at->name;
            creations->frames.at[creations->frames.n - 1].line = (uint32_t)at->detail;
        }
    }
    vec_push(&creations->paths, creations->frames.n);
    vec_free(&inner);
}

/* Contexts are unique, so each stands for one path. */
static uint32_t path_of(struct creations *creations, struct idmap *known,
                        const struct context_tree *tree, uint32_t context)
{
    if (context == CONTEXT_ROOT)
        return PROGRAM_NONE;
    uint32_t path = idmap_get(known, context, 0);
    if (path == IDMAP_NONE) {
        path = (uint32_t)creations->paths.n;
        idmap_put(known, context, 0, path);
        add_path(creations, tree, context);
    }
    return path;
}

void creations_find(struct creations *creations, const struct inputs *inputs,
                    const struct program *program)
{
    struct idmap known = {0};
    struct placer placer;
    placer_start(&placer, inputs, program, PROJECTION_LOGICAL);
    for (size_t i = 0; i < inputs->files.n; i++)
        for (size_t k = 0; k < inputs->files.at[i].m->threads.n; k++) {
            const struct measurement_thread *thread = &inputs->files.at[i].m->threads.at[k];
            uint32_t context = placer_creation(&placer, i, thread);
            const struct thread_origin origin = {
                .path = path_of(creations, &known, &placer.tree, context),
                .start_routine = placer_start_routine(&placer, i, thread),
                .has_live_frame = placer_has_live_frame(&placer, i, thread),
            };
            vec_push(&creations->threads, origin);
        }
    context_tree_free(&placer.tree);
    placer_free(&placer);
    idmap_free(&known);
}

void creations_free(struct creations *creations)
{
    vec_free(&creations->frames);
    vec_free(&creations->paths);
    vec_free(&creations->threads);
}

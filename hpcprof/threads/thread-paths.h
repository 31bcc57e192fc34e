/* Attributes the nodes of threads' trees to source-level calling contexts (note-contexts.h), and says below
 * which context each thread hangs.
 *
 * - In the logical projection, a thread hangs below the deepest frame of the path that created it
 *   that stayed live until its creator joined it (creation-point.h). The creator itself hangs
 *   likewise, through at most 16 creations.
 * - All other threads hang below <thread root>; in the physical projection all but the initial ones
 *   do.
 * - Their paths begin with their start routines (start-routine.h).
 * - Paths that agents rooted themselves, such as those of a runtime's workers, hang where the thread
 *   does on whose stack they begin (stack-owners.h). */
#ifndef HPCPROF_THREAD_PATHS_H
#define HPCPROF_THREAD_PATHS_H

#include "hpcprof/contexts/note-contexts.h"
#include "hpcprof/threads/stack-owners.h"

/* The contexts of one thread's nodes; used again for the next thread. */
struct thread_paths {
    struct context_builder builder;
    struct stack_owners owners; /* of the file that the current thread is in */
    struct thread_ref thread;
    VEC(uint32_t) context_of; /* by node */
    VEC(uint8_t) marks;       /* by node: enum start_mark (start-routine.h) */
    uint32_t start_function;  /* of the thread's start routine; NO_SYMBOL: unknown */
};

void thread_paths_start(struct thread_paths *paths, const struct analysis *analysis,
                        enum projection_kind kind);

/* Frees all but the builder's tree. */
void thread_paths_free(struct thread_paths *paths);

/* The thread with that index in the process of a file. */
struct thread_ref thread_ref_of(const struct measurements *measurements, size_t file, size_t index);

/* Builds the contexts of those nodes of a thread that have amounts at or below them. */
void thread_paths_attribute(struct thread_paths *paths, const struct thread_ref *thread);

/* The context of a node with amounts. What was measured outside of all notes belongs to the
 * thread's entry point. */
uint32_t thread_paths_context(struct thread_paths *paths, uint32_t node);

/* The function of a thread's start routine; NO_SYMBOL: unknown. */
uint32_t thread_start_function(const struct context_builder *builder,
                               const struct thread_ref *thread);

/* Whether a thread hangs below a frame of its creator. */
bool has_frame_in_creator(const struct thread_ref *thread);

/* The context of the call that created a thread, below the entry point of its creator;
 * CONTEXT_ROOT: unknown. Builds the contexts of its frames whether they have amounts or not. */
uint32_t creation_context(struct thread_paths *paths, const struct thread_ref *thread);

#endif

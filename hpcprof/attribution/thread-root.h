/* Finds the contexts below which threads hang.
 *
 * - In the logical projection, a thread hangs below the deepest frame of the path that created it
 *   that stayed live until its creator joined it (creation-point.h). The creator itself hangs
 *   likewise, through at most 16 creations.
 * - All other threads hang below <thread root>; in the physical projection all but the initial ones
 *   do.
 * - Their paths begin with their start routines (start-routine.h).
 * - Paths that agents rooted themselves, such as those of a runtime's workers, hang where the thread
 *   does on whose stack they begin (stack-owners.h). */
#ifndef HPCPROF_THREAD_ROOT_H
#define HPCPROF_THREAD_ROOT_H

#include "hpcprof/attribution/note-contexts.h"

/* The thread with that index in the process of a file. */
struct thread_ref thread_ref_of(const struct measurements *measurements, size_t file, size_t index);

/* The context above an outermost note of a thread. `creations`: creations followed so far. */
uint32_t context_above(struct context_builder *builder, const struct thread_ref *thread,
                       const struct measurement_node *node, const struct note *note,
                       unsigned creations);

/* The context above the notes inside of a node that names the owner of their stack (stack-owners.h);
 * CONTEXT_ROOT: it names none. */
uint32_t context_of_owner(struct context_builder *builder, const struct thread_ref *thread,
                          const struct measurement_node *node, unsigned creations);

/* The entry point of a thread that hangs below no other thread. */
uint32_t thread_entry(struct context_builder *builder, const struct thread_ref *thread);

/* The function of a thread's start routine; NO_SYMBOL: unknown. */
uint32_t thread_start_function(const struct context_builder *builder,
                               const struct thread_ref *thread);

/* Whether a thread hangs below a frame of its creator. */
bool has_frame_in_creator(const struct thread_ref *thread);

/* The context of the call that created a thread, below the entry point of its creator;
 * CONTEXT_ROOT: unknown. Builds the contexts of its frames whether they have amounts or not. */
uint32_t creation_context(struct context_builder *builder, const struct thread_ref *thread);

#endif

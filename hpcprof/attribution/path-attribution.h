/* Attributes the nodes of threads' trees to source-level calling contexts (note-contexts.h,
 * thread-root.h). */
#ifndef HPCPROF_PATH_ATTRIBUTION_H
#define HPCPROF_PATH_ATTRIBUTION_H

#include "hpcprof/attribution/note-contexts.h"

/* The contexts of one thread's nodes; used again for the next thread. */
struct attribution {
    struct thread_ref thread;
    VEC(uint32_t) context_of; /* by node */
    VEC(uint8_t) marks;       /* by node: enum start_mark (start-routine.h) */
    uint32_t start_function;  /* of the thread's start routine; NO_SYMBOL: unknown */
};

/* Builds the contexts of those nodes of a thread that have amounts at or below them. */
void attribute_thread(struct attribution *attribution, struct context_builder *builder,
                      const struct thread_ref *thread);

/* The context of a node with amounts. What was measured outside of all notes belongs to the
 * thread's entry point. */
uint32_t attributed_context(const struct attribution *attribution, struct context_builder *builder,
                            uint32_t node);

void attribution_free(struct attribution *attribution);

#endif

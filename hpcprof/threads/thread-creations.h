/* The origins of threads, for run.json: their start routines, the call paths that created them,
 * and whether they hang below a frame of their creator (thread-root.h). */
#ifndef HPCPROF_THREAD_CREATIONS_H
#define HPCPROF_THREAD_CREATIONS_H

#include "hpcprof/contexts/analysis.h"

/* A procedure of a creation path. */
struct creation_frame {
    uint32_t function; /* in the symbol table */
    uint32_t file,
        line; /* of the call of the next procedure, or of the creation; line 0: unknown */
};

struct thread_origin {
    uint32_t path;          /* index in paths; NO_SYMBOL: unknown */
    uint32_t start_routine; /* function in the symbol table; NO_SYMBOL: unknown */
    bool is_in_creator;     /* the thread hangs below a frame of its creator */
};

struct thread_creations {
    VEC(struct creation_frame) frames; /* of all paths, outermost first */
    VEC(size_t) paths;                 /* of each path: one after its last frame */
    VEC(struct thread_origin) threads; /* in the order of the files and their threads */
};

/* Needs the trees of the threads. */
void thread_creations_find(struct thread_creations *creations, const struct analysis *analysis);
void thread_creations_free(struct thread_creations *creations);

#endif

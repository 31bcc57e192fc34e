/* Where threads come from: their start routines, the call paths that created them, and whether they
 * hang below a frame of their creator (path-attribution.h). For run.json. */
#ifndef HPCPROF_THREAD_CREATIONS_H
#define HPCPROF_THREAD_CREATIONS_H

#include "hpcprof/names/symbol-table.h"

/* A procedure of a creation path and the line that it calls the next one at, or that creates the
 * thread. */
struct creation_frame {
    uint32_t function;   /* of the program */
    uint32_t file, line; /* of the program; line 0: unknown */
};

struct thread_origin {
    uint32_t path;          /* index in paths; PROGRAM_NONE: unknown */
    uint32_t start_routine; /* function of the program; PROGRAM_NONE: unknown */
    bool has_live_frame;
};

struct creations {
    VEC(struct creation_frame) frames; /* of all paths, outermost first */
    VEC(size_t) paths;                 /* of each path: one after its last frame */
    VEC(struct thread_origin) threads; /* in the order of the files and their threads */
};

/* Finds them; the threads' trees are needed. */
void creations_find(struct creations *creations, const struct inputs *inputs,
                    const struct program *program);
void creations_free(struct creations *creations);

#endif

/* Places the nodes of threads' trees among source-level calling contexts.
 *
 * A projection of a thread's logical calling context tree is the tree of its ips or of its lips
 * (doc/FORMAT-hpcrun.md, section 5, NODES). Each note becomes the chain of scopes around its
 * address, from the procedure, which is called, over loops and inlined procedures to the line; the
 * notes below hang under that line (doc/FORMAT-database.md, section 1). Below a note of unknown
 * site they hang under a CONTEXT_NO_SITE, until the whole tree is known (unknown-call-sites.h).
 *
 * In the logical projection a thread hangs below the deepest frame of the path that created it that
 * stayed live until its creator joined it (creation-point.h); the creator hangs likewise, through at
 * most 16 creations. All other threads hang below <thread root>, and in the physical projection all
 * but the initial ones do. Their paths begin with their start routines (start-routine.h). What agents
 * have rooted themselves, as runtimes' workers, stays where it is. */
#ifndef HPCPROF_PATH_ATTRIBUTION_H
#define HPCPROF_PATH_ATTRIBUTION_H

#include "hpcprof/tree/context-tree.h"
#include "hpcprof/names/symbol-table.h"

enum projection { PROJECTION_LOGICAL, PROJECTION_PHYSICAL };

struct placer {
    const struct inputs *inputs;
    const struct program *program;
    enum projection projection;
    struct context_tree tree; /* grows; the caller's to free */
    VEC(uint32_t) chain;      /* scratch: scopes from the inside out */
    VEC(uint32_t) context_of; /* context of each node of the thread that was placed last */
    VEC(uint8_t) outside;     /* mark of each of its nodes (start-routine.h) */
    uint32_t start_routine;   /* its function; PROGRAM_NONE: unknown */
    size_t input;             /* the file of that thread */
};

void placer_start(struct placer *p, const struct inputs *inputs, const struct program *program,
                  enum projection projection);

/* Frees all but the tree. */
void placer_free(struct placer *p);

/* Gives contexts to those of a thread's nodes that have amounts at or below them. */
void placer_place(struct placer *p, size_t input, const struct measurement_thread *thread);

/* The context of the call that created a thread, below the entry of its creator; CONTEXT_ROOT if it
 * is not known. Gives contexts to its frames whether they have amounts or not. */
uint32_t placer_creation(struct placer *p, size_t input, const struct measurement_thread *thread);

/* Whether a thread hangs below a frame of its creator. */
bool placer_has_live_frame(const struct placer *p, size_t input,
                           const struct measurement_thread *thread);

/* The function of a thread's start routine; PROGRAM_NONE if it is not known. */
uint32_t placer_start_routine(const struct placer *p, size_t input,
                              const struct measurement_thread *thread);

/* Adds to the tree, below context 0, a call that code of a module has: at an address in it, of the
 * procedure at another one. Does nothing where either is in no known procedure. */
void placer_call(struct placer *p, uint32_t module, uint64_t address, uint64_t target);

/* The context of a node, with amounts, of the thread that was placed last. What was measured
 * outside of all notes belongs to the thread's entry. */
uint32_t placer_context(struct placer *p, const struct measurement_thread *thread, uint32_t node);

#endif

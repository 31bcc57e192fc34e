/* The calling contexts of work and span: chains of procedures that were spawned.
 *
 * Recursion is folded: a procedure that is among its own callers continues in the context of the
 * outermost of its activations. So the number of contexts is that of the program's simple paths,
 * not that of its activations, and a recursive procedure has one row that holds all of its
 * recursion.
 *
 * Contexts are found and added by all workers at once, without locks; none is ever removed. */
#ifndef HPCRUN_SPAN_SPAN_CONTEXTS_H
#define HPCRUN_SPAN_SPAN_CONTEXTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A program with more gets them counted in their callers' contexts. */
#define SPAN_CONTEXTS (UINT32_C(1) << 16)

#define CONTEXT_PROGRAM 0u /* the serial program, which calls roots */
#define CONTEXT_NONE    UINT32_MAX

struct span_context {
    uint32_t parent;
    uint32_t next;                /* its parent's next child; CONTEXT_PROGRAM: no more */
    _Atomic uint32_t first_child; /* CONTEXT_PROGRAM: none */
    uint64_t procedure;           /* address of the procedure's code */
    uint64_t site; /* return address of the spawn, in the parent's procedure; 0: a root */
};

/* Reserves memory; false if there is none. Normal context, once. */
bool span_contexts_init(void);

/* The context of a procedure that `parent` spawned at `site`. */
uint32_t span_context_of(uint32_t parent, uint64_t procedure, uint64_t site);

const struct span_context *span_context(uint32_t id);

/* The end of the ids in use. A parent's id is smaller than its child's. */
uint32_t span_contexts_end(void);

/* Whether there were more than SPAN_CONTEXTS. */
bool span_contexts_overflowed(void);

#endif

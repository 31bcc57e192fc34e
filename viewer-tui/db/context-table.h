/* The whole calling context tree (CCT) in compact arrays, for passes over all contexts.
 *
 * Contexts are numbered in preorder: those below context c are c + 1 .. end[c] - 1, so one context
 * lies below another if its number lies in that interval, and a loop over the numbers visits every
 * context after its parent. Number 0 is the whole program; its children are the entry points
 * (KIND_ROOT, place is the index of the entry). 29 bytes per context. */
#ifndef VIEWER_CCT_H
#define VIEWER_CCT_H

#include "viewer-tui/db/database.h"

struct cct {
    uint32_t n;
    uint8_t *kind;    /* enum scope_kind */
    uint32_t *parent; /* 0 for the entry points and for 0 itself */
    uint32_t *end;
    uint32_t *procedure; /* the innermost procedure or inlined procedure that contains it, or
                            itself; its entry point or 0 if there is none */
    uint32_t *place;     /* as in struct context */
    uint32_t *line;
    uint32_t *id;       /* of the values */
    uint64_t *at;       /* offset in meta.db; NULL unless it was read with places */
    uint32_t *position; /* of the values (summary-values.h); NOTHING if there are none */
};

/* Reads the tree; skips damaged parts, with the problem noted. NULL if the user stopped it. The
 * caller frees with cct_free. */
struct cct *cct_read(struct database *db);
/* The same with the offsets of contexts in meta.db; 0 for entry points. */
struct cct *cct_read_with_places(struct database *db);
void cct_free(struct cct *cct); /* NULL allowed */

static inline void cct_costs(const struct cct *cct, const struct values *values, uint32_t context,
                             struct cost *costs)
{
    uint32_t position = cct->position[context];
    values_fetch(values, position == NOTHING ? NO_POSITION : position,
                 cct->kind[context] == KIND_LOOP, costs);
}

/* The procedure that called `context`, a procedure, or into which it was inlined; its entry point
 * if there is none. */
static inline uint32_t cct_caller(const struct cct *cct, uint32_t context)
{
    return cct->procedure[cct->parent[context]];
}

/* The statement that called `context` or into which it was inlined: the innermost one that contains
 * it in the same procedure. 0 if there is none. */
uint32_t cct_call_site(const struct cct *cct, uint32_t context);

#endif

/* The whole calling context tree in compact arrays, for what needs a pass over everything.
 *
 * Contexts are numbered in preorder: those below context c are c + 1 .. end[c] - 1, so one context
 * lies below another if its number lies in that interval, and a loop over the numbers visits every
 * context after the one above it. Number 0 is the whole program, below it stand the entry points
 * (KIND_ROOT, place is the index of the entry). 29 bytes per context. */
#ifndef VIEWER_CCT_H
#define VIEWER_CCT_H

#include "viewer-tui/db/database.h"

struct cct {
    uint32_t n;
    uint8_t *kind;    /* enum scope_kind */
    uint32_t *parent; /* 0 for the entry points and for 0 itself */
    uint32_t *end;
    uint32_t *procedure; /* the innermost procedure or inlined procedure around it, itself included;
                            its entry point or 0 when there is none */
    uint32_t *place;     /* as in struct context */
    uint32_t *line;
    uint32_t *id;       /* of the values */
    uint64_t *at;       /* where they stand in meta.db; NULL unless it was read with places */
    uint32_t *position; /* where the values are (values.h), NOTHING when there are none */
};

/* Reads the tree; damaged parts are left out, with the problem noted. NULL if the user stopped
 * it. The caller frees. */
struct cct *cct_read(struct database *db);
/* The same with where contexts stand; of entry points that is 0. */
struct cct *cct_read_with_places(struct database *db);
void cct_free(struct cct *cct); /* NULL allowed */

static inline void cct_costs(const struct cct *cct, const struct values *values, uint32_t context,
                             struct cost *costs)
{
    uint32_t position = cct->position[context];
    values_fetch(values, position == NOTHING ? NO_POSITION : position,
                 cct->kind[context] == KIND_LOOP, costs);
}

/* The procedure from which `context`, a procedure, was called or into which it was inlined; its
 * entry point when there is none. */
static inline uint32_t cct_caller(const struct cct *cct, uint32_t context)
{
    return cct->procedure[cct->parent[context]];
}

/* The statement from which `context` was called or into which it was inlined: the innermost one
 * around it, within the same procedure. 0 when there is none. */
uint32_t cct_call_site(const struct cct *cct, uint32_t context);

#endif

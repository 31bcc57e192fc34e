/* The values of which a row's cost is the sum: one per context that the row stands for. If recursion
 * is collapsed (fold.h), some of them are subtracted. Views list them (view_value_refs);
 * thread-values.h adds them up per thread. */
#ifndef VIEWER_VALUE_REFS_H
#define VIEWER_VALUE_REFS_H

#include "lib/alloc.h"
#include "viewer-tui/base/scope.h"
#include "viewer-tui/metrics/metric.h"

struct value_ref {
    uint32_t context; /* id in the database */
    uint8_t scope;    /* enum metric_scope: which of the context's values */
    bool is_subtracted;
};

/* A zeroed one is empty; the owner frees it with vec_free(&refs.list). */
struct value_refs {
    VEC(struct value_ref) list;
};

/* The inclusive cost of a context. */
static inline struct value_ref value_ref_inclusive(uint32_t context)
{
    return (struct value_ref){context, METRIC_EXECUTION, false};
}

/* The exclusive cost of a context; that of a loop excludes the loops within it. */
static inline struct value_ref value_ref_exclusive(uint32_t context, bool is_loop)
{
    return (struct value_ref){context, is_loop ? METRIC_LEX_AWARE : METRIC_FUNCTION, false};
}

static inline void value_refs_add_inclusive(struct value_refs *refs, uint32_t context)
{
    vec_push(&refs->list, value_ref_inclusive(context));
}

static inline void value_refs_add_exclusive(struct value_refs *refs, uint32_t context, bool is_loop)
{
    vec_push(&refs->list, value_ref_exclusive(context, is_loop));
}

#endif

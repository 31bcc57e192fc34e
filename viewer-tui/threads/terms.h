/* What the cost of a row is the sum of: values of contexts, one for each. Views say what they are
 * (view_terms); thread-values.h adds them up in each thread. */
#ifndef VIEWER_TERMS_H
#define VIEWER_TERMS_H

#include "lib/alloc.h"
#include "viewer-tui/metrics/metric.h"
#include "viewer-tui/db/scope.h"

struct term {
    uint32_t context; /* id of its values */
    uint8_t scope;    /* enum metric_scope: which of them */
};

/* A zeroed one is empty; the owner frees it with vec_free(&terms.list). */
struct terms {
    VEC(struct term) list;
};

/* The inclusive costs of a context. */
static inline struct term term_inclusive(uint32_t context)
{
    return (struct term){context, METRIC_EXECUTION};
}

/* The exclusive costs of a context: of a loop they leave out loops within it. */
static inline struct term term_exclusive(uint32_t context, bool is_loop)
{
    return (struct term){context, is_loop ? METRIC_LEX_AWARE : METRIC_FUNCTION};
}

static inline void terms_add_inclusive(struct terms *terms, uint32_t context)
{
    vec_push(&terms->list, term_inclusive(context));
}

static inline void terms_add_exclusive(struct terms *terms, uint32_t context, bool is_loop)
{
    vec_push(&terms->list, term_exclusive(context, is_loop));
}

#endif

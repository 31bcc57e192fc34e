/* A folded tree (fold.h), and of what the costs of its nodes are sums. */
#ifndef VIEWER_FOLD_TERMS_H
#define VIEWER_FOLD_TERMS_H

#include "viewer-tui/base/scope.h"
#include "viewer-tui/db/nodes.h"

struct fold_choice {
    bool inlined, recursion, kernel;
};

static inline bool fold_choice_is_same(struct fold_choice a, struct fold_choice b)
{
    return a.inlined == b.inlined && a.recursion == b.recursion && a.kernel == b.kernel;
}

/* What a node of the file adds to the costs of a folded node. */
enum term_role {
    TERM_WHOLE, /* its costs are added */
    TERM_OWN,   /* its exclusive costs are added: a recursive call, inlined code, or the kernel */
    TERM_LEFT   /* its inclusive costs are subtracted: a call that leads out of the node */
};

struct fold_term {
    uint32_t node; /* of the file's tree */
    uint8_t role;  /* enum term_role */
};

struct fold {
    struct nodes *nodes;
    struct fold_term *terms; /* those of node n: first_term[n] .. first_term[n + 1] - 1 */
    uint32_t *first_term;
};

static inline bool fold_term_counts(const struct fold_term *term, enum cost_part part)
{
    return term->role == TERM_WHOLE || (term->role == TERM_LEFT) == (part == INCLUSIVE);
}

#endif

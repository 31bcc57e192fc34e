/* Resolves calls from unknown sites: finds where they belong in the tree.
 *
 * A runtime without exact spawn sites knows the procedure of a stolen frame, but not where in it
 * the call is. path-attribution.h puts what such a frame called below a CONTEXT_NO_SITE of its
 * procedure:
 *
 *     f                                    f
 *       line 12                              line 12
 *         g   3 s, below it h       ->         g   5 s, below it h and i
 *       unknown site
 *         g   2 s, below it h and i
 *
 * The known sites of a call of g in f are those in any call path of the run, and the direct calls
 * in the code as far as the caller of this file knows them.
 *
 * - If there is one site, the call was there: it joins that site's context, which is created if
 *   need be.
 * - If there are several and they are one source line in different loops (f was copied), the call
 *   joins one that a call path has; of these, the one in most loops.
 * - Otherwise the call hangs directly below f, like calls from code without lines.
 *
 * It is not enough to look at one context of f: fib calls itself from two lines, but in a context
 * with few samples all of them may be from one.
 *
 * A call that moves takes its descendants along. No amount is divided: each context of the old tree
 * becomes one context of the new one. */
#ifndef HPCPROF_UNKNOWN_CALL_SITES_H
#define HPCPROF_UNKNOWN_CALL_SITES_H

#include "hpcprof/tree/context-tree.h"

struct context_ids {
    uint32_t *at;
    size_t n, cap;
};

/* Whether a tree has a CONTEXT_NO_SITE. */
bool has_unknown_call_sites(const struct context_tree *tree);

/* Replaces a complete tree by one without CONTEXT_NO_SITE. `code` has the direct calls in the code,
 * below their callers. Returns, by old id, the new ids of the contexts; the caller frees. Appends
 * to `unresolved` the contexts of calls whose site stays unknown, some of them repeatedly. */
uint32_t *resolve_call_sites(struct context_tree *tree, const struct context_tree *code,
                             struct context_ids *unresolved);

#endif

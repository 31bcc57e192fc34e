/* Calls from sites that are not known: where they belong in the tree.
 *
 * A runtime without exact spawn sites knows of a stolen frame which procedure it belongs to, but
 * not where in it the call is. path-attribution.h puts what such a frame called below a CONTEXT_NO_SITE of
 * its procedure:
 *
 *     f                                    f
 *       line 12                              line 12
 *         g   3 s, below it h       ->         g   5 s, below it h and i
 *       unknown site
 *         g   2 s, below it h and i
 *
 * The known sites of a call of g in f are those that any call path of the run has, and those that
 * the code has, as far as the caller knows them:
 *
 * - There is one: the call was there. It joins that site's context, which is made if need be.
 * - There are several that are one source line in different loops, as of copies of f with other
 *   loops: it joins one that a call path has, of these the one in most loops.
 * - There are several, or none: the call hangs directly below f, where code without lines calls.
 *
 * It is not enough that one context of f has one site of g: fib calls itself from two lines, and in
 * a context with few samples of known site all of them may be of one.
 *
 * What joins brings what is below it along. No amount is divided: each context of the old tree
 * becomes one context of the new one. */
#ifndef HPCPROF_UNKNOWN_CALL_SITES_H
#define HPCPROF_UNKNOWN_CALL_SITES_H

#include "hpcprof/tree/context-tree.h"

#include <stdbool.h>

struct context_ids {
    uint32_t *at;
    size_t n, cap;
};

/* Whether a tree has a CONTEXT_NO_SITE. */
bool call_sites_lack(const struct context_tree *tree);

/* Makes a tree without CONTEXT_NO_SITE of one that is complete; `code` has calls that the code has,
 * below their callers (hpcprof/attribution/static-calls.h). Returns the new ids of its
 * contexts, to be freed by the caller. Appends the contexts of calls whose site stays unknown, some
 * of them more than once. */
uint32_t *call_sites_join(struct context_tree *tree, const struct context_tree *code,
                          struct context_ids *unknown);

#endif

/* Collapses recursion in a tree of calling contexts. A call of a function that is on the call path
 * already leads back to its context there:
 *
 *     main > a > b > a > b > c    becomes    main > a > b > c
 *     main > a > b > a > d        becomes    main > a > d
 *
 * So no path has a function twice, and every cost moves to one context: each sample counts once. An
 * inlined copy counts as a call. The inclusive cost of the outermost call (a) is that of the whole
 * recursion; that of a function which it calls again and again (b) lacks what b spent in inner
 * calls of a, as in the cycles of gprof.
 *
 * viewer-tui/db/fold.h does the same to a database. */
#ifndef HPCPROF_RECURSIVE_CALLS_H
#define HPCPROF_RECURSIVE_CALLS_H

#include "hpcprof/tree/numbered-contexts.h"
#include "hpcprof/tree/unknown-call-sites.h"

/* By function, those that stand for unknown code, which is never taken for recursion. The caller frees. */
bool *placeholder_functions(const struct symbol_table *symbols);

/* Collapses a complete tree. `is_placeholder` as above. Returns, by old id, the new ids of the contexts; the caller
 * frees. Replaces the ids in `unresolved`, calls from unknown sites; those that are recursive are
 * dropped. */
uint32_t *collapse_recursion(struct context_tree *tree, const bool *is_placeholder,
                             struct context_ids *unresolved);

/* The number of contexts that a tree would have without recursion. If that is `enough` or more, the result is
 * `enough` or more, and comes sooner if few contexts are in recursive calls. */
size_t count_without_recursion(const struct numbered_contexts *contexts, size_t enough);

#endif

/* The sites, in each function's code, that are known to call another function.
 *
 * A site is the chain of scopes (loops, inlined procedures, lines) between the context of a
 * function and that of one that it calls. It does not depend on the function's callers. */
#ifndef HPCPROF_KNOWN_CALL_SITES_H
#define HPCPROF_KNOWN_CALL_SITES_H

#include "hpcprof/tree/context-tree.h"

#include "lib/hash-tables.h"

struct known_sites {
    struct context_tree tree; /* below context 0 the functions, below these their sites */
    /* (caller, callee) -> site, a context of `tree`, or SITES_SEVERAL. */
    struct idmap of_paths; /* that call paths have */
    struct idmap of_code;  /* that the code has */
};

#define SITES_NONE    IDMAP_NONE
#define SITES_SEVERAL (IDMAP_NONE - 1)

void known_sites_start(struct known_sites *sites);
void known_sites_free(struct known_sites *sites);

/* Adds the sites of all calls of a tree: of call paths, or of the code (hpcprof/attribution/static-calls.h). */
void known_sites_add_paths(struct known_sites *sites, const struct context_tree *tree);
void known_sites_add_code(struct known_sites *sites, const struct context_tree *tree);

/* The site at which a function calls another one; SITES_NONE or SITES_SEVERAL. Of several that are
 * one line in different loops, as of copies of a procedure, it is one of a call path, and of these
 * the one in most loops. */
uint32_t known_sites_find(const struct known_sites *sites, uint32_t caller, uint32_t callee);

#endif

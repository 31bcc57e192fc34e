/* The known sites of calls: for each pair of functions, where in the code of the one the other is
 * called.
 *
 * A site is the chain of scopes (loops, inlined procedures, line) between the context of a function
 * and the context of a function that it calls. It does not depend on the function's callers. */
#ifndef HPCPROF_KNOWN_CALL_SITES_H
#define HPCPROF_KNOWN_CALL_SITES_H

#include "hpcprof/tree/context-tree.h"

#include "lib/hash-tables.h"

struct known_sites {
    struct context_tree tree; /* below context 0 the functions, below these their sites */
    /* (caller, callee) -> site: a context of `tree`, or SITES_SEVERAL */
    struct idmap of_paths; /* sites in call paths */
    struct idmap of_code;  /* sites of direct calls in the code */
};

#define SITES_NONE    IDMAP_NONE
#define SITES_SEVERAL (IDMAP_NONE - 1)

void known_sites_start(struct known_sites *sites);
void known_sites_free(struct known_sites *sites);

/* Adds the sites of all calls in a tree: of call paths, or of direct calls in the code. */
void known_sites_add_paths(struct known_sites *sites, const struct context_tree *tree);
void known_sites_add_code(struct known_sites *sites, const struct context_tree *tree);

/* The site at which a function calls another one; SITES_NONE or SITES_SEVERAL. If the sites are one
 * line in different loops (the procedure was copied), it is one in a call path; of these, the one
 * in most loops. */
uint32_t known_sites_find(const struct known_sites *sites, uint32_t caller, uint32_t callee);

#endif

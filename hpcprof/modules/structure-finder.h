/* Finds or makes the structure of the load modules that call paths go through. */
#ifndef HPCPROF_STRUCTURE_FINDER_H
#define HPCPROF_STRUCTURE_FINDER_H

#include "hpcprof/modules/load-modules.h"
#include "hpcprof/modules/structure.h"

#include "lib/path.h"

#include <sys/types.h>

enum structure_quality { STRUCTURE_MISSING, STRUCTURE_SYMBOLS, STRUCTURE_FULL };

struct module_structure {
    struct structure *structure; /* owned; NULL: none */
    enum structure_quality quality;
    char *binary; /* owned; file that was analyzed; NULL: none */
    uid_t owner;  /* user who decides what is in that file; NO_USER: unknown */
    char *why; /* owned; why there is no structure; empty: there is one, or the module is unused */
};

struct structures {
    struct module_structure *of_module;
    size_t n;
};

/* Gives each used module its structure:
 * 1. by running the hpcstruct beside this program's executable; replacements of paths apply to
 *    binaries too;
 * 2. from the cache (lib/structure-cache.h) if the binary is gone or was rebuilt.
 * If both fail, the module's `why` says why, and so does a message (lib/diag.h).
 * Temporary files are written to `scratch`. Call before there are threads. */
void structures_find(struct structures *structures, const struct load_modules *modules,
                     const struct path_rules *rules, const char *scratch, unsigned workers);

void structures_free(struct structures *structures);

#endif

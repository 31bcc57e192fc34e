/* Finds or makes the structure of the load modules that call paths go through. */
#ifndef HPCPROF_STRUCTURE_FINDER_H
#define HPCPROF_STRUCTURE_FINDER_H

#include "hpcprof/modules/kernel-structure.h"
#include "hpcprof/modules/load-modules.h"
#include "hpcprof/modules/module-addresses.h"
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

/* What structures_find needs. */
struct structure_search {
    struct measurement_directories directories;
    const struct load_modules *modules;
    const struct module_addresses *addresses; /* that call paths go through */
    const bool *needs_whole;        /* per module: all its procedures matter; NULL: of no module */
    const struct path_rules *rules; /* replacements of paths apply to binaries, too */
    const char *scratch;            /* folder for temporary files */
    unsigned large;                 /* megabytes, as for hpcstruct --large */
    unsigned workers;
};

/* Gives each used module its structure:
 * 1. by running hpcstruct, from the folder of this program. It recovers all procedures, and the result goes
 *    to the cache (lib/structure-cache.h). If the binary is large and not in the cache, it recovers only
 *    the procedures in call paths;
 * 2. from the cache if the binary is gone or was rebuilt.
 * The kernel's is made of the names that were saved.
 * If both fail, the module's `why` says why, and so does a message (lib/diag.h).
 * Marks the procedures that call paths go through. Call before there are threads. */
void structures_find(struct structures *structures, const struct structure_search *search);

void structures_free(struct structures *structures);

#endif

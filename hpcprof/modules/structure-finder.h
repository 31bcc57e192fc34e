/* Finds or makes the structure of the load modules that call paths go through. */
#ifndef HPCPROF_STRUCTURE_FINDER_H
#define HPCPROF_STRUCTURE_FINDER_H

#include "hpcprof/modules/load-modules.h"
#include "lib/path.h"

/* Gives each used module its structure, by running the hpcstruct that stands beside this program's
 * executable; of a binary that is gone or was rebuilt, from the cache (lib/structure-cache.h).
 * Where that fails the module says why, and so does a line (lib/diag.h). Replacements of paths
 * count for binaries too. Files that are needed for a while are written to `scratch`. Call before
 * there are threads. */
void structures_find(struct modules *modules, const struct path_rules *rules, const char *scratch,
                     unsigned workers);

#endif

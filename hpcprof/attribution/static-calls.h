/* The direct calls that the code of load modules has, from hpcstruct --calls: they say where a
 * procedure can call another one, also at sites that no call path of the run goes through.
 *
 * They are looked up only of modules with procedures that call something from a site that is not
 * known, and whose binary is still there. Without them nothing is complained about: the sites that
 * call paths have are known all the same. */
#ifndef HPCPROF_STATIC_CALLS_H
#define HPCPROF_STATIC_CALLS_H

#include "hpcprof/attribution/path-attribution.h"

/* Adds to the placer's tree, below context 0, each such call: the calling procedure, its scopes and
 * line, and below it the one that is called. `tree` says which modules matter. */
void code_calls_place(struct placer *placer, const struct context_tree *tree);

#endif

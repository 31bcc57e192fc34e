/* The structure of everything that a run was measured in. */
#ifndef HPCSTRUCT_DIRECTORY_H
#define HPCSTRUCT_DIRECTORY_H

#include "hpcstruct/analyze.h"

/* Puts the structure of all load modules that samples of a measurement directory lie in into the
 * cache, and prints a line for each. A module that is gone or has changed since the run costs a
 * message (lib/diag.h). */
void directory_structures(const char *directory, const struct analysis_options *options);

#endif

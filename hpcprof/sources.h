/* Copies the source files that contexts and functions refer to into the database. */
#ifndef HPCPROF_SOURCES_H
#define HPCPROF_SOURCES_H

#include "hpcprof/contexts.h"
#include "lib/path-rules.h"

/* Copies those files that are found (lib/path-rules.h) to DATABASE/src/ and their absolute
 * path. `copies` has an element per file of the program: NULL until it was looked for, then the
 * path of the copy relative to the database, or "" if there is none; the caller frees. A file that
 * is found but cannot be read is told. */
void sources_copy(char **copies, const struct contexts *contexts, const char *database,
                  const struct path_rules *rules);

#endif

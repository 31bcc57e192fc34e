/* Copies the source files that contexts and functions refer to into the database. */
#ifndef HPCPROF_SOURCE_COPIES_H
#define HPCPROF_SOURCE_COPIES_H

#include "hpcprof/tree/numbered-contexts.h"
#include "hpcprof/sources/source-owners.h"
#include "lib/path.h"

/* Copies those files that are found (lib/path.h) and may be copied (hpcprof/sources/source-access.h),
 * with their permissions, to DATABASE/src/ and their absolute path. `copies` has an element per
 * file of the program: NULL until it was looked for, then the path of the copy relative to the
 * database, or "" if there is none; the caller frees. */
void sources_copy(char **copies, const struct source_origins *origins,
                  const struct contexts *contexts, const char *database,
                  const struct path_rules *rules);

/* Says which files were found and not copied, and why: the first few, and how many. Not an error:
 * the viewer shows them from where they are to those who may read them. Call last. */
void sources_finish(void);

#endif

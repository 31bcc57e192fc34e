/* Which files are copied into the database. A binary can name any file as its source (#line), and a
 * database is handed on. A file is copied when
 *
 * 1. it is a regular file of at most SOURCE_MAX_BYTES;
 * 2. no link leads to it but those of root, the user and the owner of the binary, and none leads
 * out of the tree in which it was looked for: the directory of compilation or, where it is not
 * below that, its own; a directory of -I, what -R replaces by;
 * 3. everybody may read it; or it is the user's and a binary of the user's or root's names it; or a
 *    binary of its own owner names it. Root's files that not everybody may read have to lie in the
 *    directory of compilation of a binary of root's, too, or in a directory of -I or -R: the
 * secrets of a machine are among them. */
#ifndef HPCPROF_SOURCE_ACCESS_H
#define HPCPROF_SOURCE_ACCESS_H

#include "hpcprof/sources/source-owners.h"

#include <sys/stat.h>

#define SOURCE_MAX_BYTES (64 << 20)

struct source_tree {
    const char *path;
    bool is_of_sources; /* a directory of compilation, of -I or of -R */
};

/* A descriptor of the file at `path`, and its status; -1 and why it is not copied. */
int source_open(const char *path, const struct source_tree *tree,
                const struct source_origin *origin, struct stat *status, const char **why);

#endif

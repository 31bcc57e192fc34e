/* Decides which source files are copied into the database. A binary can name any file as its source
 * (#line), and a database may be given to others. A file is copied if all of these hold:
 *
 * 1. It is a regular file of at most SOURCE_MAX_BYTES.
 * 2. Every symbolic link on the way belongs to root, the user or the owner of the binary. If not
 *    everybody may read the file, none leads out of the tree in which it was looked for: the
 *    directory of compilation or, if it is not below that, its own directory; a directory of -I, or
 *    what -R replaces by.
 * 3. One of these:
 *    - everybody may read it, and search the directories to it;
 *    - it belongs to the user, and a binary of the user's or of root's names it;
 *    - its owner also owns a binary that names it.
 *    A file of root's that not everybody may read must also lie in the directory of compilation of
 *    a binary of root's or the user's, or in a directory of -I or -R: the secrets of a machine are
 *    among such files. */
#ifndef HPCPROF_SOURCE_PERMISSION_H
#define HPCPROF_SOURCE_PERMISSION_H

#include "hpcprof/names/symbol-table.h"

#include <sys/stat.h>

#define SOURCE_MAX_BYTES (64 << 20)

/* The owners of the binaries that name a source file; for names of agents, of the measurements. */
struct source_owners {
    bool has_root, has_user; /* user: who runs hpcprof */
    uid_t other;             /* one of the other users; NO_USER: none */
};

struct source_permissions {
    struct source_owners *of_file; /* by id in symbol_table.files */
    struct strtab directories;     /* of compilation, of root's and the user's binaries */
};

void source_permissions_find(struct source_permissions *permissions,
                             const struct symbol_table *symbols);
void source_permissions_free(struct source_permissions *permissions);

/* Opens the file at `path` for reading, and gets its status. Returns -1 and sets *why if it must
 * not be copied. `owners`: of the file that the run names. `found_in`: the directory of -I or -R in
 * which it was found; NULL: none. */
int source_open(const struct source_permissions *permissions, const char *path,
                const char *found_in, const struct source_owners *owners, struct stat *status,
                const char **why);

#endif

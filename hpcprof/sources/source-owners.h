/* Who says that a source file is one: the binaries that name it (a #line can name any file), or,
 * for the names of agents, the measurements. */
#ifndef HPCPROF_SOURCE_OWNERS_H
#define HPCPROF_SOURCE_OWNERS_H

#include "hpcprof/names/symbol-table.h"

#include <stdbool.h>
#include <sys/types.h>

struct source_origin {
    bool by_root, by_user; /* the user who runs hpcprof */
    uid_t by_other;        /* one of the other users; NO_USER: none */
};

struct source_origins {
    struct source_origin *of_file; /* of each file of the program */
    struct strtab trees; /* directories of compilation of root's and the user's binaries */
};

void source_origins_find(struct source_origins *origins, const struct program *program,
                         const struct inputs *inputs);
void source_origins_free(struct source_origins *origins);

/* The innermost directory of compilation that an absolute path lies below, or NULL. */
const char *source_origins_tree(const struct source_origins *origins, const char *path);

#endif

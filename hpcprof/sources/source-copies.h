/* Copies the source files that contexts and functions refer to into the database. */
#ifndef HPCPROF_SOURCE_COPIES_H
#define HPCPROF_SOURCE_COPIES_H

#include "hpcprof/sources/source-permission.h"
#include "hpcprof/tree/numbered-contexts.h"

#include "lib/path.h"

/* The folder of the copies in the database. */
#define COPIES_FOLDER "src"

struct source_copies {
    const struct path_rules *rules;
    const char *database;
    const struct symbol_table *symbols;
    struct source_permissions permissions;
    char **path_of; /* by file of the symbol table: path of the copy relative to the database; "":
                       there is none; NULL: not tried yet */
    /* Sources that were copied and their copies, with equal ids: several recorded paths may mean
     * one file. Two files whose paths differ only in bytes that are not UTF-8 would have the same
     * copy: the second gets none. */
    struct strtab copied, copies;
    size_t n_refused; /* files found and not copied */
};

/* `database` is the folder that is written to. The result refers to the arguments. */
void source_copies_start(struct source_copies *copies, const struct symbol_table *symbols,
                         const struct path_rules *rules, const char *database);

/* Copies the files of contexts that can be found (lib/path.h) and may be copied
 * (source-permission.h), with their permissions, to DATABASE/src/, which exists, and their absolute path. Prints a
 * note on the first few files that may not be copied. */
void source_copies_make(struct source_copies *copies, const struct numbered_contexts *contexts);

/* Prints a note on how many more files were not copied: no error, since the viewer shows them from
 * where they are to users who may read them. Frees everything. */
void source_copies_finish(struct source_copies *copies);

#endif

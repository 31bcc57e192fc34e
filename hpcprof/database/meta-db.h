/* Writes meta.db: title, metrics, modules, source files, functions and the tree of contexts. */
#ifndef HPCPROF_META_DB_H
#define HPCPROF_META_DB_H

#include "hpcprof/tree/numbered-contexts.h"

struct meta_texts {
    const char *title;
    const char *description;   /* Markdown */
    const char *copies_prefix; /* from the database's folder to the one that paths of copies start
                                  from: "" or "../" */
    char *const *copies;       /* per file of the program: path of its copy, or "" */
};

void meta_db_write(const char *path, const struct meta_texts *texts,
                   const struct contexts *contexts, const struct inputs *inputs);

#endif

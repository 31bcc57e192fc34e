/* Where sources and binaries are now: paths are replaced (-R) and searched (-I). */
#ifndef LIB_PATH_RULES_H
#define LIB_PATH_RULES_H

#include "lib/alloc.h"

#include <stdbool.h>

struct path_replacement {
    char *old, *new;
};

struct path_rules {
    VEC(struct path_replacement) replacements; /* the first that fits counts */
    VEC(char *) search;                        /* directories */
};

/* Adds a rule OLD=NEW; false when the text has no '=' or OLD is empty. */
bool path_add_replacement(struct path_rules *rules, const char *text);

/* Adds a directory to the search list; complains when it is none. */
void path_add_search(struct path_rules *rules, const char *directory);

void path_rules_free(struct path_rules *rules);

/* The path with the first fitting replacement made, or NULL when none fits; the caller frees. */
char *path_replace(const struct path_rules *rules, const char *path);

/* A regular file that a source path may mean, and the directory in which it was looked for: NULL
 * for the path itself. True ends the search. */
typedef bool (*path_visitor)(void *context, const char *file, const char *tree);

/* Visits the regular files that a source path may mean, in this order: the path itself, what
 * replacements make of it, its suffixes, the longest first, below each directory of the search
 * list. Whether the visitor ended the search. */
bool path_visit_sources(const struct path_rules *rules, const char *path, path_visitor visitor,
                        void *context);

/* The first of them, or NULL; the caller frees. */
char *path_find_source(const struct path_rules *rules, const char *path);

#endif

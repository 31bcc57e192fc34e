/* Where sources and binaries are now: paths are replaced (-R) and searched (-I). */
#ifndef LIB_PATH_RULES_H
#define LIB_PATH_RULES_H

#include "lib/mem.h"

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

/* The regular file that a source path means, or NULL; the caller frees. In this order: the path
 * itself, what replacements make of it, the longest suffix of it that exists below a directory of
 * the search list. */
char *path_find_source(const struct path_rules *rules, const char *path);

#endif

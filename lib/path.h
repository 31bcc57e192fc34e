/* Paths: as text, and where source files are found. */
#ifndef LIB_PATH_H
#define LIB_PATH_H

#include "lib/alloc.h"

#include <stdbool.h>

/* The path without empty and "." components and with "NAME/.." removed; the caller frees. An
 * absolute path stays absolute and never climbs above the root. Pure text: links are not
 * followed. */
char *path_normalize(const char *path);

/* The last component. */
const char *path_base(const char *path);

/* The path of another tool of this project: all tools are built and installed into one folder, that
 * of the running executable. `tool` itself if that folder is unknown. The caller frees. */
char *path_of_tool(const char *tool);

/* Rules that map the paths in binaries to files on this machine. */
struct path_replacement { /* -R OLD=NEW */
    char *old, *new;
};

struct path_rules {
    VEC(struct path_replacement) replacements; /* the first match is applied */
    VEC(char *) search;                        /* directories, -I */
    VEC(char *) own; /* directories whose code is the user's; with '!' before them: is not */
};

/* Adds a rule OLD=NEW; false if the text has no '=' or OLD is empty. */
bool path_add_replacement(struct path_rules *rules, const char *text);

/* Adds a directory to the search list; reports an error if it is not a directory. */
void path_add_search(struct path_rules *rules, const char *directory);

/* Adds a directory with code of the user's, or "!DIR". */
void path_add_own(struct path_rules *rules, const char *directory);

void path_rules_free(struct path_rules *rules);

/* The path after the first matching replacement, or NULL if none matches; the caller frees. */
char *path_replace(const struct path_rules *rules, const char *path);

/* Receives a regular file that a source path may mean, and the tree in which it was found: a search
 * directory, the NEW of a replacement, or NULL for the path itself. Returns true to stop. */
typedef bool (*path_visitor)(void *context, const char *file, const char *tree);

/* Visits the regular files that a source path may mean, in this order:
 *   1. the path itself, if it is absolute
 *   2. the path after the first matching replacement
 *   3. its suffixes below each search directory, the longest suffix first: for /a/b/c.c with -I S
 *      these are S/a/b/c.c, S/b/c.c, S/c.c
 * Returns whether the visitor stopped. */
bool path_visit_sources(const struct path_rules *rules, const char *path, path_visitor visitor,
                        void *context);

#endif

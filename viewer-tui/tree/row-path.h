/* The path to a row as a list of scopes. It stays valid when the view is made anew or sorted. */
#ifndef VIEWER_PATH_H
#define VIEWER_PATH_H

#include "viewer-tui/tree/view.h"

/* A scope among its siblings. */
struct path_step {
    int side; /* of a comparison: the run that the indices are of */
    uint8_t kind;
    uint32_t place, line, call_file, call_line;
    uint32_t ordinal; /* as made, to distinguish siblings that are equal otherwise */
};

/* From below row 0 downwards. A zeroed one is the path to row 0; the owner frees it with path_free.
 */
struct path {
    VEC(struct path_step) steps;
};

struct path path_of(const struct view *view, uint32_t row);
void path_free(struct path *path);

bool path_is(const struct path *a, const struct path *b);

/* The row at the end of the path, or the last one on it that exists; the rows above get expanded.
 * *n is the number of steps to it. */
uint32_t path_find(struct view *view, const struct path *path, size_t *n);

#endif

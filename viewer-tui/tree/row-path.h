/* Where a row is, told in a way that holds when views are made anew or sorted otherwise: by the
 * scopes on the way to it. */
#ifndef VIEWER_PATH_H
#define VIEWER_PATH_H

#include "viewer-tui/tree/view.h"

/* A scope among its siblings. */
struct path_step {
    int side; /* of a comparison: the run that the indices are of */
    uint8_t kind;
    uint32_t place, line, call_file, call_line;
    uint32_t ordinal; /* as made, to tell apart those that are the same otherwise */
};

/* From below row 0 downwards. A zeroed one is that of row 0; the owner frees it with path_free. */
struct path {
    VEC(struct path_step) steps;
};

struct path path_of(const struct view *view, uint32_t row);
void path_free(struct path *path);

bool path_is(const struct path *a, const struct path *b);

/* The row at the end of the path, or after as many steps of it as there are; the rows above are
 * expanded. *n becomes the number of these steps. */
uint32_t path_find(struct view *view, const struct path *path, size_t *n);

#endif

/* A map between the lines of two versions of a text ("patience diff"):
 *
 * 1. Equal lines at the beginning and at the end are paired.
 * 2. Of the lines between, those that occur once in each text are paired, as many as keep their
 * order.
 * 3. Equal lines next to paired ones are paired.
 *
 * No line is in two pairs, and pairs do not cross. */
#ifndef VIEWER_LINE_MAP_H
#define VIEWER_LINE_MAP_H

#include "viewer-tui/base/file-lines.h"

/* By line, counted from 1: the line in the other text; 0 if there is none. */
struct line_map {
    uint32_t *to_right, *to_left;
    uint32_t
        *last_kept; /* the last line of the left text, up to this one, that is in the right text */
    uint32_t n_left, n_right;
};

void line_map_make(struct line_map *map, const struct file_lines *left,
                   const struct file_lines *right);
void line_map_free(struct line_map *map);

#endif

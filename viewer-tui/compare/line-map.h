/* Which lines of a text are those of another version of it.
 *
 * Lines that are equal at the beginning and the end of both texts are the same, and lines that
 * occur once in what is left of each and keep their order, as many of them as possible
 * ("patience"); then equal lines next to those. No line is in two pairs, and pairs do not cross. */
#ifndef VIEWER_LINE_MAP_H
#define VIEWER_LINE_MAP_H

#include "viewer-tui/base/file-lines.h"

/* By line, counted from 1: the line in the other text, 0 for none. */
struct line_map {
    uint32_t *to_right, *to_left;
    uint32_t *last_kept; /* the last line of the left text up to this one that is on the right */
    uint32_t n_left, n_right;
};

void line_map_make(struct line_map *map, const struct file_lines *left,
                   const struct file_lines *right);
void line_map_free(struct line_map *map);

#endif

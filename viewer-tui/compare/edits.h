/* How the sources of two runs differ: which line of the right version is a line of the left one.
 *
 * Only the copies in the databases count: files elsewhere may have been edited since. Two files are
 * versions of each other if they have the same path, or else the same name and no other file of
 * either side has it. Without a copy of both versions nothing is known of the lines. */
#ifndef VIEWER_EDITS_H
#define VIEWER_EDITS_H

#include "viewer-tui/db/database.h"
#include "viewer-tui/db/source-text.h"

/* A map between the lines of two versions of a text ("patience diff"):
 *
 * 1. Equal lines at the beginning and at the end are paired.
 * 2. Of the lines between, those that occur once in each text are paired, as many as keep their
 * order.
 * 3. Equal lines next to paired ones are paired.
 *
 * No line is in two pairs, and pairs do not cross. By line, counted from 1, it has the line in the other text; 0 if
 * there is none. */
struct line_map {
    uint32_t *to_right, *to_left;
    uint32_t
        *last_kept; /* the last line of the left text, up to this one, that is in the right text */
    uint32_t n_left, n_right;
};

void line_map_make(struct line_map *map, const struct file_lines *left,
                   const struct file_lines *right);
void line_map_free(struct line_map *map);

enum edit {
    EDIT_UNKNOWN,
    EDIT_NONE,   /* in both versions */
    EDIT_CHANGED /* in one version only */
};

/* The place of a line in the right version. A line that was removed keeps its distance from the
 * last line before it that is still there. */
struct edited_line {
    enum edit edit;
    int64_t line;
};

struct edits;

/* Reads nothing yet. Both databases must outlive it. */
struct edits *edits_new(const struct database *left, const struct database *right);
void edits_free(struct edits *edits);

/* Looks up a line of a file of a side, 0 (left) or 1. */
struct edited_line edits_line(struct edits *edits, int side, uint32_t file, uint32_t line);

#endif

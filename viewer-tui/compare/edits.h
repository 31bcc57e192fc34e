/* How the sources of two runs differ: which line of the right version is a line of the left one.
 *
 * Only the copies in the databases count: files elsewhere may have been edited since. Two files are
 * versions of each other if they have the same path, or else the same name and no other file of
 * either side has it. Without a copy of both versions nothing is known of the lines. */
#ifndef VIEWER_EDITS_H
#define VIEWER_EDITS_H

#include "viewer-tui/db/database.h"

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

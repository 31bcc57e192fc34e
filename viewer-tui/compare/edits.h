/* How the sources of two runs differ: where lines of the left one are in the right one.
 *
 * Only the copies in the databases are looked at: files elsewhere may have been edited since. A
 * file's other version has the same path, or, if there is one of that name on either side, the same
 * name. Where one of them is not there, nothing is known of its lines. */
#ifndef VIEWER_EDITS_H
#define VIEWER_EDITS_H

#include "viewer-tui/db/database.h"

enum edit {
    EDIT_UNKNOWN,
    EDIT_NONE,   /* the line is in both versions */
    EDIT_CHANGED /* it is only in one of them */
};

/* Where a line is in the right version; one that is not there as far behind the last line before it
 * that is there as on the left. */
struct edited_line {
    enum edit edit;
    int64_t line;
};

struct edits;

/* Reads nothing yet. Both databases must outlive it. */
struct edits *edits_new(const struct database *left, const struct database *right);
void edits_free(struct edits *edits);

/* A line of a file of one side, 0 the left one. */
struct edited_line edits_line(struct edits *edits, int side, uint32_t file, uint32_t line);

#endif

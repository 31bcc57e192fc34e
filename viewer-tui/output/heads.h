/* Titles of columns side by side, each in as many lines as it takes to fit. */
#ifndef VIEWER_HEADS_H
#define VIEWER_HEADS_H

#include "viewer-tui/base/text.h"

struct head {
    char *title;
    const char *rest; /* what is still to be printed of it */
    size_t width;
};

/* A zeroed one has no columns. */
struct heads {
    VEC(struct head) list;
};

/* Appends a column; its titles keep a space between them. */
void heads_add(struct heads *heads, const char *title, size_t width);

/* Adds the next line of all titles, in the middle of their columns or on the right; false, with
 * nothing added, when there is no more. */
bool heads_take_line(struct heads *heads, bool is_centered, struct text *line);

void heads_free(struct heads *heads);

#endif

/* A position in a list of which the screen shows a part. Nothing here draws. */
#ifndef VIEWER_SCROLLER_H
#define VIEWER_SCROLLER_H

#include <stddef.h>

/* Zeroed, it is at the first row. */
struct scroller {
    size_t n;        /* rows of the list */
    size_t selected; /* index of the selected row; 0 if there are no rows */
    size_t top;      /* index of the first row on the screen */
};

/* Moves the selection down by a number of rows, negative: up, as far as there are rows. */
void scroller_move(struct scroller *scroller, long rows);

/* Scrolls so that the selected row is among the `height` rows on the screen, with `below` rows below it if there are
 * so many, and no empty lines while there are rows above. */
void scroller_follow(struct scroller *scroller, size_t height, size_t below);

/* Scrolls by a number of rows; the selection stays among the `height` rows on the screen. */
void scroller_roll(struct scroller *scroller, long rows, size_t height);

#endif

/* A view as it is shown: which rows are open, which one is selected, what of it is on the screen.
 * Nothing here draws. */
#ifndef VIEWER_PANE_H
#define VIEWER_PANE_H

#include "viewer-tui/views/view.h"

struct pane {
    struct view *view;
    VEC(bool) is_open;   /* by row; rows beyond are closed */
    VEC(uint32_t) shown; /* the rows that can be seen by scrolling, from top to bottom */
    uint32_t root;       /* the row that the pane is zoomed into, shown[0] */
    VEC(uint32_t) zooms; /* the roots before */
    size_t selected;     /* index in shown */
    size_t top;          /* index in shown of the first row on the screen */
    size_t shift;        /* columns of the tree that lie left of the screen */
};

/* Opens the first levels, up to where there is a choice. */
void pane_open(struct pane *pane, struct view *view);
void pane_close(struct pane *pane);

static inline uint32_t pane_row(const struct pane *pane)
{
    return pane->shown.at[pane->selected];
}

bool pane_is_open(const struct pane *pane, uint32_t row);

/* Whether there is, or may be, something below a row. */
bool pane_can_open(const struct pane *pane, uint32_t row);

/* Moves the selection by so many rows, as far as there are rows. */
void pane_move(struct pane *pane, long rows);

/* Selects a row of the view; opens what is above it, and zooms out where it lies outside. */
void pane_select(struct pane *pane, uint32_t row);

/* Opens or closes the selected row. */
void pane_expand(struct pane *pane);
void pane_collapse(struct pane *pane);

/* Opens the rows below the selected one along the child with the largest cost as long as that has
 * at least half of its parent's, and selects the last. */
void pane_hot_path(struct pane *pane);

/* Shows only the selected row and what is below; the row that was shown that way before. */
void pane_zoom_in(struct pane *pane);
bool pane_zoom_out(struct pane *pane);

/* Puts the rows into the order of another sorting; the selected row stays selected. */
void pane_sort(struct pane *pane, struct sorting sorting);

/* Scrolls so that the selected row is among `height` rows. */
void pane_scroll(struct pane *pane, size_t height);

#endif

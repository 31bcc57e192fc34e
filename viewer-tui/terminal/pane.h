/* A view as it is shown: which rows are open, which one is selected, what of it is on the screen,
 * what filters and flattening leave of it (filtered.h). Nothing here draws. */
#ifndef VIEWER_PANE_H
#define VIEWER_PANE_H

#include "viewer-tui/terminal/start-code.h"
#include "viewer-tui/tree/walk.h"
#include "viewer-tui/tree/view.h"

/* Rows are shown below this one. */
struct zoom {
    uint32_t root;
    uint32_t flattened; /* so many levels below it are left out */
};

struct pane {
    struct view *view;
    struct filtered_tree *filtered;
    open_rows is_open;
    VEC(uint32_t) shown; /* the rows that can be seen by scrolling, from top to bottom */
    uint32_t root;       /* the row that the pane is zoomed into, shown[0] */
    uint32_t flattened;
    VEC(struct zoom) zooms;    /* those before */
    size_t selected;           /* index in shown */
    size_t top;                /* index in shown of the first row on the screen */
    bool shows_below;          /* the next pane_scroll leaves a third of the rows below the selected */
    size_t shift;              /* columns of the tree that lie left of the screen, */
    int width;                 /* while it is so wide */
    VEC(struct start_chain) chains; /* of the rows that may begin one, as far as they were shown */
    const struct filter *only; /* the FILTER_ONLY whose matches have been opened */
    open_rows open_before;     /* what was open before there was one */
};

/* What a pane looks like, to come back to after trying something. A zeroed one may be freed. */
struct pane_state {
    open_rows is_open;
    uint32_t row;
    size_t top;
};

/* Opens the first levels, up to where there is a choice. The filters must outlive the pane; it
 * shows them from the next pane_filter on. */
void pane_open(struct pane *pane, struct view *view, const struct filters *filters);
void pane_close(struct pane *pane);

static inline uint32_t pane_row(const struct pane *pane)
{
    return pane->shown.at[pane->selected];
}

bool pane_is_open(const struct pane *pane, uint32_t row);

/* Whether there is, or may be, something to be shown below a row. */
bool pane_can_open(const struct pane *pane, uint32_t row);

/* The folded chain of start code that a shown row stands for; NULL: none. */
const struct start_chain *pane_folded_chain(const struct pane *pane, uint32_t row);

/* Levels between a shown row and the root. */
size_t pane_level(const struct pane *pane, uint32_t row);

/* Moves the selection by so many rows, as far as there are rows; to the row above in the tree. */
void pane_move(struct pane *pane, long rows);
void pane_move_up_tree(struct pane *pane);

/* Selects a row of the view, or where that is left out what it is shown below; opens what is above
 * it, and zooms out where it lies outside. */
void pane_select(struct pane *pane, uint32_t row);

/* Opens or closes the selected row. The row of a folded chain opens into the chain's rows, and its
 * first row closes into it. */
void pane_expand(struct pane *pane);
void pane_collapse(struct pane *pane);

/* Opens everything below the selected row, level by level, until MOST_OPENED rows are shown there
 * or the user stops it (task.h): then it is false. Closes the row and everything below it. */
#define MOST_OPENED 100000
bool pane_expand_all(struct pane *pane);
void pane_collapse_all(struct pane *pane);

/* Opens the rows below the selected one along the child with the largest cost as long as that has
 * at least this share of its parent's, and selects the last. Where a difference is below nothing
 * the child with the least of it. */
void pane_hot_path(struct pane *pane, double share);

/* Shows the rows of all chains of start code, or folds them again. */
void pane_open_chains(struct pane *pane, bool opens);

/* Shows only the selected row and what is below; the row that was shown that way before. */
void pane_zoom_in(struct pane *pane);
bool pane_zoom_out(struct pane *pane);

/* Zooms into any row: out as far as need be, then in. */
void pane_zoom_to(struct pane *pane, uint32_t row);

/* Puts the children of the rows below the root in their place, once more or once less; false when
 * there are no more levels, or the view has none that could be left out. */
bool pane_flatten(struct pane *pane);
bool pane_unflatten(struct pane *pane);

/* Puts the rows into the order of another sorting; the selected row stays selected. */
void pane_sort(struct pane *pane, struct sorting sorting);
/* Sorts by something that is shown: by overhead rather than by a kind of it. */
void pane_sort_by_shown(struct pane *pane);

/* Shows what the filters in force and the sorting leave; to be called when they have changed. What
 * matches a new FILTER_ONLY is opened, and closed again when there is none any more. If STOPPED,
 * other filters must be put in force. */
enum outcome pane_filter(struct pane *pane);

/* Remembers what is open and selected; shows it again. */
void pane_save(const struct pane *pane, struct pane_state *state);
void pane_restore(struct pane *pane, const struct pane_state *state);
void pane_state_free(struct pane_state *state);

/* Scrolls by so many of the `height` rows on the screen; the selection goes along at the edge. */
void pane_roll(struct pane *pane, long rows, size_t height);

/* Scrolls so that the selected row is among `height` rows. */
void pane_scroll(struct pane *pane, size_t height);

#endif

/* The state of a view on the screen: open rows, selected row, zoom, scrolling. Nothing here draws. */
#ifndef VIEWER_PANE_H
#define VIEWER_PANE_H

#include "viewer-tui/terminal/scroller.h"
#include "viewer-tui/terminal/start-code.h"
#include "viewer-tui/tree/view.h"
#include "viewer-tui/tree/walk.h"

#include <assert.h>

struct pane {
    struct view *view;
    struct filtered_tree *filtered;
    open_rows is_open;
    VEC(uint32_t) shown; /* rows on the screen or reachable by scrolling, from top to bottom */
    uint32_t root;       /* the row that the pane is zoomed into, shown[0] */
    VEC(uint32_t) zooms; /* earlier ones, to zoom out to */
    struct scroller scroller; /* over `shown` */
    bool shows_below;         /* the next pane_scroll leaves a third of the rows below the selected */
    size_t shift;           /* number of columns of the tree left of the screen, */
    int width;              /* for this width of the tree */
    VEC(struct start_chain) chains; /* of the rows that may begin one, as far as they were shown */
    const struct filter *only;      /* FILTER_ONLY whose matches have been opened; NULL: none */
    open_rows open_before;          /* rows that were open before */
};

/* A copy of a pane's state, to return to after a search. May be freed if zeroed. */
struct pane_state {
    open_rows is_open;
    uint32_t row;
    size_t top;
};

/* Opens the first levels, up to one with several rows. The filters must outlive the pane; they
 * apply from the next pane_filter on. */
void pane_open(struct pane *pane, struct view *view, const struct filters *filters);
void pane_close(struct pane *pane);

static inline uint32_t pane_row(const struct pane *pane)
{
    assert(pane->scroller.selected < pane->shown.n);
    return pane->shown.at[pane->scroller.selected];
}

bool pane_is_open(const struct pane *pane, uint32_t row);

/* Whether rows are, or may be, below a row. */
bool pane_can_open(const struct pane *pane, uint32_t row);

/* The folded chain of start code that a shown row stands for; NULL: none. */
const struct start_chain *pane_folded_chain(const struct pane *pane, uint32_t row);

/* Levels between a shown row and the root. */
size_t pane_level(const struct pane *pane, uint32_t row);

/* Selects the parent row. */
void pane_move_up_tree(struct pane *pane);

/* Selects a row of the view, or if filters hide it the visible row above. Opens the rows above it,
 * and zooms out if it is outside. */
void pane_select(struct pane *pane, uint32_t row);

/* Opens or closes the selected row. The row of a folded chain opens into the chain's rows, and its
 * first row closes into it. */
void pane_expand(struct pane *pane);
void pane_collapse(struct pane *pane);

/* Opens the selected row; a chain that is folded into it stays folded. */
void pane_open_row(struct pane *pane);

/* Opens everything below the selected row, level by level. False if it stopped at MOST_OPENED rows,
 * or the user stopped it. pane_collapse_all closes the row and everything below it. */
#define MOST_OPENED 100000
bool pane_expand_all(struct pane *pane);
void pane_collapse_all(struct pane *pane);

/* The child with the largest cost, or if the row's cost is negative (a difference) with the smallest;
 * `row` itself if no child has that share of its cost. */
uint32_t pane_hottest_child(struct pane *pane, uint32_t row, double share);

/* Opens the children with the largest cost, one below the other, while each has at least this share
 * of its parent's cost, and selects the last. */
void pane_hot_path(struct pane *pane, double share);

/* Shows only the selected row and the rows below it; zooms out again, false if it is not zoomed. */
void pane_zoom_in(struct pane *pane);
bool pane_zoom_out(struct pane *pane);

/* Zooms into any row, zooming out first if it is outside. */
void pane_zoom_to(struct pane *pane, uint32_t row);

/* Sorts the rows; the selected row stays selected. pane_sort_by_shown chooses a metric that is
 * shown, e.g. overhead in place of one of its kinds. */
void pane_sort(struct pane *pane, struct sorting sorting);
void pane_sort_by_shown(struct pane *pane);

/* Applies the filters in force and the sorting after they changed. Opens the matches of a new
 * FILTER_ONLY, and closes them when it is removed. If STOPPED,
 * other filters must be put in force. */
enum outcome pane_filter(struct pane *pane);

/* Copies the open rows and the selection; restores them. */
void pane_save(const struct pane *pane, struct pane_state *state);
void pane_restore(struct pane *pane, const struct pane_state *state);
void pane_state_free(struct pane_state *state);

/* Scrolls so that the selected row is among the `height` rows on the screen. */
void pane_scroll(struct pane *pane, size_t height);

#endif

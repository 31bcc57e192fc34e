/* What filters leave of a view: the tree of visible rows.
 *
 * The children of a row in this tree are the view's children without the hidden ones. Elided rows
 * are replaced by what is below them; all are sorted among each other. Which rows lie above one
 * that matches a FILTER_ONLY is found by a pass over the view (filtered_prepare, matching-paths.c).
 */
#ifndef VIEWER_FILTERED_TREE_H
#define VIEWER_FILTERED_TREE_H

#include "viewer-tui/tree/filters.h"
#include "viewer-tui/tree/view.h"

/* The rows that have a match below them, as nodes of a tree. Row 0 is node 0; another row is found
 * by the node of its parent and by which child it is, as made, so that it is recognized when rows
 * are made anew. A zeroed one is empty. */
struct matching_paths {
    uint64_t filters;       /* filters_number of the filters that it is for; 0 for none */
    struct sorting sorting; /* the view's then; the smallest share depends on it */
    struct idmap nodes;
    uint32_t n;
    uint64_t n_matches; /* rows that match and that other filters do not hide */
};

/* What is known of a row. */
struct decision {
    uint8_t visibility; /* enum visibility, or unknown */
    uint32_t node;      /* in paths[0]; NOTHING for rows without a match below */
};

typedef VEC(uint32_t) row_list;
typedef VEC(bool) open_rows; /* by row; rows beyond are closed */

#define MOST_MATCHING_PATHS 4 /* results of passes that are kept */

/* A zeroed one with a view and filters shows all that these leave. */
struct filtered_tree {
    struct view *view;
    const struct filters *filters;
    bool is_unsorted;               /* children are listed in the order in which they were made */
    uint64_t state;                 /* filters_number when it was prepared, */
    struct sorting sorting;         /* and the view's sorting */
    VEC(struct decision) decisions; /* by row, since then; those beyond are unknown */
    struct matching_paths paths[MOST_MATCHING_PATHS]; /* the latest first */
    open_rows passed_over;  /* by row: elided start code (terminal/start-code.h) */
    bool shows_passed_over; /* it is not elided: a search is looking into it */
    bool was_cut;           /* too much was elided for all rows to be listed */
};

void filtered_close(struct filtered_tree *tree);

/* Takes note of the filters in force and of the view's sorting. Call it when they have changed so that it matters
 * (filtered_is_prepared). If STOPPED, other filters must be put in force. */
enum outcome filtered_prepare(struct filtered_tree *tree);

/* Whether the filters and the view's sorting are still those that it was prepared for. */
bool filtered_is_prepared(const struct filtered_tree *tree);

/* Whether the filters in force need the matching paths of the view. */
bool filtered_needs_paths(const struct filtered_tree *tree);

/* Number of matches that the pass for the filters in force found; 0 if none was needed. */
uint64_t filtered_n_matches(const struct filtered_tree *tree);

/* Whether there are, or may be, visible rows below a row. */
bool filtered_can_open(struct filtered_tree *tree, uint32_t row);

/* Appends the visible rows below a row, in their order. Rows of the view that had to be expanded
 * for that are appended to `expanded` unless that is NULL. */
void filtered_children(struct filtered_tree *tree, uint32_t row, row_list *children,
                       row_list *expanded);

/* Gives up what is below rows that were expanded, except for the first `keep`; the last one first.
 */
void filtered_release(struct filtered_tree *tree, row_list *expanded, size_t keep);

/* The visible row above a row; `root` is the topmost one. */
uint32_t filtered_parent(struct filtered_tree *tree, uint32_t row, uint32_t root);

#endif

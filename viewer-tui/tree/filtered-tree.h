/* What filters and flattening leave of a view: the tree of rows that are shown.
 *
 * The children of a row in it are the view's, without those that are hidden and with what is below
 * elided ones in their place, sorted among each other. Which rows lie above one that matches a
 * FILTER_ONLY is found out by a pass over the view, for the filters in force (filtered_prepare). */
#ifndef VIEWER_SIEVE_H
#define VIEWER_SIEVE_H

#include "viewer-tui/tree/filters.h"
#include "viewer-tui/tree/matching-paths.h"
#include "viewer-tui/tree/view.h"

/* What is known of a row. */
struct decision {
    uint8_t visibility; /* enum visibility, or unknown */
    uint32_t node;      /* in paths[0] (matching-paths.h); NOTHING for rows that lead to no match */
};

#define MOST_MATCHING_PATHS 4 /* passes whose results are kept */

struct filtered_tree {
    struct view *view;
    const struct filters *filters;
    uint32_t flat_depth; /* rows that are not deeper are elided where something is below; 0: none */
    uint64_t state;      /* filters_number when it was prepared, */
    struct sorting sorting;         /* and the view's sorting */
    VEC(struct decision) decisions; /* by row, since then; those beyond are unknown */
    struct matching_paths paths[MOST_MATCHING_PATHS]; /* the latest first */
    bool was_cut; /* so much was elided that not all rows were listed; for the user */
};

typedef VEC(uint32_t) row_list;
typedef VEC(bool) open_rows; /* by row; rows beyond are closed */

void filtered_open(struct filtered_tree *filtered, struct view *view,
                   const struct filters *filters);
void filtered_close(struct filtered_tree *filtered);

/* Takes note of the filters in force and of the view's sorting. To be called when they have changed
 * so that it matters (filtered_is_prepared). If STOPPED, other filters must be put in force. */
enum outcome filtered_prepare(struct filtered_tree *filtered);
bool filtered_is_prepared(const struct filtered_tree *filtered);

/* Matches that the pass for the filters in force has found; 0 when there was no need of one. */
uint64_t filtered_n_matches(const struct filtered_tree *filtered);

enum visibility filtered_visibility(struct filtered_tree *filtered, uint32_t row);

/* Whether there are, or may be, rows to be shown below a row. */
bool filtered_can_open(struct filtered_tree *filtered, uint32_t row);

/* Appends the rows shown below a row, in their order. Rows of the view that had to be expanded for
 * that are appended to `expanded` unless that is NULL. */
void filtered_children(struct filtered_tree *filtered, uint32_t row, row_list *children,
                       row_list *expanded);

/* Gives up what is below rows that were expanded, but for the first `keep`; the last one first. */
void filtered_release(struct filtered_tree *filtered, row_list *expanded, size_t keep);

/* The row below which a row is shown where `root` is the first that is. */
uint32_t filtered_parent(struct filtered_tree *filtered, uint32_t row, uint32_t root);

#endif

/* Which rows lead to others that a filter wants to show, found by a pass over the whole view. */
#ifndef VIEWER_LEADS_H
#define VIEWER_LEADS_H

#include "viewer-tui/tree/filters.h"
#include "viewer-tui/tree/view.h"

/* The rows, as nodes of a tree: row 0 is node 0; others are found by the node of the row above
 * them and by which child of it they are, as made. So they are known again when rows are made
 * anew. A zeroed one is empty. */
struct matching_paths {
    uint64_t filters;       /* filters_number of the filters that it is for; 0 for none */
    struct sorting sorting; /* and the sorting, on which the smallest share depends */
    struct idmap nodes;
    uint32_t n;
    uint64_t n_matches; /* rows that match and are not left out by other filters */
};

/* For the filters in force, of which one is a FILTER_ONLY; `paths` must be empty, and stays so if
 * the user stops it. */
enum outcome matching_paths_find(struct matching_paths *paths, const struct filters *filters,
                                 struct view *view);
void matching_paths_free(struct matching_paths *paths);

/* Whether it is for these filters and the view as it is. */
bool matching_paths_are_for(const struct matching_paths *paths, const struct filters *filters,
                            const struct view *view);

/* The node of a row, given that of the row above it; NOTHING when it paths to no match. */
uint32_t matching_paths_node(const struct matching_paths *paths, const struct view *view,
                             uint32_t above, uint32_t row);

#endif

/* Prepares filtered trees: finds the rows with a match of a FILTER_ONLY below them. */
#ifndef VIEWER_MATCHING_PATHS_H
#define VIEWER_MATCHING_PATHS_H

#include "viewer-tui/tree/filtered-tree.h"

/* Takes note of the filters in force and of the view's sorting. Call it when they have changed so
 * that it matters (filtered_is_prepared). If STOPPED, other filters must be put in force. */
enum outcome filtered_prepare(struct filtered_tree *tree);

#endif

/* The rows of a view in the order of its sorting: sorted when somebody asks for them. Rows that are
 * equal by it are told apart by their other cost, then by name and line (label.h), at last by when
 * they were made: the same input always gives the same order. What is not defined comes last. */
#ifndef VIEWER_ORDER_H
#define VIEWER_ORDER_H

#include "viewer-tui/tree/view.h"

/* The i-th child of an expanded row, i < n_children. */
uint32_t view_child(struct view *view, uint32_t row, uint32_t i);

/* Puts any rows into the view's order. */
void view_sort_rows(struct view *view, uint32_t *rows, size_t n);

#endif

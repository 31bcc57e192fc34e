/* A cell of costs: a number in the unit of its column, and its percentage or a bar. */
#ifndef VIEWER_CELL_H
#define VIEWER_CELL_H

#include "viewer-tui/table/columns.h"

struct cell_style {
    bool has_bars;
    bool ascii;
};

/* Adds a row's value, PART_WIDTH screen columns wide. */
void cell_add(const struct cell_style *style, const struct view *view, uint32_t row,
              const struct column *column, struct text *out);

/* The value as a share of what percentages refer to, for the cell's color. */
double cell_share(const struct view *view, uint32_t row, const struct column *column);

#endif

/* What stands in a cell of costs: a number in the units that the user wants, and its percentage or
 * a bar in place of that. */
#ifndef VIEWER_CELL_H
#define VIEWER_CELL_H

#include "viewer-tui/output/columns.h"

enum cell_units {
    UNITS_THAT_FIT,   /* four digits, in s, ms, ...: the same for a column */
    UNITS_PLAIN,      /* all in the metric's own unit, with as many digits as there is room for */
    UNITS_SCIENTIFIC, /* 1.23e-04 */
    UNITS_PERCENT,    /* the percentage alone, of what has one */
    CELL_UNITS
};

struct cell_style {
    enum cell_units units;
    bool has_bars;
    bool ascii;
};

/* The width of a column, with the space on its left. */
int cell_width(const struct cell_style *style, const struct column *column);

/* The scale of the column, with the unit for its head. */
struct number_scale cell_scale(const struct cell_style *style, const struct view *view,
                               const struct column *column);

/* Adds the row's value, as wide as the column. */
void cell_add(const struct cell_style *style, const struct view *view, uint32_t row,
              const struct column *column, struct text *out);

/* Its share of what percentages refer to, for its colour. */
double cell_share(const struct view *view, uint32_t row, const struct column *column);

/* "scientific"; and in one word, that is known again: CELL_UNITS when there is no such. */
const char *cell_units_name(enum cell_units units);
const char *cell_units_key(enum cell_units units);
enum cell_units cell_units_of_key(const char *key);

#endif

/* A cell of costs: a number in the units that the user chose, and its percentage or a bar. */
#ifndef VIEWER_CELL_H
#define VIEWER_CELL_H

#include "viewer-tui/output/columns.h"

enum cell_units {
    UNITS_THAT_FIT,   /* four digits, in s, ms, ...: one unit for the whole column */
    UNITS_PLAIN,      /* the metric's own unit, with as many digits as fit */
    UNITS_SCIENTIFIC, /* 1.23e-04 */
    UNITS_PERCENT,    /* only the percentage, if the metric has one */
    CELL_UNITS
};

struct cell_style {
    enum cell_units units;
    bool has_bars;
    bool ascii;
};

/* The width of a column in screen columns, including the space on its left. */
int cell_width(const struct cell_style *style, const struct column *column);

/* The scale of a column; its unit belongs in the title. */
struct number_scale cell_scale(const struct cell_style *style, const struct view *view,
                               const struct column *column);

/* Adds a row's value, as wide as the column. */
void cell_add(const struct cell_style *style, const struct view *view, uint32_t row,
              const struct column *column, struct text *out);

/* The value as a share of what percentages refer to, for the cell's color. */
double cell_share(const struct view *view, uint32_t row, const struct column *column);

/* A description, "four digits, units that fit"; a word for configuration files, "fit"; and the
 * units of such a word, CELL_UNITS if there are none. */
const char *cell_units_name(enum cell_units units);
const char *cell_units_key(enum cell_units units);
enum cell_units cell_units_of_key(const char *key);

#endif

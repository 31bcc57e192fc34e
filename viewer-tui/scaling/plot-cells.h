/* The speedup plot in the cells of a terminal: axes with labels, lines in braille, which has eight
 * dots in each cell, and a letter at each measured point. In ASCII, lines consist of the letter.
 *
 *     8 │               ⣀⠤m
 *       │         ⣀⡠⠔⠒⠉⣀⡠⠤a
 *     4 │   ⣀⠤m⠒⣉⡩⠤a⠒⠉⠁
 *       └────┴──────┴───────┴
 *       0    2      4       8 */
#ifndef VIEWER_PLOT_CELLS_H
#define VIEWER_PLOT_CELLS_H

#include "viewer-tui/scaling/speedup-plot.h"

#include <stdint.h>

/* The least size that has room for axes and a curve. */
#define LEAST_PLOT_WIDTH  16
#define LEAST_PLOT_HEIGHT 5

/* No curve: an axis, a label, or nothing. */
#define NO_CURVE (-1)

struct plot_cell {
    char text[5]; /* one column of UTF-8; "" for a blank */
    uint8_t dots; /* of braille, as in its code point: U+2800 + dots */
    int8_t curve; /* enum plot_curve_id, whose color it has; or NO_CURVE */
};

struct plot_cells {
    int width, height; /* 0: the size was too small */
    struct plot_cell *at;
};

/* The caller frees with plot_cells_free. */
struct plot_cells plot_cells_of(const struct speedup_plot *plot, int width, int height, bool ascii);
void plot_cells_free(struct plot_cells *cells);

static inline const struct plot_cell *plot_cell_at(const struct plot_cells *cells, int line,
                                                   int column)
{
    return &cells->at[line * cells->width + column];
}

#endif

/* The view of a comparison: two views of the same kind, of two runs, merged into one tree.
 *
 * A row stands for a scope of one run, or for one of each that match (match.h). It has the name and
 * place of the right run's scope if there is one. Rows are made on demand, with those of the two
 * views. */
#ifndef VIEWER_MERGED_H
#define VIEWER_MERGED_H

#include "viewer-tui/compare/match.h"

/* The columns of a metric. */
enum merged_column { MERGED_LEFT, MERGED_RIGHT, MERGED_DIFFERENCE, MERGED_RATIO, MERGED_COLUMNS };

/* A column of the merged view, and the metrics of the two views from which it is computed.
 * Difference: right - factor * left. Ratio: right / (factor * left), NAN if that is 0. */
struct merged_metric {
    enum merged_column column;
    size_t sides[SIDES];
    double factor;
};

/* Takes ownership of the two views, which nobody else may expand or sort. The metrics and `from`
 * must outlive the view. */
struct view *merged_open(struct view *const sides[SIDES], const struct metrics *metrics,
                         const struct merged_metric *from);

/* The view of a side of a merged view, for walks that leave it unchanged. */
struct view *merged_side(const struct view *view, int side);

/* The rows of the two sides for which a merged view's row stands; {row, NOTHING} of any other
 * view. */
struct row_pair merged_rows(const struct view *view, uint32_t row);

#endif

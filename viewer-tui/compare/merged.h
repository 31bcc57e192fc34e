/* The view of a comparison: two views of the same kind, of two runs, merged into one tree.
 *
 * A row stands for a scope of the left run, the right run, or for one of each that are the same
 * (match.h); what it is called and where it is, the right run's scope says if there is one. Rows
 * are made as they are asked for, those of the two views with them. */
#ifndef VIEWER_MERGED_H
#define VIEWER_MERGED_H

#include "viewer-tui/compare/match.h"

/* What a column of a metric is. */
enum merged_column { MERGED_LEFT, MERGED_RIGHT, MERGED_DIFFERENCE, MERGED_RATIO, MERGED_COLUMNS };

/* A metric of the merged view: which column, and of which metrics in the two views. The difference
 * is right - factor * left, the ratio right / (factor * left), NAN where that is 0. */
struct merged_metric {
    enum merged_column column;
    size_t sides[SIDES];
    double factor;
};

/* Takes over the two views, which nobody else may expand or sort, and closes them in the end. The
 * metrics, and what they are made of, must outlive the view. */
struct view *merged_open(struct view *const sides[SIDES], const struct metrics *metrics,
                         const struct merged_metric *from);

/* The view of a side, of a merged view; for walks, which leave it as it is. */
struct view *merged_side(const struct view *view, int side);

/* The rows that a merged view's row stands for; of any other view {row, NOTHING}. */
struct row_pair merged_rows(const struct view *view, uint32_t row);

#endif

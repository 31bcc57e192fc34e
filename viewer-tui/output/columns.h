/* The columns of costs in a view for people: which there are, and what stands above them.
 *
 * A column is one part of one metric. Where effort is shown, what it adds up belongs together, and
 * in a comparison what compares a metric: if
 * there is no room for both parts of all of it, all of it is shown in the part that is sorted by,
 * rather than both parts of some of it. */
#ifndef VIEWER_COLUMNS_H
#define VIEWER_COLUMNS_H

#include "lib/number.h"
#include "viewer-tui/base/text.h"
#include "viewer-tui/tree/view.h"

/* A number and a percentage. */
#define VALUE_WIDTH   9
#define PERCENT_WIDTH 7
#define PART_WIDTH    (VALUE_WIDTH + PERCENT_WIDTH)

/* What the tree keeps of the width before further metrics get some. */
#define GOOD_TREE_WIDTH 34

struct column {
    size_t metric;
    enum cost_part part;
    int extra; /* columns of the screen that it is wider than others */
};

struct columns {
    struct column *at;
    size_t n;
};

/* The columns of which `most` fit: those of the metric that is sorted by, even if they do not fit,
 * then those of others that have columns (metric_has_columns). The caller frees columns.at. */
struct columns columns_fitting(const struct view *view, size_t most);

/* Adds the derived metrics that are not there, in the part that is sorted by. */
void columns_add_derived(struct columns *columns, const struct view *view);

/* Both parts of all metrics that are shown, measured or not: what files for programs have. The
 * caller frees columns.at. */
struct columns columns_all(const struct view *view);

/* The number of columns that belong to the same metric as the one at `first`, from there on. */
size_t columns_of_metric(const struct columns *columns, size_t first);

/* The scale of a metric's columns. Columns that people compare have one unit, the one that suits
 * the largest of them: all of time, and in a comparison those of what is compared. Each has as many
 * decimals as its own values need. `magnitude` is the largest value of a metric's columns. */
struct number_scale columns_scale_beside(const struct metrics *metrics, size_t metric,
                                         double (*magnitude)(const void *context, size_t metric),
                                         const void *context);

/* The same of a view's columns, whose largest value is the whole program's. */
struct number_scale columns_scale(const struct view *view, size_t metric);

/* What stands before the values of a metric: "≥ " (">= " where the locale is not UTF-8) for lower
 * bounds, else "". */
const char *columns_sign(const struct metric *metric);

/* "not measured", "lower bound": to stand before the reason why it is not simply measured. */
const char *columns_state_words(const struct metric *metric);

/* A value in a column, with that sign: "-" where the metric was not measured, where the value is
 * not defined, and for the lower bound 0, which says nothing. */
void columns_value(const struct metric *metric, double value, const struct number_scale *scale,
                   char text[NUMBER_SIZE]);

/* A value for a list of values, in the scale of the view's columns, with its sign and unit, or "-".
 */
void columns_with_unit(const struct view *view, size_t metric, double value,
                       char text[NUMBER_WITH_UNIT_SIZE]);

/* A value for a sentence, in the scale that suits it, with its sign and unit, or "-". */
void columns_alone(const struct metric *metric, double value, char text[NUMBER_WITH_UNIT_SIZE]);

/* The share of a value in `whole` in percent, with its sign: "≥ 12.3"; "" where there is none. */
void columns_percent(const struct metric *metric, double value, double whole,
                     char text[NUMBER_SIZE]);

/* Adds "NAME, UNIT" of a metric, "≥ NAME, UNIT" of a lower bound, in the unit of its scale; of a
 * kind of overhead "overhead: KIND", which can be broken into lines. */
void columns_title(const struct metric *metric, const char *unit, bool ascii, struct text *out);

#endif

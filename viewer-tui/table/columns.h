/* The columns of costs in a view: which ones, their titles, and how numbers are written.
 *
 * A column is one part of one metric. Metrics belong together if one is the sum of the others
 * (effort), or if they compare one metric. If both parts of all of them do not fit, all are shown
 * in the part that is sorted by, rather than some in both parts; where not even these fit, the largest ones. */
#ifndef VIEWER_COLUMNS_H
#define VIEWER_COLUMNS_H

#include "lib/number.h"
#include "viewer-tui/base/text.h"
#include "viewer-tui/tree/view.h"

/* Screen columns of a number and of a percentage. */
#define VALUE_WIDTH   9
#define PERCENT_WIDTH 7
#define PART_WIDTH    (VALUE_WIDTH + PERCENT_WIDTH)

/* Screen columns that the tree keeps before further metrics get some. */
#define GOOD_TREE_WIDTH 34

struct column {
    size_t metric;
    enum cost_part part;
};

/* The owner frees `at`. */
struct columns {
    struct column *at;
    size_t n, cap;
};

/* At most `most` columns: those of the metric that is sorted by, even if they do not fit; one for each metric of
 * locks if that is more than 2 % of the work; then those of other metrics (metrics_with_columns). */
struct columns columns_fitting(const struct view *view, size_t most);

/* Adds the missing derived metrics that are not set aside, in the part that is sorted by. */
void columns_add_derived(struct columns *columns, const struct view *view);

/* Both parts of all shown metrics, measured or not, as in files for programs. */
struct columns columns_all(const struct view *view);

/* Adds both parts of internal metrics, which only JSON has. The columns are from columns_all. */
void columns_add_internal(struct columns *columns, const struct view *view);

/* The number of adjacent columns, from `first` on, that belong to one metric. */
size_t columns_of_metric(const struct columns *columns, size_t first);

/* The scale of a metric's columns. Columns that people compare have one unit, which suits the
 * largest of them: all times, and in a comparison the columns of one metric. Each has as many
 * decimals as its own values need. `magnitude` gives the largest value of a metric's columns. */
struct number_scale columns_scale_beside(const struct metrics *metrics, size_t metric,
                                         double (*magnitude)(const void *context, size_t metric),
                                         const void *context);

/* The same for a view, where the largest value is the whole program's. */
struct number_scale columns_scale(const struct view *view, size_t metric);

/* What precedes the values of contexts: "≥ " for lower bounds (">= " if the locale is not UTF-8), else
 * "". */
const char *columns_sign(const struct metric *metric);

/* "not measured" or "lower bound", to precede the reason. */
const char *columns_state_words(const struct metric *metric);

/* A value in a column, with its sign; "-" if the metric was not measured, if the value is not
 * defined, and for the lower bound 0, which says nothing. */
struct number_text columns_value(const struct metric *metric, double value, const struct number_scale *scale);

/* A value in a list, in the scale of the view's columns, with sign and unit; or "-". That of the whole
 * program has the sign of its bound. */
struct number_text columns_with_unit(const struct view *view, size_t metric, double value);

/* A value in a sentence, in the scale that suits it, with sign and unit; or "-". */
struct number_text columns_alone(const struct metric *metric, double value);

/* Adds a value, right-aligned in `width` columns, and in the next PERCENT_WIDTH its percentage of `whole` (0 or NAN:
 * it has none). */
void columns_add_cell(const struct metric *metric, double value, const struct number_scale *scale, double whole,
                      size_t width, struct text *out);

/* A value in percent of `whole`, with its sign: "≥ 12.3"; "" if there is none. */
struct number_text columns_percent(const struct metric *metric, double value, double whole);

/* What a title leaves out. */
struct title_cuts {
    bool overhead;   /* "spawn" in place of "overhead: spawn" */
    bool event;      /* "work" in place of "work (CPUTIME)" */
    bool difference; /* "work diff" in place of "work difference, s" */
};

/* Adds a title: "NAME, UNIT", "≥ NAME, UNIT" of a lower bound; "overhead: KIND" of a kind of
 * overhead, which can be broken into lines. */
void columns_title(const struct metric *metric, const char *unit, struct title_cuts cuts, bool ascii, struct text *out);

#endif

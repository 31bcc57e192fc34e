/* Which columns a user wants to see, in which order and how wide; until something is said of that,
 * those that fit (columns.h). */
#ifndef VIEWER_COLUMN_CHOICE_H
#define VIEWER_COLUMN_CHOICE_H

#include "viewer-tui/output/columns.h"

/* Columns of the screen by which one can be wider or narrower. */
#define COLUMN_MOST_EXTRA 40

struct chosen_column {
    size_t metric;
    enum cost_part part;
    bool is_hidden;
    bool is_wanted; /* whatever it says (metric_says_something) */
    int extra;      /* columns of the screen that it is wider than usual; may be negative */
};

/* A zeroed one has no wishes; the owner frees it with column_choice_free. */
struct column_choice {
    VEC(struct chosen_column) list; /* of all metrics, in their order */
    bool is_made;                   /* something was said */
    size_t first;                   /* so many of the shown ones lie left of the screen */
};

void column_choice_free(struct column_choice *choice);

/* Adds both parts of the metrics that are new, at the end; hidden if the metric is set aside. */
void column_choice_follow(struct column_choice *choice, const struct metrics *metrics);

/* Whether a column is one of those that are shown: not hidden, and of a metric that is shown now
 * and says something, unless the user wants it all the same. */
bool column_choice_shows(const struct chosen_column *column, const struct metrics *metrics);

/* Hides a column that is shown, shows one that is not. */
void column_choice_toggle(struct chosen_column *column, const struct metrics *metrics);

/* Those that are shown, whether they fit or not. The caller frees columns.at. */
struct columns column_choice_shown(const struct column_choice *choice,
                                   const struct metrics *metrics);

/* Moves the column at an index of the list by one that can be shown, up (-1) or down (1); its new
 * index. */
size_t column_choice_move(struct column_choice *choice, const struct metrics *metrics, size_t at,
                          int step);

#endif

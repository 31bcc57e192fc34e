/* The columns that the user chose: which ones, in which order. Without a choice the view shows those
 * that fit (columns.h). */
#ifndef VIEWER_COLUMN_CHOICE_H
#define VIEWER_COLUMN_CHOICE_H

#include "viewer-tui/table/columns.h"

struct chosen_column {
    size_t metric;
    enum cost_part part;
    bool is_hidden;
    bool is_wanted; /* shown even if it has no values (metric_says_something) */
};

/* A zeroed one is no choice yet; the owner frees it with column_choice_free. */
struct column_choice {
    VEC(struct chosen_column) list; /* both parts of all metrics, in the user's order */
    bool is_made;                   /* the user has chosen */
    size_t first; /* number of shown columns that are scrolled off the left edge */
};

void column_choice_free(struct column_choice *choice);

/* Appends the columns of new metrics, hidden if the metric is set aside. */
void column_choice_follow(struct column_choice *choice, const struct metrics *metrics);

/* Whether a column is shown: it is not hidden, and its metric is in the current set and has values,
 * unless the user wants it anyway. */
bool column_choice_shows(const struct chosen_column *column, const struct metrics *metrics);

/* Hides a shown column, or shows a hidden one. */
void column_choice_toggle(struct chosen_column *column, const struct metrics *metrics);

/* All shown columns, whether they fit or not. The caller frees columns.at. */
struct columns column_choice_shown(const struct column_choice *choice,
                                   const struct metrics *metrics);

/* Moves the column at an index of the list up (-1) or down (1), past those that cannot be shown;
 * returns its new index. */
size_t column_choice_move(struct column_choice *choice, const struct metrics *metrics, size_t at,
                          int step);

/* ---- A choice as one line of text, for the configuration file: the shown columns in order,
 * "work:inclusive,work:exclusive". +N and -N after a column, which earlier versions wrote, are ignored. ---- */

/* Fills an empty choice from the text. Other columns of the usual metrics and of those that it names become hidden;
 * those of kinds of overhead and of derived metrics follow unless they are set aside. Unknown columns are skipped; if
 * all are unknown the choice stays empty. */
void column_text_take(struct column_choice *choice, const struct metrics *metrics,
                      const char *text);

/* Adds the text of a choice. */
void column_text_add(const struct column_choice *choice, const struct metrics *metrics,
                     struct text *out);

#endif

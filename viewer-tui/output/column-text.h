/* A choice of columns (column-choice.h) as one line of text, for the configuration file: the shown
 * columns in order, "work:inclusive,work:exclusive+4". +N and -N: screen columns wider or narrower
 * than usual. */
#ifndef VIEWER_COLUMN_TEXT_H
#define VIEWER_COLUMN_TEXT_H

#include "viewer-tui/output/column-choice.h"

/* Fills an empty choice from the text. Other columns of the usual metrics become hidden; those of
 * kinds of overhead and of derived metrics follow. Unknown columns are skipped; if all are unknown
 * the choice stays empty. */
void column_text_take(struct column_choice *choice, const struct metrics *metrics,
                      const char *text);

/* Adds the text of a choice. */
void column_text_add(const struct column_choice *choice, const struct metrics *metrics,
                     struct text *out);

#endif

/* A choice of columns (column-choice.h) as one line of text, to be kept: those that are shown, in
 * their order, "work:inclusive,work:exclusive+4": +N and -N are wider and narrower than usual. */
#ifndef VIEWER_COLUMN_TEXT_H
#define VIEWER_COLUMN_TEXT_H

#include "viewer-tui/output/column-choice.h"

/* Makes an empty choice what the text says: other columns of the usual metrics are hidden, those of
 * kinds of overhead and of derived metrics follow. What is not there is passed over; when nothing
 * is there the choice stays empty. */
void column_text_take(struct column_choice *choice, const struct metrics *metrics,
                      const char *text);

/* Adds the text of a choice. */
void column_text_add(const struct column_choice *choice, const struct metrics *metrics,
                     struct text *out);

#endif

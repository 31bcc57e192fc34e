/* The changes between two runs, in words. */
#ifndef VIEWER_CHANGES_TEXT_H
#define VIEWER_CHANGES_TEXT_H

#include "viewer-tui/advice/advice-text.h"
#include "viewer-tui/compare/changes.h"

/* "worse", "better", "hardly changed"; NULL if not measured in both. */
const char *change_verdict_name(enum change_verdict verdict);

/* Adds the advice on a row of the comparison's view, or why there is none. */
void changes_describe(const struct changes_list *list, const struct comparison *comparison,
                      const struct view *view, uint32_t row, struct advice_lines *lines);

#endif

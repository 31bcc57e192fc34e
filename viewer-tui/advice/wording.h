/* Numbers in sentences of advice: two digits. */
#ifndef VIEWER_WORDING_H
#define VIEWER_WORDING_H

#include "viewer-tui/advice/share-interval.h"
#include "viewer-tui/base/text.h"

/* Adds "33 %" for 0.327; "<0.1 %" for shares that would be 0. */
void add_percent(struct text *text, double share);

/* Adds "2.9 s", "48 ms". */
void add_seconds(struct text *text, double seconds);

/* Adds "1.5x"; "more than 100x" for what is too uncertain. */
void add_factor(struct text *text, double factor);

/* Adds "3.0", "42". */
void add_number(struct text *text, double number);

/* Adds "16 % (14 to 17 %)"; with `more` "16 % (14 to 17 %; more)"; "" for none. */
void share_describe(const struct share *share, const char *more, struct text *out);

#endif

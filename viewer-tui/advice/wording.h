/* Numbers in sentences of advice: two digits. For use within one expression:
 *
 *     text_printf(text, "%s of the time", as_percent(0.327).text); */
#ifndef VIEWER_WORDING_H
#define VIEWER_WORDING_H

#include "viewer-tui/advice/share-interval.h"
#include "viewer-tui/base/text.h"

struct words {
    char text[64];
};

struct words as_percent(double share);   /* "33 %" for 0.327; "<0.1 %" for shares that would be 0 */
struct words as_seconds(double seconds); /* "2.9 s", "48 ms" */
struct words as_factor(double factor);   /* "1.5x"; "more than 100x" for what is too uncertain */
struct words as_number(double number);   /* "3.0", "42" */

/* Adds "16 % (14 to 17 %)"; with `more` "16 % (14 to 17 %; more)"; "" for none. */
void share_describe(const struct share *share, const char *more, struct text *out);

#endif

/* Numbers in sentences of advice: two digits. */
#ifndef VIEWER_WORDING_H
#define VIEWER_WORDING_H

#include "lib/number.h"
#include "viewer-tui/advice/share-interval.h"
#include "viewer-tui/base/text.h"

struct number_text as_percent(double share);   /* "33 %" for 0.327; "<0.1 %" for shares that would be 0 */
struct number_text as_seconds(double seconds); /* "2.9 s", "48 ms" */
struct number_text as_factor(double factor);   /* "1.5x"; "more than 100x" for what is too uncertain */
struct number_text as_number(double number);   /* "3.0", "42" */

/* Adds "2.1x"; of a wide interval, from few samples, its ends: "1.3x to 4.2x". */
void gain_describe(const struct gain *gain, struct text *out);

/* Adds "16 % (14 to 17 %)"; with `more` "16 % (14 to 17 %; more)"; "" for none. */
void share_describe(const struct share *share, const char *more, struct text *out);

#endif

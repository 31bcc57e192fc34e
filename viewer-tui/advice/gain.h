/* The factor by which a run becomes faster, at most, when a part of its time is saved.
 *
 * The part is a share of the time of the run's workers, or of its wall clock: without it they need
 * 1 - share of the time. "At most": the rest may turn out to be serial. */
#ifndef VIEWER_GAIN_H
#define VIEWER_GAIN_H

#include "viewer-tui/advice/share-interval.h"
#include "viewer-tui/base/text.h"

/* Factors, 1 for no gain, with a 95 % interval. INFINITY if all of the time may be saved. */
struct gain {
    double factor, low, high;
};

struct gain gain_without(const struct share *share);

/* Adds "1.19x faster (1.17x to 1.21x)"; the interval only if it differs in two decimals. */
void gain_describe(const struct gain *gain, struct text *out);

/* Adds "15.8% (14.5% to 17.1%)"; with `more` "15.8% (14.5% to 17.1%; more)"; "" for none. */
void share_describe(const struct share *share, const char *more, struct text *out);

#endif

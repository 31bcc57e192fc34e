/* How much faster a run becomes at most when a share of what it takes is gone.
 *
 * The share is one of what the run's workers, or its wall clock, spent: without it they need
 * 1 - share of the time. "At most": the rest may turn out to be serial. */
#ifndef VIEWER_GAIN_H
#define VIEWER_GAIN_H

#include "viewer-tui/advice/share-interval.h"
#include "viewer-tui/base/text.h"

/* Factors, 1 for nothing, with 95 % between low and high. INFINITY where all of it may go. */
struct gain {
    double factor, low, high;
};

struct gain gain_without(const struct share *share);

/* Adds "1.19x faster (1.17x to 1.21x)"; the interval only where it shows in two decimals. */
void gain_describe(const struct gain *gain, struct text *out);

/* Adds "15.8% (14.5% to 17.1%)", or with more to say "15.8% (14.5% to 17.1%; more)"; "" for none.
 */
void share_describe(const struct share *share, const char *more, struct text *out);

#endif

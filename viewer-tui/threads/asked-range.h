/* A piece of time as users write it:
 *
 *     1.2s:3.4s  1200ms:3400ms  1.2:3.4    from 1.2 to 3.4 seconds since the time line's begin
 *     40%:       :2s                       from 40 % of its length to its end; from its begin to 2 s
 *     phase2                               its second phase (advice/run-phases.h)
 *     during:sort                          when a region or procedure ran (timeline/named-times.h) */
#ifndef VIEWER_ASKED_RANGE_H
#define VIEWER_ASKED_RANGE_H

#include "viewer-tui/db/record-sums.h"

/* A time: seconds, or a share of the time line. */
struct asked_time {
    double value;
    bool is_given, is_share;
};

struct asked_range {
    struct asked_time from, to;
    unsigned phase; /* from 1; 0: none */
    char during[256]; /* "": none */
};

static inline bool asked_range_is_given(const struct asked_range *range)
{
    return range->from.is_given || range->to.is_given || range->phase || *range->during;
}

/* "1.2s", "1200ms", "1.2" or "40%"; false if it is none. */
bool asked_time_read(const char *text, struct asked_time *time);

/* False if it is empty or too long. */
bool asked_range_name(const char *name, struct asked_range *range);

/* False if it is none. */
bool asked_range_read(const char *text, struct asked_range *range);

/* The piece of a time line, whose phase this must not be. NULL, or why this piece is empty; the caller frees. */
char *asked_range_in(const struct asked_range *asked, const struct timeline *timeline, struct time_range *range);

#endif

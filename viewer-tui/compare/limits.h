/* Limits on what may get worse between two groups of repeated runs, for scripts and continuous integration:
 *
 *     wall +5%             the wall time; also `cpu`
 *     work +5%             a metric of the whole program, or "METRIC:exclusive"
 *     work:parse +10%      what a procedure and all that it calls cost, wherever it is called; all of that name, with any
 *                          arguments
 *
 * A limit is exceeded if the whole interval of the change is beyond it: that of 99.9 % (merged_uncertainty), since what
 * runs every night must not fail by chance. */
#ifndef VIEWER_LIMITS_H
#define VIEWER_LIMITS_H

#include "viewer-tui/compare/session.h"

struct limit {
    char *what; /* owned: "wall", "work:parse" */
    double percent;
};

typedef VEC(struct limit) limit_list;

/* Reads a limit, which the caller frees with limits_free. False if it is none. */
bool limit_read(const char *text, struct limit *limit);
void limits_free(limit_list *limits);

enum limit_verdict {
    LIMIT_KEPT,      /* the whole interval is below it */
    LIMIT_UNDECIDED, /* it is in the interval: more runs are needed */
    LIMIT_EXCEEDED,
    LIMIT_UNKNOWN /* there is no such metric or procedure, or too few runs */
};

/* Checks a limit of a comparison. Adds one line without its end: the change with its interval, and of an exceeded limit
 * the procedures with more of their own; or why it is unknown. */
enum limit_verdict limit_check(struct session *session, enum projection projection, const struct limit *limit,
                               bool ascii, struct text *out);

#endif

/* Joins calls of one procedure that a comparison must not tell apart by their sites.
 *
 * If the runtime does not know where a stolen frame was called, a run with more workers has
 *
 *     with one worker            with four
 *       12 » fib   61 %            12 » fib   15 %
 *       13 » fib   39 %             ? » fib   85 %
 *
 * Nobody knows how much of the call from the unknown site is from line 12. Compared line by line,
 * fib would seem to change; all its calls together are the same.
 *
 * A call from an unknown site may be in any loop of its caller. So loops in which the caller has
 * other calls of that procedure are replaced by their contents.
 *
 * Children of the compared rows that are calls of one procedure (in the bottom-up view: that are
 * one caller), by its name and file name, are joined on each side if some have a call site and
 * others have none, and
 *
 * - the site of one is unknown (run.json), or
 * - each side has one of them: then the one without a site is from code without a line map. */
#ifndef VIEWER_JOIN_CALLS_H
#define VIEWER_JOIN_CALLS_H

#include "viewer-tui/tree/view.h"

/* A scope of each side of a comparison, by their rows. */
struct row_pair {
    uint32_t rows[SIDES]; /* NOTHING for none */
};

struct row_pairs {
    struct row_pair *at;
    size_t n, cap;
};

/* Joins such calls among the children of two rows, which were expanded last; a row may be NOTHING.
 * Returns the pairs that both sides have; the caller frees with vec_free. */
struct row_pairs join_calls(struct view *const sides[SIDES], struct row_pair parents);

#endif

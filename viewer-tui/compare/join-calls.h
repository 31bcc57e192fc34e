/* Joins calls of one procedure that a merger of runs must not tell apart by their sites.
 *
 * If the runtime does not know where a stolen frame was called, a run with more workers has
 *
 *     with one worker            with four
 *       12 » fib   61 %            12 » fib   15 %
 *       13 » fib   39 %             ? » fib   85 %
 *
 * Nobody knows how much of the call from the unknown site is from line 12. Compared line by line, fib would seem to
 * change; all its calls together are the same.
 *
 * A call from an unknown site may be in any loop of its caller. So loops in which the caller has other calls of that
 * procedure are replaced by their contents.
 *
 * Children of the rows that are calls of one procedure (in the bottom-up view: that are one caller), by its name and
 * file name, are joined in each run if some have a call site and others have none, and
 *
 * - the site of one is unknown (run.json), or
 * - no run has two of them: then those without a site are from code without a line map. */
#ifndef VIEWER_JOIN_CALLS_H
#define VIEWER_JOIN_CALLS_H

#include "viewer-tui/tree/view.h"

/* By call, then run: the row that the joined calls of the procedure have become, or NOTHING. */
typedef VEC(uint32_t) joined_calls;

/* Joins such calls among the children of rows[run], which were expanded last; a row may be NOTHING. The caller frees
 * the result with vec_free. */
joined_calls join_calls(struct view *const *views, size_t n_runs, const uint32_t *rows);

#endif

/* Calls of one procedure that a comparison must not tell apart by their sites.
 *
 * A run whose runtime does not know where a stolen frame was called has the calls of a procedure
 *
 *     with one worker            with four
 *       12 » fib   61 %            12 » fib   15 %
 *       13 » fib   39 %             ? » fib   85 %
 *
 * and how much of the call from an unknown site is from line 12 nobody knows. Line by line the
 * comparison would show changes that there are not; all calls of fib together are the same.
 *
 * A call from an unknown site may be in any loop of its caller: loops in which the caller has other
 * calls of that procedure are left out, and what is in them stands in their place.
 *
 * Children of the compared rows that are calls of one procedure (in the bottom-up view: callers
 * that are one procedure), by its name and that of its file without folders, are joined on each
 * side when some of them have a call site and others have none, and
 *
 * - the site of one is not known (run.json), or
 * - each side has one of them: the one without site is from code that was built without line map.
 */
#ifndef VIEWER_JOIN_CALLS_H
#define VIEWER_JOIN_CALLS_H

#include "viewer-tui/compare/row-pair.h"

/* Joins such calls among the children of two rows, which were expanded last; a row may be NOTHING.
 * Returns those that both sides have, each a pair; the caller frees with vec_free. */
struct row_pairs join_calls(struct view *const sides[SIDES], struct row_pair parents);

#endif

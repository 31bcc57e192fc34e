/* What titles say of a session: the command, the runs that are compared, the projection, what is folded, and what
 * values are restricted to. */
#ifndef VIEWER_SESSION_TITLES_H
#define VIEWER_SESSION_TITLES_H

#include "viewer-tui/compare/session.h"

const char *projection_name(enum projection projection);

/* The command that was run, and the threads and the piece of time if values are restricted to some, for titles. `db` is
 * that of the view, or NULL. */
const char *session_title(const struct session *session, const struct database *db);

/* Makes the title of a run whose restriction has changed. */
void session_name_restriction(const struct session *session, struct session_run *run, const struct database *db);

/* "xz -9 [before] and [after]", of repeated runs "xz -9 [before, 5 runs] and [after, 5 runs]"; the caller frees. */
char *session_compared_title(const struct session *session, const struct merged_runs *merged);

/* Adds "threads: worker (2 of 4)" and "time: 1.2 s to 3.4 s", as far as values of the only run are restricted, each
 * after `before`. */
void session_describe_restriction(const struct session *session, const char *before, bool ascii, struct text *out);

/* Whether the viewer or hpcprof collapsed the recursion, in the databases of all runs. */
bool session_recursion_is_collapsed(const struct session *session);

/* What titles say after the projection: ", inlined code folded", ", recursion collapsed", both in
 * this order, or "". */
const char *session_folding_words(const struct session *session);

/* The first line of every view: what ran, and how long.
 *
 *     cholesky -n 2000   1.58 s wall, 2.87 s CPU, 1.8 of 2 CPUs used
 *     cholesky [before] and [after]   1.58 s wall -> 1.21 s, 2.87 s CPU -> 2.31 s, 1.8 -> 1.9 of 2 CPUs used
 *     cholesky -n 2000 [1 worker] and [4]   5.12 s wall -> 1.58 s, ...    losses of a set: means over its runs */

/* Least columns that the command of a run keeps, and the names of two runs. */
#define RUN_LINE_COMMAND 16
#define RUN_LINE_NAMES   24

/* Adds the line. If it does not fit into `width` columns, the command is cut, then the last numbers
 * are left out. `db`: as in session_title. */
void run_line_add(const struct session *session, const struct database *db, size_t width,
                  bool ascii, struct text *out);

#endif

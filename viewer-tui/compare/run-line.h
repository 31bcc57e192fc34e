/* The first line of every view: what ran, and how long.
 *
 *     cholesky -n 2000   1.58 s wall, 2.87 s CPU, 1.8 of 2 CPUs used
 *     cholesky [before] and [after]   1.58 s wall -> 1.21 s, 2.87 s CPU -> 2.31 s, 1.8 -> 1.9 of 2 CPUs used
 *     cholesky -n 2000 [1 worker] and [4]   5.12 s wall -> 1.58 s, ...    losses of a set: means over its runs */
#ifndef VIEWER_RUN_LINE_H
#define VIEWER_RUN_LINE_H

#include "viewer-tui/compare/session.h"

/* Least columns that the command of a run keeps, and the names of two runs. */
#define RUN_LINE_COMMAND 16
#define RUN_LINE_NAMES   40

/* Adds the line. If it does not fit into `width` columns, the command is cut, then the last numbers
 * are left out. `db`: as in session_title. */
void run_line_add(const struct session *session, const struct database *db, size_t width,
                  bool ascii, struct text *out);

#endif

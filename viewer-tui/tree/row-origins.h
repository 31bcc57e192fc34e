/* Creation paths of the threads that begin at a row. */
#ifndef VIEWER_ROW_ORIGINS_H
#define VIEWER_ROW_ORIGINS_H

#include "viewer-tui/threads/thread-origin.h"
#include "viewer-tui/tree/view.h"

/* Finds the creation paths of the threads whose start routine is this row of a top-down view; other
 * rows and views have none. `run` may be NULL. The caller frees the list. */
void row_origins_find(struct thread_origins *origins, const struct view *view, uint32_t row,
                      const json_t *run, bool is_physical);

/* Whether the row is a child of an entry point of threads. */
bool row_is_start_routine(const struct view *view, uint32_t row);

#endif

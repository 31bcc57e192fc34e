/* Start code: the rows above a program's main function and above a thread's start routine, which the
 * tree shows as one row, "main thread > ... > main". Rows of a chain, from the outermost inwards:
 *
 *     main thread              first
 *       _start
 *         __libc_start_main
 *           main               last: the first row that is the program's own
 */
#ifndef VIEWER_START_CODE_H
#define VIEWER_START_CODE_H

#include "viewer-tui/tree/view.h"

#include <stdbool.h>

struct start_chain {
    uint32_t first;
    uint32_t last; /* NOTHING: the row begins no chain of at least three rows */
    bool is_open;  /* all rows are shown */
};

/* Whether a row of a top-down view may begin a chain: an entry point, or a thread's outermost frame. */
bool start_chain_may_begin(const struct view *view, uint32_t row);

/* The chain that begins at such a row. Expands the rows of the chain. */
struct start_chain start_chain_at(struct view *view, uint32_t row);

#endif

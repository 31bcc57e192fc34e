/* The instructions of the procedure around a row, with what each cost, for people:
 *
 *     work of fib, fib.c:6 in cilk-fib: 1.234 s; 34.1% of the program
 *
 *      work, s      %   address  instruction
 *     fib.c:7        if (n < 2)
 *        0.012   1.0%    401136  cmp edi, 0x01
 *     >  0.420  34.0%    401139  jle 0x000000000040115b
 *
 * Percentages are of the procedure. `>` marks the instructions of the row's line. */
#ifndef VIEWER_DISASSEMBLY_H
#define VIEWER_DISASSEMBLY_H

#include "viewer-tui/base/text.h"
#include "viewer-tui/db/source-text.h"
#include "viewer-tui/tree/view.h"

/* Adds the listing to `out` for the metric that the view is sorted by (its first stored one, if
 * that is derived). *first_line is the index of the line of text to begin with: the most expensive
 * instruction of the row's line, or of the procedure where the row has no line. False when there is
 * nothing to show; *why then says why, in static memory. */
bool disassembly_of_row(const struct view *view, uint32_t row, struct sources *sources, bool ascii,
                        struct text *out, size_t *first_line, const char **why);

#endif

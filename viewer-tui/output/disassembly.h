/* The instructions of the procedure around a row, with what each cost, for people:
 *
 *     work of hot, its own instructions: 412.1 ms, 100.0% of the program
 *
 *        work, ms      %   address  instruction
 *     t.c:7  s += n / i;
 *                             1186  xor %edx, %edx
 *                             1188  div %rsi
 *     >     242.8  58.9%      118b  add $0x01, %rsi
 *
 * Percentages are of the procedure. `>` marks the instructions of the row's line. The processor
 * reports a sample at the instruction after the one that took the time. */
#ifndef VIEWER_DISASSEMBLY_H
#define VIEWER_DISASSEMBLY_H

#include "viewer-tui/base/text.h"
#include "viewer-tui/db/source-text.h"
#include "viewer-tui/tree/view.h"

struct disassembly {
    struct sources *sources;
    size_t width; /* longer lines are cut; 0: none are */
    bool ascii;
    struct text *out;  /* the listing is added here */
    size_t first_line; /* result: index of the most expensive instruction's line of text: of those
                          of the row's line, or of all where the row has no line */
};

/* Lists the instructions in the metric that the view is sorted by (its first stored one, if that is
 * derived). False when there are none to list; *why then says why, in static memory. */
bool disassembly_of_row(struct disassembly *disassembly, const struct view *view, uint32_t row,
                        const char **why);

#endif

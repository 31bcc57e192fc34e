/* All that is known of a row, for people: its place, every metric's values with all digits and
 * percentages, and how derived values are computed:
 *
 *     procedure coder_run
 *       declared    /src/coder.c:20
 *       called at   /src/xz.c:111
 *       in          /usr/bin/xz
 *
 *     created at, 2 threads
 *       main xz.c:80
 *         start pool.c:12
 *
 *     work, s
 *       inclusive   6.5        65% of the program, 96.2963% of the row above
 *       exclusive   3.5        35% of the program
 *     waste = $idleness + $overhead
 *       inclusive   5.0625     = 3.0625 + 2
 *
 *     path, outermost first
 *       main thread
 *       main
 *       coder_run */
#ifndef VIEWER_INSPECT_H
#define VIEWER_INSPECT_H

#include "viewer-tui/base/text.h"
#include "viewer-tui/tree/view.h"

#include <jansson.h>

/* `run` is the database's run.json, for the calls that created threads; may be NULL. */
void inspect_row(const struct view *view, uint32_t row, const json_t *run, bool is_physical,
                 bool ascii, struct text *out);

#endif

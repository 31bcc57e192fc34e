/* When the frames of a flame graph had their costs: for the range slider of its page. */
#ifndef VIEWER_FLAMEGRAPH_TIMES_H
#define VIEWER_FLAMEGRAPH_TIMES_H

#include "viewer-tui/output/export/flamegraph-frames.h"
#include "viewer-tui/output/open-timeline.h"

/* Adds to `out` an element with the costs of the shown frames in each of N bins of the chart's time, of at most `room`
 * bytes:
 *
 *     <script type="text/plain" id="times" data-from="SECONDS" data-to="SECONDS" data-bins="N">0 12 7 3;;...</script>
 *
 * For each frame, in their order and with a semicolon between two: the own costs of the frame and of those in it that
 * are not shown, pairs of a bin and a millionth of the whole. Nothing if the time line does not have the metric's costs,
 * if the tree is folded or no top-down view, or if there is too little room. */
void flamegraph_times_add(const struct frames *frames, const struct open_timeline *open, size_t room, struct text *out);

#endif

/* What a flame graph's page is made of besides its frames. The page is HTML and well-formed XML,
 * and loads nothing. */
#ifndef VIEWER_FLAMEGRAPH_PAGE_H
#define VIEWER_FLAMEGRAPH_PAGE_H

/* How high a frame is, in pixels. */
#define FLAMEGRAPH_ROW 18

/* From the beginning to the title, which is to follow as escaped text; then to the heading, which
 * is to follow likewise; then to the frames. */
extern const char flamegraph_to_title[], flamegraph_to_heading[], flamegraph_to_frames[];

/* Behind the frames, before which there may be a paragraph with the id "legend", with examples of
 * colours in spans of the class "sample". Each frame is
 *
 *     <div class="f" data-own="COSTS" data-total="COSTS" title="WHAT TO SHOW"
 *          style="left:X%;width:W%;top:Ypx;background:COLOUR">NAME</div>
 *
 * (of a comparison with data-own-before and data-total-before, too) with X and W in percent of the
 * whole program, and Y = depth * FLAMEGRAPH_ROW. The first one is
 * the whole program. */
extern const char flamegraph_end[];

#endif

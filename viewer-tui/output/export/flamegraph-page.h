/* The page of a flame graph, except for its frames. It is HTML and well-formed XML, and loads
 * nothing. */
#ifndef VIEWER_FLAMEGRAPH_PAGE_H
#define VIEWER_FLAMEGRAPH_PAGE_H

/* The height of a frame in pixels. */
#define FLAMEGRAPH_ROW 18

/* The parts before the title, between title and heading, and between heading and frames. Title and
 * heading are escaped text. */
extern const char flamegraph_to_title[], flamegraph_to_heading[], flamegraph_to_frames[];

/* The part after the frames. Each frame is
 *
 *     <div class="f" data-own="COSTS" data-total="COSTS" title="WHAT TO SHOW"
 *          style="left:X%;width:W%;top:Ypx;background:COLOR">NAME</div>
 *
 * (in a comparison also data-own-before and data-total-before), X and W in percent of the whole
 * program and Y = depth * FLAMEGRAPH_ROW. The first frame is the whole program; all are in an element with the id
 * "frames". Before the frames
 * there may be a paragraph with the id "legend", with examples of colors in spans of the class
 * "sample". */
extern const char flamegraph_end[];

#endif

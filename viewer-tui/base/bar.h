/* Bars made of characters. */
#ifndef VIEWER_BAR_H
#define VIEWER_BAR_H

#include "viewer-tui/base/text.h"

/* Adds a bar that is as much of `columns` columns long as `share` says, 0..1: to an eighth of a
 * column, in `ascii` to a column. What is more than nothing is seen. Nothing stands behind it. */
void bar_add(struct text *text, double share, size_t columns, bool ascii);

#endif

/* The source of the selected row. */
#ifndef VIEWER_SOURCE_PANE_H
#define VIEWER_SOURCE_PANE_H

#include "viewer-tui/terminal/screens/tui.h"

void tui_draw_source(struct tui *tui, struct area area);

/* Draws an explanation if the path of a source file is an overhead tag; false if it is none. */
bool tui_draw_tag(const struct tui *tui, struct area area, const char *path);

/* Top-down, for a row without source of the program's own: the nearest row from there upwards that
 * is called from a line of the program's own source; else NOTHING. tui_add_own_call adds that line,
 * tui_go_to_own_call selects the row and shows the line. */
uint32_t tui_nearest_own_call(struct tui *tui);
void tui_add_own_call(struct tui *tui, struct text *out);
void tui_go_to_own_call(struct tui *tui);

#endif

/* The main screen: title, column heads, tree, source, status line, keys. */
#ifndef VIEWER_MAIN_SCREEN_H
#define VIEWER_MAIN_SCREEN_H

#include "viewer-tui/output/columns.h"
#include "viewer-tui/terminal/screens/tui.h"

void tui_draw(struct tui *tui);

/* Shows a message in the status line at once, before something that takes a while. */
void tui_announce(const char *what);

/* Shows the progress of a pass; a progress_listener. */
bool tui_tell_progress(const char *what, int percent);

/* Adds the path to a row: long names shortened, and only as much of its end as fits. */
void tui_add_path(struct tui *tui, uint32_t row, struct text *out, size_t width);

/* Columns that fit a screen of that width; the caller frees. */
struct columns tui_columns(struct tui *tui, int width);
void tui_draw_heads(struct tui *tui, struct area area); /* 2 lines */
void tui_draw_tree(struct tui *tui, struct area area);

/* Highlights a match of the last search in text drawn in `area`; bytes before `from` are skipped. */
void tui_draw_match(const struct tui *tui, struct area area, const char *text, size_t from);

#endif

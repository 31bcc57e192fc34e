/* The main screen: title, advice, column heads, tree, source, status line, keys. */
#ifndef VIEWER_MAIN_SCREEN_H
#define VIEWER_MAIN_SCREEN_H

#include "viewer-tui/table/columns.h"
#include "viewer-tui/terminal/screens/tui.h"

/* Finds everything that the screen shows (tui_prepare), then draws it, which changes nothing and
 * reads no database. */
void tui_show(struct tui *tui);

/* Shows a message in the status line at once, before something that takes a while. */
void tui_announce(const char *what);

/* Shows the progress of a pass; a progress_listener. */
bool tui_tell_progress(const char *what, int percent);

/* Adds the path to a row: long names shortened, and only as much of its end as fits. */
void tui_add_path(const struct tui *tui, uint32_t row, struct text *out, size_t width);

/* The view or page whose name is in a column of the title; COMMAND_NONE: none. */
enum command tui_command_at(int column);

/* Columns that fit a screen of that width; the caller frees. */
struct columns tui_columns(const struct tui *tui, int width);
void tui_draw_heads(const struct tui *tui, struct area area); /* 2 lines */

/* What a click on a column of the heads sorts by. */
struct sorting tui_sorting_at(const struct tui *tui, int column);

/* Scrolls the tree so that the selected row is visible, and reads the costs of its rows. */
void tui_prepare_tree(struct tui *tui, struct area area);
void tui_draw_tree(const struct tui *tui, struct area area);

/* Whether a column is that of the marker, "▸", of the shown row at an index. */
bool tui_is_marker(const struct tui *tui, size_t index, int column);

/* Highlights a match of the last search in text drawn in `area`; bytes before `from` are skipped. */
void tui_draw_match(const struct tui *tui, struct area area, const char *text, size_t from);

#endif

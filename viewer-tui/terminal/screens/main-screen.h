/* What the main screen shows: title, advice, column heads, tree, source, status line, keys. */
#ifndef VIEWER_MAIN_SCREEN_H
#define VIEWER_MAIN_SCREEN_H

#include "viewer-tui/table/columns.h"
#include "viewer-tui/terminal/screens/tui.h"

/* Finds everything that the screen shows (prepare), then draws it, which changes nothing and reads no database. */
void tui_show(struct tui *tui);

/* The view or page whose name is in a column of the title; NULL: none. */
const struct command *tui_command_at(int column);

/* column-heads.c: the columns that fit a screen of that width. */
struct columns tui_columns(const struct tui *tui, int width);
void tui_draw_heads(const struct tui *tui, struct area area); /* 2 lines */
/* What a click on a column of the heads sorts by. */
struct sorting tui_sorting_at(const struct tui *tui, int column);

/* tree-rows.c: scrolls the tree so that the selected row is visible, and reads the costs of its rows. */
void tui_prepare_tree(struct tui *tui, struct area area);
void tui_draw_tree(const struct tui *tui, struct area area);
/* Whether a column is that of the marker, "▸", of the shown row at an index. */
bool tui_is_marker(const struct tui *tui, size_t index, int column);

/* source-pane.c: finds the place, the costs of its lines, or why there is no source; once per key. */
void tui_prepare_source(struct tui *tui);
/* Lines that the pane could show, without its title. */
size_t tui_source_lines(const struct tui *tui);
/* Scrolls the source as far as there are lines. */
void tui_place_source(struct tui *tui, struct area area);
void tui_draw_source(const struct tui *tui, struct area area);

/* Top-down, for a row in code of others, e.g. a futex or another procedure of the C library: selects the nearest row
 * from there upwards that is called from a line of the user's own code, and shows that line. False if there is none. */
bool tui_go_to_own_call(struct tui *tui);

#endif

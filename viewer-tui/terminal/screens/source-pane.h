/* The source of the selected row. */
#ifndef VIEWER_SOURCE_PANE_H
#define VIEWER_SOURCE_PANE_H

#include "viewer-tui/terminal/screens/tui.h"
#include "viewer-tui/tree/line-costs.h"

/* What the source pane shows. */
struct shown_source {
    const struct view *view; /* of one database, which the file and line belong to */
    uint32_t file, line;
    bool is_call; /* the line calls the selected row */
    const struct source *source;
    struct line_costs costs; /* of the file's lines */
    uint32_t first;          /* line at the top of the pane */
    struct text missing;     /* why there is no source, and what to do about it */
};

/* Finds what to show, once per key. */
void tui_prepare_source(struct tui *tui);

/* Scrolls the source as far as there are lines. */
void tui_place_source(struct tui *tui, struct area area);

void tui_draw_source(const struct tui *tui, struct area area);
/* Lines that the pane could show, without its title. */
size_t tui_source_lines(const struct tui *tui);
void tui_free_source(struct tui *tui);

/* missing-source.c: why a row has no source, and what to do about it. */
void tui_explain_missing(struct tui *tui, const struct shown_source *shown, struct text *out);

/* Draws the title of the pane if the path of a source file is an overhead tag; false if it is none. */
bool tui_draw_tag_title(const struct tui *tui, struct area area, const char *path);

/* own-source.c: top-down, for a row without source of the program's own: the nearest row from there
 * upwards that is called from a line of the program's own source; else NOTHING. */
uint32_t tui_nearest_own_call(struct tui *tui);
/* Adds "nearest line of yours: FILE:LINE (press w)". */
void tui_add_own_call(struct tui *tui, struct text *out);
/* Selects that row and shows the line; false if there is none. */
bool tui_go_to_own_call(struct tui *tui);

#endif

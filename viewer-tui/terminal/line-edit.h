/* Editing a line of text, key by key. */
#ifndef VIEWER_LINE_EDIT_H
#define VIEWER_LINE_EDIT_H

#include "viewer-tui/base/text.h"
#include "viewer-tui/terminal/screen.h"

enum line_state { EDIT_GOES_ON, EDIT_DONE, EDIT_GIVEN_UP };

struct line_edit {
    struct text text;
    size_t cursor; /* the byte before which it stands */
};

/* Begins with a text, with the cursor behind it. */
void line_edit_set(struct line_edit *line, const char *text);

/* What a key (screen_key) does to the line, as in shells and editors: characters are put in as
 * UTF-8; Left and Right, Home and End, ^A ^E ^B ^F move; Backspace, Delete, ^D, ^W (a word), ^U
 * (what is before the cursor) and ^K (what is behind it) delete. Enter ends it; Escape, ^C, and
 * Backspace where there is nothing, give it up. */
enum line_state edit_line(struct line_edit *line, int key);

/* Draws the line with its cursor, scrolled so that the cursor stays in the area. Returns the number
 * of columns used. */
int line_edit_draw(const struct line_edit *line, struct area area);

#endif

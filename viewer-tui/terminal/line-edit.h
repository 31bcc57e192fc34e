/* A line of text that the user is typing. */
#ifndef VIEWER_LINE_EDIT_H
#define VIEWER_LINE_EDIT_H

#include "viewer-tui/base/text.h"
#include "viewer-tui/terminal/screen.h"

enum line_state { EDIT_GOES_ON, EDIT_DONE, EDIT_GIVEN_UP };

struct line_edit {
    struct text text;
    size_t cursor; /* index of the byte under it */
};

/* Sets the text, with the cursor at its end. */
void line_edit_set(struct line_edit *line, const char *text);

/* Applies a key (screen_key) as shells and editors do. Characters are inserted as UTF-8.
 *
 *     Left, Right, Home, End, ^A ^E ^B ^F    move
 *     Backspace, Delete, ^D                  delete a character
 *     ^W, ^U, ^K                             delete a word, to the start, to the end
 *     Enter                                  EDIT_DONE
 *     Escape, ^C, Backspace if empty         EDIT_GIVEN_UP */
enum line_state edit_line(struct line_edit *line, int key);

/* Draws the line with its cursor, scrolled so that the cursor stays in the area. Returns the number
 * of columns used. */
int line_edit_draw(const struct line_edit *line, struct area area);

#endif

/* A line of text that the user is typing, and the earlier answers that Up brings back. */
#ifndef VIEWER_LINE_EDIT_H
#define VIEWER_LINE_EDIT_H

#include "lib/alloc.h"
#include "viewer-tui/base/text.h"
#include "viewer-tui/terminal/keys.h"
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

/* An answer to a question. */
struct answer {
    enum command command; /* whose question it answers */
    char *text;
};

/* The answers, oldest first. Empty if zeroed. */
struct history {
    VEC(struct answer) list;
};

void history_free(struct history *history);

/* Adds an answer unless it is empty or equal to the last one. */
void history_add(struct history *history, enum command command, const char *text);

/* The next older (step -1) or newer (1) answer to a command than *at, and moves *at there. NULL if
 * there is none. Begin with *at = history->list.n. */
const char *history_step(const struct history *history, enum command command, size_t *at, int step);

#endif

/* Editing a line of text, key by key. */
#ifndef VIEWER_LINE_EDIT_H
#define VIEWER_LINE_EDIT_H

#include "viewer-tui/base/text.h"

enum edit { EDIT_GOES_ON, EDIT_DONE, EDIT_GIVEN_UP };

/* What a key (screen_key) does to the line: Enter ends it, Escape gives it up, Backspace and ^U
 * delete, characters are appended as UTF-8. */
enum edit edit_line(struct text *line, int key);

#endif

#include "viewer-tui/terminal/line-edit.h"

#include "lib/utf8.h"
#include "viewer-tui/terminal/screen.h"

#include <ncurses.h>

#define DELETE    0x7f
#define CONTROL_U ('u' & 0x1f)

/* Takes the last character off. */
static void delete_last(struct text *line)
{
    while (line->n && ((unsigned char)line->at[line->n - 1] & 0xc0) == 0x80)
        line->n--;
    if (line->n)
        line->n--;
    if (line->at)
        line->at[line->n] = '\0';
}

enum edit edit_line(struct text *line, int key)
{
    char bytes[4];
    switch (key) {
    case KEY_ESCAPE:
    case KEY_GONE: return EDIT_GIVEN_UP;
    case '\r':
    case '\n':
    case KEY_ENTER + KEY_OFFSET: return EDIT_DONE;
    case '\b':
    case DELETE:
    case KEY_BACKSPACE + KEY_OFFSET: delete_last(line); break;
    case CONTROL_U: text_clear(line); break;
    default:
        if (key >= ' ' && key < KEY_OFFSET)
            text_add_bytes(line, bytes, utf8_encode((uint32_t)key, bytes));
    }
    return EDIT_GOES_ON;
}

/* The terminal: starting and leaving it, attributes, putting text into cells. The only file that
 * knows ncurses' colours; nothing is drawn outside of the screen, however small it is. */
#ifndef VIEWER_SCREEN_H
#define VIEWER_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

enum style {
    STYLE_PLAIN,
    STYLE_DIM,
    STYLE_BAR,      /* title and help line */
    STYLE_HEAD,     /* column heads */
    STYLE_SELECTED, /* the selected row */
    STYLE_WARNING,
    STYLE_MATCH,   /* what was searched for */
    STYLE_COMMENT, /* source code */
    STYLE_STRING,
    STYLE_NUMBER,
    STYLE_KEYWORD,
    STYLE_DIRECTIVE,
    STYLE_HEAT, /* costs, by their share of the whole: from here on, the hottest last */
    STYLES = STYLE_HEAT + 8
};

/* A rectangle of the screen. */
struct area {
    int line, column, height, width;
};

/* Takes over the terminal; NULL, or why that cannot be. Colours are used where the terminal has
 * them and the environment does not say NO_COLOR. */
const char *screen_start(bool with_mouse);

/* Gives the terminal back as it was. */
void screen_stop(void);

/* Gives the terminal to another program, with the screen as it was before screen_start; takes it
 * back, whatever became of it. */
void screen_suspend(void);
void screen_resume(void);

int screen_width(void);
int screen_height(void);

/* Empties the screen, before everything is drawn anew; shows what was drawn. */
void screen_begin(void);
void screen_end(void);

/* Sends bytes to the terminal that draw nothing. */
void screen_send(const char *bytes);

/* Makes the next screen_end draw everything, whatever the terminal shows. */
void screen_redraw(void);

/* Draws `text` from cell (line, column) on, cut at `width` columns and at the screen's edge. Text
 * is UTF-8 in such locales, else ASCII, without control characters. Returns the columns used. */
int screen_put(int line, int column, int width, enum style style, const char *text);

/* Fills cells with spaces in a style. */
void screen_fill(int line, int column, int width, enum style style);

/* A horizontal line of dashes. */
void screen_rule(int line, int column, int width);

/* The style of a cost with that share, 0..1. */
enum style screen_heat(double share);

/* A key as ncurses tells it: a code point, or KEY_... + KEY_OFFSET; waits for one. KEY_NOTHING
 * when the wait was interrupted, KEY_GONE when the terminal is gone. */
#define KEY_OFFSET  0x200000
#define KEY_ESCAPE  27
#define KEY_NOTHING (-1)
#define KEY_GONE    (-2)
int screen_key(void);

/* Whether a key is no key but says that the terminal's size has changed. */
bool screen_key_is_resize(int key);

/* Whether a key was pressed that nobody has read yet; does not wait. */
bool screen_key_pressed(void);

/* Where the mouse was at the last key, which was KEY_MOUSE for a click or KEY_SR or KEY_SF for the
 * wheel; outside of the screen when it was another. */
struct mouse {
    int line, column;
};
struct mouse screen_mouse(void);

/* Whether Escape is the next key that was pressed; does not wait, and leaves other keys alone. */
bool screen_escape_pressed(void);

#endif

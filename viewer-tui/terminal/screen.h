/* The terminal: start and end, colors, text in cells, keys and mouse. Everything is clipped to the
 * screen, however small it is. */
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
    STYLE_MATCH,   /* match of a search */
    STYLE_COMMENT, /* source code */
    STYLE_STRING,
    STYLE_NUMBER,
    STYLE_KEYWORD,
    STYLE_DIRECTIVE,
    STYLE_HEAT, /* first of the styles of costs, from small to large shares of the whole */
    STYLES = STYLE_HEAT + 8
};

/* A rectangle of the screen. */
struct area {
    int line, column, height, width;
};

/* Takes over the terminal. Returns NULL, or why that is impossible. Uses colors if the terminal has
 * them and the environment variable NO_COLOR is not set. */
const char *screen_start(bool with_mouse);

/* Restores the terminal. */
void screen_stop(void);

/* Lends the terminal to another program, with the screen as before screen_start; takes it back, in
 * whatever state it is. */
void screen_suspend(void);
void screen_resume(void);

int screen_width(void);
int screen_height(void);

/* Clears the screen before everything is drawn; shows what was drawn. */
void screen_begin(void);
void screen_end(void);

/* Makes the next screen_end redraw everything. */
void screen_redraw(void);

/* Draws `text` at cell (line, column), cut at `width` columns and at the edge of the screen. The text
 * is UTF-8 in UTF-8 locales, else ASCII, without control characters. Returns the columns used. */
int screen_put(int line, int column, int width, enum style style, const char *text);

/* Draws the bytes start..end of a text that is drawn there in a style of their own. */
void screen_mark(int line, int column, int width, enum style style, const char *text, size_t start, size_t end);

/* A character in one of the colors of time lines (output/time-looks.h) on another one; TIME_COLORS: none. Reversed: the
 * first color is around it. */
#define SCREEN_TILE_COLORS 8
void screen_put_tile(int line, int column, unsigned color, unsigned around, bool is_reversed, const char *text);
bool screen_has_colors(void);

/* Fills cells with spaces in a style. */
void screen_fill(int line, int column, int width, enum style style);

/* A horizontal line of dashes. */
void screen_rule(int line, int column, int width);

/* The style of a cost with a share 0..1. */
enum style screen_heat(double share);

/* Waits for a key: a code point, or KEY_... of ncurses + KEY_OFFSET. KEY_NOTHING if the wait was
 * interrupted, KEY_GONE if the terminal is gone. */
#define KEY_OFFSET      0x200000
#define SPECIAL(key)    ((key) + KEY_OFFSET)
#define CONTROL(letter) ((letter)&0x1f)
#define KEY_RUBOUT      0x7f
#define KEY_ESCAPE      27
#define KEY_NOTHING     (-1)
#define KEY_GONE        (-2)
int screen_key(void);

/* Whether a "key" reports that the size of the terminal has changed. */
bool screen_key_is_resize(int key);

/* Whether a key is waiting to be read; returns at once. */
bool screen_key_pressed(void);

/* Position of the mouse at the last key if that was KEY_MOUSE (a click), KEY_SR or KEY_SF (the
 * wheel); else (-1, -1). */
struct mouse {
    int line, column;
};
struct mouse screen_mouse(void);

/* Whether Escape or ^C is the next key, which is then read; returns at once. */
bool screen_escape_pressed(void);

#endif

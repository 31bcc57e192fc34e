#include "viewer-tui/terminal/screen.h"

#include "lib/utf8.h"
#include "viewer-tui/base/text.h"

#include <ncurses.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

/* Milliseconds after Escape in which the rest of a key's sequence may arrive. */
#define ESCAPE_DELAY 25

#define MOST_FAILURES 100

static attr_t styles[STYLES];
static SCREEN *terminal;
static struct mouse mouse;

/* Looks of costs by their least share: on terminals with 256 colors, with 8, and with none. */
static const struct heat {
    double share;
    int of_256, of_8;
    attr_t attributes, without_colors;
} heats[STYLES - STYLE_HEAT] = {
    {0, 245, COLOR_WHITE, A_DIM, A_DIM},          {0.005, 72, COLOR_GREEN, A_NORMAL, A_NORMAL},
    {0.02, 107, COLOR_GREEN, A_NORMAL, A_NORMAL}, {0.05, 142, COLOR_YELLOW, A_NORMAL, A_BOLD},
    {0.1, 178, COLOR_YELLOW, A_NORMAL, A_BOLD},   {0.2, 208, COLOR_RED, A_BOLD, A_BOLD},
    {0.4, 202, COLOR_RED, A_BOLD, A_BOLD},        {0.7, 196, COLOR_RED, A_BOLD, A_BOLD},
};

/* The palette of Okabe and Ito, as near as terminals have it. */
static const struct {
    short of_256, of_8;
} tiles[SCREEN_TILE_COLORS] = {
    {36, COLOR_GREEN},    {166, COLOR_RED},   {214, COLOR_YELLOW}, {74, COLOR_CYAN},
    {175, COLOR_MAGENTA}, {245, COLOR_WHITE}, {227, COLOR_YELLOW}, {32, COLOR_BLUE},
};
static bool has_tiles;

/* The pair of a color, or none, on another one, or none. */
#define TILE_PAIR(color, around) ((short)(STYLES + 1 + (around) * (SCREEN_TILE_COLORS + 1) + (color)))
#define TILE_PAIRS               (STYLES + 1 + (SCREEN_TILE_COLORS + 1) * (SCREEN_TILE_COLORS + 1))

/* The looks of styles other than heat without colors. */
static const attr_t monochrome[STYLE_HEAT] = {
    [STYLE_DIM] = A_DIM,          [STYLE_BAR] = A_REVERSE,  [STYLE_HEAD] = A_UNDERLINE,
    [STYLE_SELECTED] = A_REVERSE, [STYLE_WARNING] = A_BOLD, [STYLE_MATCH] = A_BOLD | A_UNDERLINE,
    [STYLE_COMMENT] = A_DIM,
};

/* Sets a color on the terminal's background: a number of the 256-color palette, or of the 8 colors
 * that every color terminal has. */
static void set_color(enum style style, int of_256, int of_8, attr_t attributes)
{
    init_pair((short)(style + 1), (short)(COLORS >= 256 ? of_256 : of_8), -1);
    styles[style] = COLOR_PAIR(style + 1) | attributes;
}

static short tile_color(int color)
{
    return color == SCREEN_TILE_COLORS ? -1 : COLORS >= 256 ? tiles[color].of_256 : tiles[color].of_8;
}

static void set_styles(void)
{
    const char *no_color = getenv("NO_COLOR");
    for (int style = 0; style < STYLES; style++)
        styles[style] = style < STYLE_HEAT ? monochrome[style] : heats[style - STYLE_HEAT].without_colors;
    if ((no_color && *no_color) || !has_colors() || start_color() == ERR ||
        use_default_colors() == ERR)
        return;
    set_color(STYLE_WARNING, 208, COLOR_RED, A_BOLD);
    set_color(STYLE_MATCH, 220, COLOR_YELLOW, A_REVERSE);
    set_color(STYLE_COMMENT, 245, COLOR_WHITE, A_DIM);
    set_color(STYLE_STRING, 108, COLOR_GREEN, A_NORMAL);
    set_color(STYLE_NUMBER, 139, COLOR_MAGENTA, A_NORMAL);
    set_color(STYLE_KEYWORD, 110, COLOR_CYAN, A_NORMAL);
    set_color(STYLE_DIRECTIVE, 174, COLOR_MAGENTA, A_NORMAL);
    for (int i = 0; i < STYLES - STYLE_HEAT; i++)
        set_color(STYLE_HEAT + i, heats[i].of_256, heats[i].of_8, heats[i].attributes);
    has_tiles = COLOR_PAIRS >= TILE_PAIRS;
    for (int around = 0; around <= SCREEN_TILE_COLORS && has_tiles; around++)
        for (int color = 0; color <= SCREEN_TILE_COLORS; color++)
            init_pair(TILE_PAIR(color, around), tile_color(color), tile_color(around));
}

/* Asks for the size again: ncurses misses changes between asking for it and listening to changes. */
static void check_size(void)
{
    struct winsize size;
    bool is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col;
    if (is_known && (size.ws_row != screen_height() || size.ws_col != screen_width()))
        resizeterm(size.ws_row, size.ws_col);
}

/* The window's size changes by the signal SIGWINCH. ncurses asks for the size when it gets the signal, and does nothing
 * if it knows that size. But a window that shrank and grew again has lost what stood outside of the smaller one. So the
 * screen is redrawn after every signal. */
static volatile sig_atomic_t window_has_changed;
static struct sigaction of_ncurses;

static void on_window_change(int signal)
{
    window_has_changed = 1;
    if (of_ncurses.sa_handler != SIG_DFL && of_ncurses.sa_handler != SIG_IGN)
        of_ncurses.sa_handler(signal);
}

const char *screen_start(bool with_mouse)
{
    if (!isatty(STDOUT_FILENO))
        return "standard output is not a terminal; --print VIEW prints";
    if (!isatty(STDIN_FILENO))
        return "standard input is not a terminal; --print VIEW prints";
    set_escdelay(ESCAPE_DELAY);
    terminal = newterm(NULL, stdout, stdin);
    if (!terminal)
        return "the type of this terminal (TERM) is not known; --print VIEW prints";
    if (!tigetstr("cup") || tigetstr("cup") == (char *)-1) {
        screen_stop();
        return "this terminal (TERM) cannot place text; --print VIEW prints";
    }
    cbreak();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    curs_set(0);
    /* ^C is an ordinary key, which stops what the user is doing instead of ending the viewer. */
    struct termios modes;
    if (tcgetattr(STDIN_FILENO, &modes) == 0) {
        modes.c_cc[VINTR] = _POSIX_VDISABLE;
        tcsetattr(STDIN_FILENO, TCSADRAIN, &modes);
        def_prog_mode();
    }
    struct sigaction action = {.sa_handler = on_window_change};
    sigaction(SIGWINCH, &action, &of_ncurses);
    if (with_mouse) { /* clicks when the button goes down, without waiting for a double click */
        mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
        mouseinterval(0);
    }
    check_size();
    set_styles();
    return NULL;
}

void screen_stop(void)
{
    endwin();
    delscreen(terminal);
}

void screen_suspend(void)
{
    def_prog_mode();
    endwin();
}

void screen_resume(void)
{
    reset_prog_mode();
    check_size();
    screen_redraw();
}

int screen_width(void)
{
    return getmaxx(stdscr);
}

int screen_height(void)
{
    return getmaxy(stdscr);
}

void screen_begin(void)
{
    erase();
}

void screen_end(void)
{
    refresh();
}

void screen_redraw(void)
{
    clearok(stdscr, TRUE);
}

/* Clips a run of cells to the screen; false if nothing remains. */
static bool clip(int line, int column, int *width)
{
    if (line < 0 || line >= screen_height() || column < 0 || column >= screen_width())
        return false;
    if (*width > screen_width() - column)
        *width = screen_width() - column;
    return *width > 0;
}

int screen_put(int line, int column, int width, enum style style, const char *text)
{
    if (!clip(line, column, &width))
        return 0;
    autofree struct text cut = {0};
    text_add(&cut, text);
    text_cut(&cut, (size_t)width);
    int used = (int)text_columns(text_string(&cut));
    attrset(styles[style]);
    mvaddstr(line, column, text_string(&cut));
    attrset(A_NORMAL);
    return used;
}

void screen_put_tile(int line, int column, unsigned color, unsigned around, bool is_reversed, const char *text)
{
    int width = 1;
    if (!clip(line, column, &width))
        return;
    attrset((has_tiles ? (attr_t)COLOR_PAIR(TILE_PAIR(color, around)) : 0) | (is_reversed ? A_REVERSE : 0));
    mvaddstr(line, column, text);
    attrset(A_NORMAL);
}

bool screen_has_colors(void)
{
    return has_tiles;
}

void screen_mark(int line, int column, int width, enum style style, const char *text, size_t start, size_t end)
{
    autofree struct text before = {0}, marked = {0};
    text_add_bytes(&before, text, start);
    text_add_bytes(&marked, text + start, end - start);
    int at = (int)text_columns(text_string(&before));
    screen_put(line, column + at, width - at, style, text_string(&marked));
}

void screen_fill(int line, int column, int width, enum style style)
{
    if (clip(line, column, &width))
        mvhline(line, column, ' ' | styles[style], width);
}

void screen_rule(int line, int column, int width)
{
    if (clip(line, column, &width))
        mvhline(line, column, ACS_HLINE, width);
}

enum style screen_heat(double share)
{
    int i = STYLES - STYLE_HEAT - 1;
    while (i > 0 && share < heats[i].share)
        i--;
    return STYLE_HEAT + i;
}

/* Reads the rest of a UTF-8 character, which follows at once or not at all. Not with get_wch of ncurses: it
 * loses keys after an invalid byte. */
static int rest_of_character(int first)
{
    char bytes[5] = {(char)first};
    uint32_t code;
    size_t n = 1;
    timeout(ESCAPE_DELAY);
    while (utf8_decode(bytes, &code) && code == UTF8_INVALID && n < 4) {
        int next = getch();
        if (next < 0x80 || next > 0xbf) {
            if (next != ERR)
                ungetch(next);
            break;
        }
        bytes[n++] = (char)next;
    }
    timeout(-1);
    return code == UTF8_INVALID ? KEY_NOTHING : (int)code;
}

/* Events of the mouse that were reported together, the newest first. ncurses keeps 8, and returns
 * KEY_MOUSE once for all that have arrived. Half of them are for buttons that are let go. */
static MEVENT mouse_events[8];
static unsigned mouse_events_left;

struct mouse screen_mouse(void)
{
    return mouse;
}

/* A key that is there; ERR: none. */
static int key_now(void)
{
    timeout(0);
    int key = getch();
    timeout(-1);
    return key;
}

/* Waits for a key; ERR if the wait was interrupted, or fails for ever. */
static int wait_for_key(void)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    sigset_t change, before;
    int key = key_now();
    if (key != ERR)
        return key;
    /* The signal is blocked between the look and the wait, so that none is missed there. Not longer: ncurses reads the
     * rest of a mouse event without a time limit, and only a signal interrupts it. */
    sigemptyset(&change);
    sigaddset(&change, SIGWINCH);
    sigprocmask(SIG_BLOCK, &change, &before);
    if (!window_has_changed)
        ppoll(&input, 1, NULL, &before);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (!window_has_changed)
        return key_now();
    window_has_changed = 0;
    check_size();
    screen_redraw();
    return KEY_RESIZE;
}

int screen_key(void)
{
    static unsigned failures; /* in succession */
    int key = mouse_events_left > 0 ? KEY_MOUSE : wait_for_key();
    if (key == ERR) {
        struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
        bool is_gone = poll(&input, 1, 0) > 0 && (input.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
        return is_gone || ++failures > MOST_FAILURES ? KEY_GONE : KEY_NOTHING;
    }
    failures = 0;
    mouse = (struct mouse){-1, -1};
    if (key == KEY_MOUSE && mouse_events_left == 0)
        while (mouse_events_left < sizeof mouse_events / sizeof *mouse_events &&
               getmouse(&mouse_events[mouse_events_left]) == OK)
            mouse_events_left++;
    if (key == KEY_MOUSE) { /* the oldest event */
        MEVENT none = {0}, *event = mouse_events_left ? &mouse_events[--mouse_events_left] : &none;
        if (!(event->bstate & (BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED)))
            return KEY_NOTHING;
        mouse = (struct mouse){event->y, event->x};
        key = event->bstate & BUTTON4_PRESSED ? KEY_SR : event->bstate & BUTTON5_PRESSED ? KEY_SF : KEY_MOUSE;
    }
    if (key >= KEY_MIN)
        return SPECIAL(key);
    return key < 0x80 ? key : rest_of_character(key);
}

bool screen_key_is_resize(int key)
{
    return key == SPECIAL(KEY_RESIZE);
}

bool screen_key_pressed(void)
{
    int key = key_now();
    if (key != ERR)
        ungetch(key);
    return key != ERR;
}

bool screen_escape_pressed(void)
{
    int key = key_now();
    if (key != ERR && key != KEY_ESCAPE && key != CONTROL('c'))
        ungetch(key);
    return key == KEY_ESCAPE || key == CONTROL('c');
}

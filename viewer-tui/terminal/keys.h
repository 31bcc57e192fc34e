/* The keys of the terminal viewer, in one table: their commands and the lines of the help screen. */
#ifndef VIEWER_KEYS_H
#define VIEWER_KEYS_H

#include <stdbool.h>
#include <stddef.h>

enum command {
    COMMAND_NONE,
    COMMAND_UP,
    COMMAND_DOWN,
    COMMAND_PAGE_UP,
    COMMAND_PAGE_DOWN,
    COMMAND_HALF_UP,
    COMMAND_HALF_DOWN,
    COMMAND_FIRST,
    COMMAND_LAST,
    COMMAND_RIGHT,
    COMMAND_LEFT,
    COMMAND_TOGGLE,
    COMMAND_EXPAND,
    COMMAND_COLLAPSE,
    COMMAND_PARENT,
    COMMAND_EXPAND_ALL,
    COMMAND_COLLAPSE_ALL,
    COMMAND_HOT_PATH,
    COMMAND_HOT_SHARE,
    COMMAND_ZOOM_IN,
    COMMAND_ZOOM_OUT,
    COMMAND_FLATTEN,
    COMMAND_UNFLATTEN,
    COMMAND_BACK,
    COMMAND_FORWARD,
    COMMAND_SAME_SCOPE,
    COMMAND_ONLY,
    COMMAND_HIDE,
    COMMAND_FOLD,
    COMMAND_SHARE,
    COMMAND_LIST_FILTERS,
    COMMAND_UNDO,
    COMMAND_REDO,
    COMMAND_TOP_DOWN,
    COMMAND_BOTTOM_UP,
    COMMAND_FLAT,
    COMMAND_THREADS,
    COMMAND_RESTRICT,
    COMMAND_PROGRAM,
    COMMAND_FOLD_INLINED,
    COMMAND_FOLD_RECURSION,
    COMMAND_SUMMARY,
    COMMAND_NEXT_VIEW,
    COMMAND_PREVIOUS_VIEW,
    COMMAND_PROJECTION,
    COMMAND_SORT_RIGHT,
    COMMAND_SORT_LEFT,
    COMMAND_REVERSE,
    COMMAND_KINDS,
    COMMAND_DEFINE,
    COMMAND_INSPECT,
    COMMAND_COLUMNS,
    COMMAND_COLUMNS_RIGHT,
    COMMAND_COLUMNS_LEFT,
    COMMAND_BARS,
    COMMAND_FIND,
    COMMAND_FIND_NEXT,
    COMMAND_FIND_PREVIOUS,
    COMMAND_END_FINDING,
    COMMAND_SOURCE,
    COMMAND_CALL_SITE,
    COMMAND_OWN_CALL,
    COMMAND_SOURCE_UP,
    COMMAND_SOURCE_DOWN,
    COMMAND_SOURCE_RIGHT,
    COMMAND_SOURCE_LEFT,
    COMMAND_EDIT,
    COMMAND_DISASSEMBLE,
    COMMAND_CLICK,
    COMMAND_ROLL_UP,
    COMMAND_ROLL_DOWN,
    COMMAND_ADVICE,
    COMMAND_WRITE,
    COMMAND_COPY_LINE,
    COMMAND_COPY_PATH,
    COMMAND_REDRAW,
    COMMAND_HELP,
    COMMAND_QUIT
};

/* The command of a key (screen_key); COMMAND_NONE: none. */
enum command keys_command(int key);

/* Whether a command opens a view or a page: its key works on every page. */
bool command_opens_page(enum command command);

/* Number of rows by which a command moves down in a list of n rows, of which `page` are on the screen;
 * negative: up; 0: it is no move. */
long command_rows(enum command command, long page, long n);

/* A line of the help screen: keys and their meaning; keys is NULL in a heading. */
struct key_help {
    const char *keys, *what;
};

/* All lines of the help screen, in order. */
const struct key_help *keys_help(size_t *n);

#endif

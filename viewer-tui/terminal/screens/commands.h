/* The commands of the terminal viewer: a table for each family, which binds keys, makes the help screen and the
 * manual's list of keys, and says what a key does. To add one: an entry in its family, and a function. */
#ifndef VIEWER_COMMANDS_H
#define VIEWER_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>

struct tui;

enum command_flag {
    JUMP = 1, /* leads to another row or view, from which the user can go back */
    PAGE = 2, /* shows a view or a page: its key works on every page */
    MOVE = 4, /* the source pane is scrolled back to its initial position */
};

struct command {
    const char *keys; /* "Up, k, ^P"; words of the mouse */
    const char *help;
    void (*obey)(struct tui *tui); /* as tui->command; messages for the user go to tui->message */
    int argument;
    unsigned flags;
};

struct family {
    const char *heading;
    const struct command *commands; /* ends with one without keys */
};

#define COMMANDS(...) (const struct command[]){__VA_ARGS__, {0}}

extern const struct family moving_family, opening_family, place_family, filter_family, view_family, sorting_family,
    metric_family, finding_family, source_family, export_family, mouse_family, other_family, thread_family, time_family;

/* All families in the order of the help screen; NULL follows the last. */
extern const struct family *const command_families[];

/* Whether its keys are for one page only, where they come first. */
bool family_is_of_page(const struct family *family);

/* The command of a key (screen_key) in the other families; NULL: none. */
const struct command *command_of_key(int key);

/* The command of a key in a family; NULL: none. */
const struct command *command_in_family(const struct family *family, int key);

/* ---- commands that lists and pages obey, too ---- */

enum move { ROW_UP, ROW_DOWN, PAGE_UP, PAGE_DOWN, HALF_UP, HALF_DOWN, FIRST_ROW, LAST_ROW };

void tui_move(struct tui *tui);
void tui_roll(struct tui *tui); /* the wheel of the mouse */
void tui_toggle(struct tui *tui); /* Enter: chooses, or closes a page */
void tui_quit(struct tui *tui);
void tui_help(struct tui *tui);
void tui_redraw(struct tui *tui);

/* Rows by which a move goes down in a list of n rows, `page` of which are on the screen; negative: up. */
long move_rows(enum move move, long page, long n);

/* Whether the key's command does this. */
bool key_is_of(int key, void (*obey)(struct tui *tui));

/* Whether a key moves in a list, and by how many rows. */
bool key_is_move(int key, long page, long n, long *rows);

#endif

/* The state of the terminal viewer, and the steps that several families of commands share. commands.h has the commands,
 * main-screen.h draws the tree and the source, list.h lists and pages that cover them. */
#ifndef VIEWER_TUI_H
#define VIEWER_TUI_H

#include "viewer-tui/compare/session.h"
#include "viewer-tui/db/source-text.h"
#include "viewer-tui/output/printed-pages.h"
#include "viewer-tui/table/row-line.h"
#include "viewer-tui/table/column-choice.h"
#include "viewer-tui/terminal/pane.h"
#include "viewer-tui/terminal/prompt.h"
#include "viewer-tui/terminal/screens/commands.h"
#include "viewer-tui/tree/line-costs.h"
#include "viewer-tui/tree/row-path.h"

/* The parts of the main screen, from top to bottom (main-screen.c). */
enum part {
    PART_RUN,    /* what ran, and how long */
    PART_TITLE,  /* the views */
    PART_ADVICE, /* its first line */
    PART_HEADS,
    PART_ZOOM,
    PART_TREE,
    PART_SOURCE, /* below the tree, or on its right */
    PART_FILTERS,
    PART_STATUS,
    PART_HELP,
    PARTS
};

/* Distance of the source pane from its initial position. */
struct source_scroll {
    long lines, columns;
    bool at_call;    /* the call of the selected row is shown, until the user moves */
    bool at_hottest; /* the most expensive line of the selected procedure is shown, likewise */
};

/* What the source pane shows. */
struct shown_source {
    const struct view *view; /* of one database, which the file and line belong to */
    uint32_t file, line;
    bool is_call;                /* the line calls the selected row */
    const struct source *source; /* NULL until something was shown */
    line_costs costs;     /* of the file's lines */
    uint32_t first;              /* line at the top of the pane */
    struct text missing;         /* why there is no source, and what to do about it */
};

/* The state before a search that goes on while the user types. */
struct typed_search {
    struct pane_state from;
    struct pattern *before; /* the search before; NULL: none */
    bool showed_matches;
    enum outcome outcome; /* of the search for what has been typed so far */
};

/* A place in the views that the user visited, to go back and forward. */
struct place {
    enum projection projection;
    enum view_id view;
    struct path path; /* of the selected row */
    size_t zoomed;    /* number of its steps that lead to the row that is zoomed into */
};

typedef VEC(struct place) place_stack;

/* The nearest ones are the last. Empty if zeroed. */
struct places {
    place_stack back, forward;
};

/* What the time view shows; zeroed: the whole run. */
struct time_view_place {
    uint64_t begin, end;
    uint32_t depth;
};

struct tui {
    struct session *session;
    enum projection projection;
    enum view_id id;
    struct pane panes[PROJECTIONS][VIEWS]; /* view is NULL until the pane is shown */
    struct sources sources;                /* of all open databases */
    struct column_choice columns[PROJECTIONS];
    const char *kept_columns; /* the user's saved columns (column-choice.h); NULL: none */
    bool took_columns[PROJECTIONS];
    struct cell_style cells;
    bool ascii; /* the locale's encoding is not UTF-8 */
    bool shows_source;
    bool shows_call_site; /* the source pane shows where the row is called, not where it is declared */
    struct source_scroll source_scroll;
    struct filters *filters;
    struct places places;
    double hot_share;       /* smallest share of its parent's cost, 0..1, of a child on a hot path */
    struct pattern *wanted; /* last search; NULL */
    bool shows_matches;     /* matches of the last search are highlighted */
    struct typed_search finding;
    const struct command *command;       /* command being carried out */
    const struct command *next;          /* command to be carried out next; NULL: that of the next key */
    const struct command *restricted_by; /* the command by which the user chose the threads in view; NULL */
    struct prompt prompt;                /* the last question */
    struct history answers;
    struct text message; /* for the status line, until the next key */
    bool has_said_problem;
    bool has_quit;
    const struct command *ranged_by;     /* the same for the piece of time */
    struct time_page *time_page;         /* the time view while it is shown; NULL */
    struct thread_screen *thread_page;   /* the same of the page of threads */
    struct time_view_place time_place;        /* what it showed last */
    struct text headline;              /* first line of the advice, or "" */
    bool has_headline, knows_headline; /* has: there is a line for it; knows: it was looked for */
    struct area areas[PARTS];          /* found by tui_show, as the following; height 0: not shown */
    struct columns shown_columns;
    struct shown_source source;
};

/* The pane on the screen. */
#define tui_pane(tui) (&(tui)->panes[(tui)->projection][(tui)->id])

/* Adds to the message for the user, as text_say. */
#define tui_say(tui, ...) text_say(&(tui)->message, (tui)->ascii, __VA_ARGS__)

/* Says that a key of the keyboard has no use here. */
void tui_say_unknown(struct tui *tui, int key);

/* ---- questions in the status line ---- */

/* Asks for a line of text, initially `initial`. `changed` (may be NULL) is called after each change with `tui`. NULL if
 * the user gave up; the answer is valid until the next question. */
const char *tui_ask(struct tui *tui, const char *question, const char *initial,
                    void (*changed)(void *tui, const char *text));

/* Asks for a number from 0 to 100, initially `initial` unless that is negative; `hint` explains 0. NAN: none. */
double tui_ask_percent(struct tui *tui, const char *question, double initial, const char *hint);

/* ---- pages ---- */

/* Shows a page of text that the command `opener` opened. */
void tui_show_text(struct tui *tui, const char *title, const char *text, const struct command *opener);

/* Shows a page as it is printed. */
void tui_report(struct tui *tui, enum printed page, const struct command *opener);

/* Lists and pages close with Esc, q or the key that opened them. Keys of views and of other pages work on every page:
 * it closes, and the command is carried out (tui->next). ? opens the help on top. Whether a key that is no move closes
 * the list that the command being carried out opened. */
bool tui_closes(struct tui *tui, int key);

/* Shows a message in the status line at once, before something that takes a while. */
void tui_announce(const char *what);

/* Shows the progress of a pass; a progress_listener. */
bool tui_tell_progress(const char *what, int percent);

/* Costs of the selected row in each thread; of a comparison, in those of one run. Returns the threads that the user
 * chose to restrict the views to, owned by the caller; NULL: none. */
struct thread_set *tui_threads(struct tui *tui);

/* The time view; of the selected row's time alone if the command's argument says so. */
void tui_show_time(struct tui *tui);

void tui_switch(struct tui *tui);      /* what is on or off: the bool at the offset that is the command's argument */
void tui_inspect(struct tui *tui);     /* all values of the selected row */
void tui_disassemble(struct tui *tui); /* the instructions around the selected row */

/* ---- views ---- */

/* Shows a view, making it if needed. Nothing changes if that fails. */
void tui_show_view(struct tui *tui, enum projection projection, enum view_id id);

void tui_close_panes(struct tui *tui);

/* Whether one database is open. If several are compared, says that `what` needs one; of losses alone with
 * `or_comparison`. */
bool tui_is_of_one_run(struct tui *tui, const char *what, bool or_comparison);

/* If the user has chosen threads or a program in the viewer: shows all of them again, and the page on
 * which the user chose; else false. */
bool tui_leave_restriction(struct tui *tui);

/* Carries out a command; if it leads to another row or view, the user can go back from there. */
void tui_obey(struct tui *tui, const struct command *command);

void tui_forget_places(struct tui *tui);

/* Selects a row, and says if filters hide it. */
void tui_select(struct tui *tui, uint32_t row);

/* Opens the hot path below the selected row to where it branches, and selects the last row on it that
 * has a line of the program's own source, if any. Returns the last row on it. */
uint32_t tui_follow_hot_path(struct tui *tui);

/* Restricts all values to a piece of time (NULL: the whole run), of which the command being carried out is the page;
 * false if the user stopped it. */
struct time_range;
bool tui_restrict_time(struct tui *tui, const struct time_range *range);

/* Applies the filters in force to the pane. */
void tui_apply_filters(struct tui *tui);

/* ---- columns ---- */

/* Sorts by a column or by name; in reverse if rows are sorted by it already. */
void tui_sort_by_column(struct tui *tui, struct sorting sorting);

/* Chooses the saved columns once the metrics of a projection are known. */
void tui_take_kept_columns(struct tui *tui, enum projection projection, const struct view *view);

#endif

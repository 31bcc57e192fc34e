/* The terminal viewer.
 *
 * keys.h says which command a key is; each family of commands has a file that obeys them
 * (tui_obey_...): add a command to keys.h and to its family. Other files draw the parts of the
 * screen, ask, or show pages and lists in place of it. pane.h and keys.h know nothing of the
 * screen. */
#ifndef VIEWER_TUI_H
#define VIEWER_TUI_H

#include "viewer-tui/base/text.h"
#include "viewer-tui/output/cell.h"
#include "viewer-tui/output/column-choice.h"
#include "viewer-tui/output/print.h"
#include "viewer-tui/compare/session.h"
#include "viewer-tui/terminal/history.h"
#include "viewer-tui/terminal/keys.h"
#include "viewer-tui/terminal/line-edit.h"
#include "viewer-tui/terminal/pane.h"
#include "viewer-tui/terminal/places.h"
#include "viewer-tui/db/source-text.h"
#include "viewer-tui/terminal/spots.h"

/* How far the source is scrolled away from where a row's line is seen from its beginning. */
struct source_scroll {
    long lines, columns;
};

struct tui {
    struct session *session;
    enum projection projection;
    enum view_id id;
    struct pane panes[PROJECTIONS][VIEWS];      /* view is NULL until it is shown */
    struct sources sources[PROJECTIONS][SIDES]; /* of each database that is shown */
    struct column_choice columns[PROJECTIONS];
    const char *kept_columns; /* from the last time (column-text.h); NULL: none */
    bool took_columns[PROJECTIONS];
    struct cell_style cells;
    bool ascii;
    bool shows_source;
    bool shows_call_site; /* of a row the place where it is called, not where it is declared */
    struct source_scroll source_scroll;
    struct filters *filters;
    struct places places;
    double hot_share;        /* of the cost, that makes a path hot: 0..1 */
    struct pattern *wanted;  /* what was searched for last; NULL */
    bool shows_matches;      /* with it on the screen */
    struct finding *finding; /* while the user is typing what to find (tui-find.c) */
    enum command command;    /* that is being obeyed */
    struct line_edit asked;  /* what the user is typing */
    struct history answers;  /* what the user typed before */
    const char *prompt;      /* what for; NULL when nothing is asked */
    struct text message;     /* for the user, until the next key */
    bool has_said_problem;
    int tree_height; /* rows of the tree on the screen */
    spots spots;     /* of the screen as it was drawn last */
};

static inline struct pane *tui_pane(struct tui *tui)
{
    return &tui->panes[tui->projection][tui->id];
}

/* The families of commands. True if the command is one of theirs: then it is done, and what is to
 * be said of it is in tui->message. */
bool tui_obey_moves(struct tui *tui, enum command command);
bool tui_obey_views(struct tui *tui, enum command command);
bool tui_obey_metrics(struct tui *tui, enum command command);
bool tui_obey_finding(struct tui *tui, enum command command);
bool tui_obey_filters(struct tui *tui, enum command command);
bool tui_obey_places(struct tui *tui, enum command command);
bool tui_obey_source(struct tui *tui, enum command command);
bool tui_obey_output(struct tui *tui, enum command command);
bool tui_obey_threads(struct tui *tui, enum command command);
bool tui_obey_mouse(struct tui *tui, enum command command);

/* tui-views.c: shows a view of a projection, which is made if need be; stays where it is when that
 * fails. */
void tui_show_view(struct tui *tui, enum projection projection, enum view_id id);

/* tui-views.c: whether one run is shown; otherwise tells the user that `what` is only for one. */
bool tui_is_of_one_run(struct tui *tui, const char *what);

/* tui-views.c: makes the current view anew and sorts it so; if the user stops that, top-down. */
void tui_reopen(struct tui *tui, struct sorting sorting);

/* tui-metrics.c: sorts by a column or the name, in reverse if it is sorted by that already. */
void tui_sort_by_column(struct tui *tui, struct sorting sorting);

/* tui-places.c: lets a command be obeyed; if it leads to another place, one can go back. */
void tui_obey_and_remember(struct tui *tui, enum command command,
                           void (*obey)(struct tui *tui, enum command command));

/* tui-same.c: asks in which view, and goes there. */
void tui_same_scope(struct tui *tui);
/* tui-columns.c: lets the user choose columns; scrolls so that what is sorted by can be seen, where
 * the user did. */
void tui_choose_columns(struct tui *tui);
void tui_scroll_to_sorted(struct tui *tui);

/* tui-keep.c: chooses the columns that were kept, once the metrics of a projection are known; keeps
 * those that are chosen now, with the units and bars. */
void tui_take_kept_columns(struct tui *tui, enum projection projection);
void tui_keep_columns(struct tui *tui);

/* tui-inspect.c: all that is known of the selected row. */
void tui_inspect(struct tui *tui);

/* tui-filter.c: makes the pane show what the filters in force leave. */
void tui_apply_filters(struct tui *tui);

/* tui-match.c: marks what matches in text that `area` shows; the text before byte `from` is not
 * looked at. */
void tui_draw_match(const struct tui *tui, struct area area, const char *text, size_t from);

/* tui-ask.c: asks for a line of text in the status line, which begins with `initial`; `changed`
 * (NULL: nobody) hears of every change. The answer is valid until the next question; NULL when the
 * user gave it up with Escape. */
const char *tui_ask(struct tui *tui, const char *prompt, const char *initial,
                    void (*changed)(struct tui *tui, const char *text));

/* tui-ask.c: asks for one key. */
int tui_ask_key(struct tui *tui, const char *prompt);

/* tui-frame.c: the whole screen; a line for the user at once, before what takes a while. */
void tui_draw(struct tui *tui);
void tui_announce(const char *what);

/* tui-edited.c: what is being typed, with its cursor, which stays on the screen; the columns that
 * are used. */
int tui_draw_edited(const struct line_edit *edited, struct area area);

/* tui-frame.c: adds the path to a row, long names in short, as much of its end as fits. */
void tui_add_path(struct tui *tui, uint32_t row, struct text *out, size_t width);
/* Says how far a pass is; a progress_listener. */
bool tui_tell_progress(const char *what, int percent);

/* tui-heads.c: the columns on a screen of that width, for the caller to free; their heads (2
 * lines). tui-tree.c: the rows. */
struct columns tui_columns(struct tui *tui, int width);
void tui_draw_heads(struct tui *tui, struct area area);
void tui_draw_tree(struct tui *tui, struct area area);

/* tui-source.c: the source of the selected row, with a title line above. */
void tui_draw_source(struct tui *tui, struct area area);

/* tui-own-source.c: top-down, where the selected row has no source of the program's own: the nearest
 * row from there upwards whose call is a line that has, else NOTHING. Says which line that is, and
 * goes there. */
uint32_t tui_nearest_own_call(struct tui *tui);
void tui_add_own_call(struct tui *tui, struct text *out);
void tui_go_to_own_call(struct tui *tui);

/* tui-tag.c: what is to be said where the path of a source file is a tag of overhead, with a title
 * line; false, with nothing drawn, where it is none. */
bool tui_draw_tag(const struct tui *tui, struct area area, const char *path);

/* tui-words.c: text, broken into lines, as much as there is room for. */
void tui_draw_words(struct area area, const char *words);

/* tui-page.c: text that fills the screen, until the user has seen it. Lines that are too long are
 * broken; those at the margin with indented ones below are heads. */
void tui_draw_page_frame(const char *title, const char *help); /* the first and the last line */
void tui_show_text(const char *title, const char *text);

/* tui-list.c: a list that fills the screen, of which one line is selected. */
struct list {
    const char *title;
    const char *help; /* the keys, for the last line of the screen */
    const char *none; /* what stands there when the list is empty; NULL */
    size_t n_heads;   /* lines above the list that do not move */
    void (*head)(const void *context, size_t index, struct text *out); /* what they say */
    size_t n;
    void (*line)(const void *context, size_t index, struct text *out); /* what the line says */
    const void *context;
    size_t selected, top; /* 0 at first; kept from call to call */
};
/* Lets the user move in the list; returns the key that is no move. */
int tui_list(struct list *list);
/* Whether a key means that the user has seen enough of a list. */
bool tui_key_leaves(int key);

/* tui-threads.c: what the selected row costs in each thread; the threads that the user wants to see
 * alone from then on, NULL for none. The caller takes them over. */
struct thread_set *tui_threads(struct tui *tui);

/* tui-both-threads.c: the same of two runs, to be looked at. */
void tui_both_threads(struct tui *tui);

/* tui-help.c, tui-advice.c: the help screen; advice on the selected row. */
void tui_help(struct tui *tui);
void tui_advice(struct tui *tui);

/* tui-report.c: what a printer prints, to be scrolled. */
void tui_report(struct tui *tui, const char *title,
                int (*print)(struct session *session, const struct print_options *options,
                             FILE *out));

#endif

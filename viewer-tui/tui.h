/* The terminal viewer.
 *
 * tui.c does what the user wants; tui-frame.c, tui-tree.c, tui-source.c, tui-page.c, tui-help.c and
 * tui-advice.c draw; pane.h, search.h and keys.h know nothing of the screen. */
#ifndef VIEWER_TUI_H
#define VIEWER_TUI_H

#include "viewer-tui/pane.h"
#include "viewer-tui/print.h"
#include "viewer-tui/session.h"
#include "viewer-tui/source.h"
#include "viewer-tui/text.h"

/* Cells of the screen. */
struct area {
    int line, column, height, width;
};

struct tui {
    struct session *session;
    enum projection projection;
    enum view_id id;
    struct pane panes[PROJECTIONS][VIEWS]; /* view is NULL until it is shown */
    struct sources sources[PROJECTIONS];
    bool ascii;
    bool shows_source;
    bool shows_call_site; /* of a row the place where it is called, not where it is declared */
    long source_scroll;   /* lines that the source is scrolled away from the row's line */
    char *wanted;         /* what was searched for last; NULL */
    struct text asked;    /* what the user is typing to be searched for */
    bool is_asking;
    struct text message; /* for the user, until the next key */
    bool has_said_problem;
    int tree_height; /* rows of the tree on the screen */
};

/* Shows the session's database until the user quits. The exit status; what goes wrong before
 * anything can be shown is reported. `sort` is that of the command line, or NULL. */
int tui_run(struct session *session, enum projection projection, const char *sort);

static inline struct pane *tui_pane(struct tui *tui)
{
    return &tui->panes[tui->projection][tui->id];
}

/* tui-frame.c: the whole screen; a line for the user at once, before what takes a while. */
void tui_draw(struct tui *tui);
void tui_announce(const char *what);

/* tui-tree.c: the column heads (2 lines) and the rows. */
void tui_draw_heads(struct tui *tui, struct area area);
void tui_draw_tree(struct tui *tui, struct area area);

/* tui-source.c: the source of the selected row, with a title line above. */
void tui_draw_source(struct tui *tui, struct area area);

/* tui-page.c: lines that fill the screen, until the user has seen them. `draw` draws those from
 * `first` on into the lines of the screen between the first and the last, and returns how many
 * there are. */
void tui_page(const char *title, int (*draw)(const void *context, int first), const void *context);

/* tui-help.c, tui-advice.c: the help screen; advice on the selected row. */
void tui_help(struct tui *tui);
void tui_advice(struct tui *tui);

/* tui-report.c: what a printer prints, to be scrolled. */
void tui_report(struct tui *tui, const char *title,
                int (*print)(struct session *session, const struct print_options *options,
                             FILE *out));

#endif

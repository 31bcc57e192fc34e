/* The state of the terminal viewer. keys.h maps keys to commands, commands.h lists the functions
 * that carry them out; main-screen.h draws the tree and the source, text-pages.h shows what covers
 * the screen. To add a page: a command and its key in keys.c, a function in text-pages.h. */
#ifndef VIEWER_TUI_H
#define VIEWER_TUI_H

#include "viewer-tui/compare/session.h"
#include "viewer-tui/db/source-text.h"
#include "viewer-tui/table/cell.h"
#include "viewer-tui/table/column-choice.h"
#include "viewer-tui/terminal/layout.h"
#include "viewer-tui/terminal/line-edit.h"
#include "viewer-tui/terminal/pane.h"
#include "viewer-tui/terminal/places.h"

struct tui {
    struct session *session;
    enum projection projection;
    enum view_id id;
    struct pane panes[PROJECTIONS][VIEWS]; /* view is NULL until the pane is shown */
    struct sources sources; /* of all open databases */
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
    double hot_share;        /* smallest share of its parent's cost, 0..1, of a child on a hot path */
    struct pattern *wanted;  /* last search; NULL */
    bool shows_matches;      /* matches of the last search are highlighted */
    struct finding *finding; /* search in progress while the user types (find-commands.c); NULL */
    enum command command;    /* command being carried out */
    enum command next;       /* command that closed a page and is to be carried out next */
    struct line_edit asked;  /* text being typed */
    struct history answers;
    const char *prompt;  /* question being asked; NULL: none */
    struct text message; /* for the status line, until the next key */
    bool has_said_problem;
    enum command restricted_by; /* the key by which the user chose the threads in view; COMMAND_NONE */
    struct text headline;       /* first line of the advice, or "" */
    bool has_headline, knows_headline; /* has: there is a line for it; knows: it was looked for */
    struct layout layout;              /* found by tui_show, as the following: */
    struct columns shown_columns;
    struct shown_source *source; /* NULL until the source is shown first (source-pane.h) */
};

static inline struct pane *tui_pane(struct tui *tui)
{
    return &tui->panes[tui->projection][tui->id];
}

static inline const struct pane *tui_drawn_pane(const struct tui *tui)
{
    return &tui->panes[tui->projection][tui->id];
}

#endif

/* The terminal viewer. */
#ifndef VIEWER_TERMINAL_H
#define VIEWER_TERMINAL_H

#include "viewer-tui/compare/session.h"
#include "viewer-tui/tree/filters.h"

/* Initial state of the viewer. */
struct terminal_options {
    enum projection projection;
    const char *sort; /* value of --sort; NULL: the view's default */
    bool has_mouse;
    bool starts_closed;  /* with the tree closed and without advice */
    const char *columns; /* initial columns (column-choice.h); NULL: those that fit */
    bool has_bars;
    struct filters *filters; /* initial filters, which the user can change */
};

/* Shows the session's database until the user quits. Returns the exit status. */
int terminal_run(struct session *session, const struct terminal_options *options);

#endif

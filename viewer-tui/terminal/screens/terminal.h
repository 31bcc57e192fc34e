/* The terminal viewer, for the program's main. */
#ifndef VIEWER_TERMINAL_H
#define VIEWER_TERMINAL_H

#include "viewer-tui/output/cell.h"
#include "viewer-tui/tree/filters.h"
#include "viewer-tui/compare/session.h"

/* What the viewer begins with. */
struct terminal_options {
    enum projection projection;
    const char *sort; /* as on the command line; NULL: the view's own */
    bool has_mouse;
    bool starts_closed; /* with the tree closed and without advice */
    const char *columns; /* column-choice.h; NULL: those that fit */
    enum cell_units units;
    bool has_bars;
    struct filters *filters; /* which the user goes on with */
};

/* Shows the session's database until the user quits. The exit status; what goes wrong before
 * anything can be shown is reported. */
int terminal_run(struct session *session, const struct terminal_options *options);

#endif

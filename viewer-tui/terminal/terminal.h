/* The terminal viewer, for the program's main. */
#ifndef VIEWER_TERMINAL_H
#define VIEWER_TERMINAL_H

#include "viewer-tui/session.h"

/* Shows the session's database until the user quits. The exit status; what goes wrong before
 * anything can be shown is reported. `sort` is that of the command line, or NULL. */
int terminal_run(struct session *session, enum projection projection, const char *sort,
                 bool with_mouse);

#endif

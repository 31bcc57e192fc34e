/* Sets of runs (lib/run-set.h): prints how they scale, or shows their page. */
#ifndef VIEWER_SHOW_SET_H
#define VIEWER_SHOW_SET_H

#include "viewer-tui/options.h"

/* Whether the options ask for a set. */
bool options_name_set(const struct options *options);

/* Prints the set that the options name. Returns the exit status. */
int print_set(const struct options *options, FILE *out);

/* Shows or prints a session, as the options say; returns the exit status. */
typedef int session_shower(struct session *session, struct options *options);

/* Shows or prints the losses of the set (compare/losses.h). Returns the exit status. */
int show_losses(struct options *options, session_shower *show);

/* Shows the page of the set in the terminal. Returns the exit status. */
int show_set(struct options *options, session_shower *show);

#endif

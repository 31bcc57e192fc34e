/* Sets of runs (lib/run-set.h): prints how they scale, or shows their page. */
#ifndef VIEWER_SHOW_SET_H
#define VIEWER_SHOW_SET_H

#include "viewer-tui/options.h"

/* Whether the options ask for a set. */
bool options_name_set(const struct options *options);

/* Prints the set that the options name. Returns the exit status. */
int print_set(const struct options *options, FILE *out);

/* Shows a database that a set's page opens; returns the exit status. */
typedef int database_shower(const char *database, struct options *options);

/* Shows the page of the set in the terminal. Returns the exit status. */
int show_set(struct options *options, database_shower *show_database);

#endif

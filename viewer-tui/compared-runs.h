/* The databases that the command line names. */
#ifndef VIEWER_COMPARED_RUNS_H
#define VIEWER_COMPARED_RUNS_H

#include "viewer-tui/options.h"

/* The database, or those to compare: with --compare all runs of the two lists, where a set stands for its runs that
 * ended with status 0. NULL, with the error reported, if that failed. */
struct session *open_databases(const struct options *options);

#endif

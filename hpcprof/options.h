/* The command line of hpcprof. */
#ifndef HPCPROF_OPTIONS_H
#define HPCPROF_OPTIONS_H

#include "hpcprof/metrics/statistics.h"

#include "lib/path.h"

struct options {
    unsigned workers;     /* number of threads to use */
    unsigned large;       /* megabytes, see hpcprof/modules/structure-finder.h */
    bool shared;          /* other users may read the database */
    bool collapses_recursion; /* (hpcprof/tree/recursive-calls.h) */
    const char *database; /* NULL: named after the measurement directory */
    statistic_set statistics;
    struct path_rules rules;
    char *const *directories;
    size_t directory_count; /* at least 1 */
};

/* Reads the command line. Ends the process with status 2 if it is wrong, and with status 0 after
 * --help and --version. */
void options_read(struct options *options, int argc, char **argv);

void options_free(struct options *options);

#endif

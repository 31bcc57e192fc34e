/* The command line of hpcprof. */
#ifndef HPCPROF_OPTIONS_H
#define HPCPROF_OPTIONS_H

#include "lib/path.h"

struct options {
    unsigned workers;
    bool shared;          /* others may read the database, too */
    const char *database; /* NULL: derived from the measurement directory's name */
    struct path_rules rules;
    char *const *directories;
    size_t directory_count; /* at least 1 */
};

/* Reads the command line; answers --help and --version, and ends the process then or when the
 * command line is wrong. */
void options_read(struct options *options, int argc, char **argv);

void options_free(struct options *options);

#endif

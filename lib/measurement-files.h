/* The measurement files of a directory. */
#ifndef LIB_MEASUREMENT_FILES_H
#define LIB_MEASUREMENT_FILES_H

#include "lib/alloc.h"

#include <stdbool.h>

struct measurement_files {
    VEC(char *) paths; /* sorted */
};

/* Lists the measurement files of a directory. False when it cannot be read; *cause is then a line
 * that says why and belongs to the caller. No files is no error. */
bool measurement_list(const char *directory, struct measurement_files *files, char **cause);

/* The same of the lists of processes (lib/process-list.h). */
bool measurement_list_processes(const char *directory, struct measurement_files *files,
                                char **cause);

void measurement_files_free(struct measurement_files *files);

#endif

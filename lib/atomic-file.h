/* A file that appears under its name only when it is complete, for the tools: it is written under a
 * temporary name in the same directory, then renamed. Concurrent writers of one name do not
 * disturb each other; the last one counts. What exists and is no regular file (a device, a pipe)
 * is written directly. */
#ifndef LIB_ATOMIC_FILE_H
#define LIB_ATOMIC_FILE_H

#include <stdbool.h>
#include <stdio.h>

struct atomic_file {
    FILE *out;       /* write here */
    char *path;      /* owned */
    char *temporary; /* owned; NULL when the file is written directly */
};

/* Begins a file. False when it cannot be created; *cause is then a line that says why and belongs
 * to the caller. */
bool atomic_file_begin(struct atomic_file *file, const char *path, char **cause);

/* Ends it and gives it its name. False, and *cause as above, when not all could be written; then
 * nothing is left of it. */
bool atomic_file_commit(struct atomic_file *file, char **cause);

/* Leaves no trace of it. */
void atomic_file_abandon(struct atomic_file *file);

#endif

/* The database's files, while they are written. Every name is taken relative to the descriptor of
 * the database's directory and is new, and no link is followed: whoever may write to the directory
 * above, or to a shared database, can't lead hpcprof to other files. */
#ifndef HPCPROF_OUTPUT_FILE_H
#define HPCPROF_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

/* The directory and its path, with which the paths below begin; kept, not copied. Paths that do not
 * begin so are taken as they are. Before there are threads. */
void output_root(int directory, const char *path);

/* Creates a file for reading and writing; -1 and errno when that can't be done. */
int output_create(const char *path);

/* The same as a stream; NULL and errno. */
FILE *output_stream(const char *path);

/* Opens a file that is there for reading; -1 and errno. */
int output_open(const char *path);

/* Makes a directory; false and errno. */
bool output_make_directory(const char *path);

/* Gives a file a second name; false and errno. */
bool output_link(const char *from, const char *to);

#endif

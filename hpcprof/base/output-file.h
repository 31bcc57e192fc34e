/* Creates and opens the files of the database while it is written. Names are resolved from the
 * descriptor of the database's directory, component by component, without following links, and
 * files are always new. So users who may write to the directory above, or to a shared database,
 * cannot make hpcprof write to other files. */
#ifndef HPCPROF_OUTPUT_FILE_H
#define HPCPROF_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

/* Sets the directory and its path (kept, not copied). Paths below that begin with it are resolved
 * from the directory; all others are used as they are. Call before there are threads. */
void output_root(int directory, const char *path);

/* Creates a file for reading and writing. Returns -1 and sets errno on failure. */
int output_create(const char *path);

/* Creates a file as a stream. Ends the process with a message on failure. */
FILE *output_stream(const char *path);

/* Closes a stream. Ends the process with a message if that fails, or if not everything was written.
 */
void output_stream_close(FILE *out, const char *path, bool is_written);

/* Opens an existing file for reading. Returns -1 and sets errno on failure. */
int output_open(const char *path);

/* Makes a directory. Returns false and sets errno on failure. */
bool output_make_directory(const char *path);

/* Makes a symbolic link to `target`. Returns false and sets errno on failure. */
bool output_symlink(const char *target, const char *path);

/* Gives a file a second name. Returns false and sets errno on failure. */
bool output_link(const char *from, const char *to);

#endif

/* Signal handler: everything here may be used there.
 *
 * The measurement file as a descriptor to append to, and the failures of doing so. */
#ifndef HPCRUN_RECORD_APPEND_FILE_H
#define HPCRUN_RECORD_APPEND_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Creates the file, which must not exist, in a directory (process/output-directory.h). Returns 0,
 * or a negative errno. */
int file_create(int directory, const char *name);

/* In the child of a fork that has no right to create a file: keeps its parent's. What it writes there
 * is wrapped in CHILD chunks, so that readers can tell it from its parent's data. file_create closes
 * it if it succeeds. */
void file_keep_parents(void);
bool file_is_parents(void);

/* Appends; false if not everything could be written. */
bool file_write(const void *data, size_t size);

/* Closes it; the second function keeps the descriptor for another file. */
void file_close(void);
void file_close_or_reserve(void);

/* Counts another failure of the measurement, with a negative errno. Returns false. */
bool file_failed(long error);

/* The number of failures, and the last error. */
uint64_t file_failures(long *error);
void file_forget_failures(void);

#endif

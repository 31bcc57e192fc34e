/* Signal handler: everything here may be used there.
 *
 * The file that is written to: its descriptor, and what could not be written. */
#ifndef HPCRUN_RECORD_APPEND_FILE_H
#define HPCRUN_RECORD_APPEND_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Creates the file, which must not be there, in a directory (process/output-directory.h): 0, or a
 * negative errno. */
int file_create(int directory, const char *name);

/* Appends; false when not everything could be written. */
bool file_write(const void *data, size_t size);

/* Closes it; the second keeps the descriptor for another file. */
void file_close(void);
void file_close_or_reserve(void);

/* Counts something else that failed. False. */
bool file_failed(long error);

/* How often something failed, and with which errno last. */
uint64_t file_failures(long *error);
void file_forget_failures(void);

#endif

/* Signal handler: everything here may be used there.
 *
 * The two text files of the measurement directory to which all processes append lines: the log, and
 * the list of this host's processes (lib/process-list.h).
 *
 * The list has the processes that could write nothing else. So some blocks of the disk are allocated
 * beyond its end, for the time when the disk is full. A process that is about to lose the right to
 * open the files keeps them open for itself and its forks; no program that it executes gets them. */
#ifndef HPCRUN_PROCESS_COMMON_FILES_H
#define HPCRUN_PROCESS_COMMON_FILES_H

#include <stddef.h>

enum common_file { COMMON_LOG, COMMON_LIST, COMMON_FILES };

/* Appends lines in one write. Returns 0, or a negative errno if not all could be written. Uses no
 * static memory but descriptors, so that the child of a vfork may call it. */
long common_file_append(enum common_file which, const char *lines, size_t size);

/* Normal context. Keeps both files open, if they can be opened. */
void common_files_keep(void);

/* Closes them. */
void common_files_release(void);

#endif

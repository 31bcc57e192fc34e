/* Signal handler: everything but measurement_init and measurement_await may be used there.
 *
 * The measurement file of this process image (doc/FORMAT-hpcrun.md): its name, its creation and its
 * end. */
#ifndef HPCRUN_RECORD_MEASUREMENT_FILE_H
#define HPCRUN_RECORD_MEASUREMENT_FILE_H

#include <stdbool.h>
#include <stdint.h>

/* Sets the file's name for a new process image; creates nothing yet. */
void measurement_init(void);

/* Creates the file if it does not exist yet, and writes the chunks that describe the process. The
 * file gets its final name only then, since a process may be killed at any instant. False if
 * another thread is creating it, or if that fails; a later call tries again. */
bool measurement_create(void);

/* Waits, at most `wait_ns`, while another thread is creating the file. */
void measurement_await(uint64_t wait_ns);

/* Whether the file is open. */
bool measurement_is_open(void);

/* Closes the file; no chunk is written after that. */
void measurement_close(void);

/* In the child of a fork: closes the parent's file; its descriptor may become the reserve. If the
 * process may have no right to create a file, it keeps the parent's for this case. */
void measurement_leave_to_parent(void);

/* The file's path, in static memory. */
const char *measurement_path(void);

#endif

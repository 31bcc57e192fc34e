/* Signal handler: everything but measurement_init and measurement_await may be used there.
 *
 * The measurement file of this process image (doc/FORMAT-hpcrun.md): its name, its creation and its
 * end. */
#ifndef HPCRUN_RECORD_MEASUREMENT_FILE_H
#define HPCRUN_RECORD_MEASUREMENT_FILE_H

#include <stdbool.h>
#include <stdint.h>

/* Names the file for a new process image; nothing is created yet. */
void measurement_init(void);

/* Creates the file if it does not exist yet and writes what is known of the process; it gets its
 * name when that is done, for a process may be killed at any instant. False when that is not
 * possible now: another thread is at it, or it fails; a later call tries again. */
bool measurement_create(void);

/* Waits, at most `wait_ns`, while another thread is creating the file. */
void measurement_await(uint64_t wait_ns);

/* Whether the file is open. */
bool measurement_is_open(void);

/* Closes the file; no chunk is written after that. */
void measurement_close(void);

/* In the child of a fork: the file is the parent's; its descriptor may serve the child's own. */
void measurement_leave_to_parent(void);

/* The file's path, valid for good. */
const char *measurement_path(void);

#endif

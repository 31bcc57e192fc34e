/* A line on the terminal that tells how far a long step has come, for the tools.
 *
 * It appears on stderr when that is a terminal and the tool has run for a second, and vanishes
 * when the step ends or a message is printed (lib/diag.h). One step at a time. */
#ifndef LIB_PROGRESS_H
#define LIB_PROGRESS_H

#include <stddef.h>

/* Begins a step of `total` units; ends the step before. The text is kept, not copied. */
void progress_begin(const char *what, size_t total);

/* `units` more are done. Thread-safe. */
void progress_add(size_t units);

/* Ends the step. */
void progress_end(void);

#endif

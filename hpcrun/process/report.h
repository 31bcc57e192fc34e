/* Signal handler: everything but report_init and report_after_fork may be used there.
 *
 * Lines in the measurement directory's log, and on the terminal. What they say is others'. */
#ifndef HPCRUN_PROCESS_REPORT_H
#define HPCRUN_PROCESS_REPORT_H

#include "hpcrun/base/text-buffer.h"

/* Appends to a file of the measurement directory, in one write; nothing where that fails. Uses no
 * static memory: the child of a vfork may call it. */
void report_append(const char *name, const char *data, size_t size);

/* Appends a line (without its newline) to the log. */
void report_log(const struct text *line);

/* "hpcrun: LINE" on standard error. */
void report_terminal(const struct text *line);

/* Both. */
void report_error(const struct text *line);

/* Whether more than errors belongs there: this is the process that was launched, and it is not to
 * be quiet. */
bool report_may_speak(void);

/* That something is not measured: as an error for the process that was launched; a child says
 * nothing that it would not say without us, but for the log. */
void report_loss(const struct text *line);

/* Remembers what standard error is; in the process that was launched also keeps a way to it that
 * the program's closing of it does not cut. */
void report_init(void);

/* In the child of a fork: gives that way up. Whoever reads from the other end of a pipe may wait
 * until all who write to it have gone, and a daemon stays. */
void report_after_fork(void);

#endif

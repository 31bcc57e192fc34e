/* Signal handler: everything but report_init and report_after_fork may be used there.
 *
 * Writes lines to the measurement directory's log and to the terminal. */
#ifndef HPCRUN_PROCESS_REPORT_H
#define HPCRUN_PROCESS_REPORT_H

#include "hpcrun/base/text-buffer.h"

/* Appends a line (without its newline) to the log; a failure is ignored. */
void report_log(const struct text *line);

/* "hpcrun: LINE" on standard error. */
void report_terminal(const struct text *line);

/* Writes the line to the log and to standard error. */
void report_error(const struct text *line);

/* Reports that something is not measured. In the process that was launched, unless it is quiet,
 * this is an error; a child process writes to the log only, so that its standard error stays
 * unchanged. */
void report_loss(const struct text *line);

/* Remembers the file of standard error. The process that was launched also keeps a copy of the
 * descriptor, so that messages arrive even if the program closes its own. */
void report_init(void);

/* In the child of a fork: closes the copy. The reader of a pipe waits until all writers have closed
 * it, and a daemon would never do that. */
void report_after_fork(void);

#endif

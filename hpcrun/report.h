/* What hpcrun has to say: lines in the measurement directory's log, and on the terminal.
 *
 * report_log and report_error may be used in a signal handler. */
#ifndef HPCRUN_REPORT_H
#define HPCRUN_REPORT_H

#include "hpcrun/base/text.h"

/* Appends a line (without its newline) to the log. */
void report_log(const struct text *line);

/* "hpcrun: LINE" on standard error, and in the log. */
void report_error(const struct text *line);

/* That something is not measured: as an error for the process that was launched; a child says
 * nothing that it would not say without us, but for the log. */
void report_loss(const struct text *line);

/* The summary of the process image, one line: in the log, and on standard error for the process
 * that was launched. Call when everything is written. */
void report_summary(void);

/* Remembers what standard error is; in the process that was launched also keeps a way to it that
 * the program's closing of it does not cut. */
void report_init(void);

/* In the child of a fork: gives that way up. Whoever reads from the other end of a pipe may wait
 * until all who write to it have gone, and a daemon stays. */
void report_after_fork(void);

#endif

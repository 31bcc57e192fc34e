/* What hpcrun has to say: lines in the measurement directory's log, and on the terminal.
 *
 * report_log and report_error may be used in a signal handler. */
#ifndef HPCRUN_REPORT_H
#define HPCRUN_REPORT_H

#include "hpcrun/text.h"

/* Appends a line (without its newline) to the log. */
void report_log(const struct text *line);

/* "hpcrun: LINE" on standard error, and in the log. */
void report_error(const struct text *line);

/* The summary of the process image, one line: in the log, and on standard error for the process
 * that was launched. Call when everything is written. */
void report_summary(void);

/* Keeps a way to the terminal that the program's closing of standard error does not cut. */
void report_init(void);

#endif

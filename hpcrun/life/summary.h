/* Signal handler: runs there, too, where a signal ends the process. */
#ifndef HPCRUN_LIFE_SUMMARY_H
#define HPCRUN_LIFE_SUMMARY_H

/* The summary of the process image, one line: in the log, and on standard error for the process
 * that was launched; before it, what was lost. Call when everything is written. */
void summarize(void);

#endif

/* Signal handler: runs there, too, where a signal ends the process. */
#ifndef HPCRUN_LIFE_PROCESS_SUMMARY_H
#define HPCRUN_LIFE_PROCESS_SUMMARY_H

#include "lib/measurement-format.h"

#include <stdbool.h>

/* The summary of the process image at its end, one line in the log; before it, what was lost. Call
 * when everything is written.
 *
 * The process that was launched also says on standard error what was measured of the whole run, in
 * one line, and what was not, in another one if there is something. The launcher became this
 * process by an exec, so that the command's process id, parent, signals and exit status are what
 * they are without hpcrun; nobody is left who could wait for the command. So what is said at the
 * end is said by the command's last image (`goes_on`: it is not this one), of all processes on the
 * host that have told of themselves by then (process/process-notes.h). If that is killed, nobody
 * says it; hpcprof does. Of the ranks of a job that each have a launcher, the last one speaks for
 * all. */
void summarize(enum process_state state, int detail, bool goes_on);

#endif

/* Signal handler: runs there, too, if a signal ends the process. */
#ifndef HPCRUN_LIFE_PROCESS_SUMMARY_H
#define HPCRUN_LIFE_PROCESS_SUMMARY_H

#include "lib/measurement-format.h"

#include <stdbool.h>

/* Writes the summary of the process image, one line, to the log; before it, what was lost. Call it
 * after everything is written. `continues`: the process continues as another image that is
 * measured. `is_lost`: something could not be written and is nowhere else.
 *
 * The last image of the process that was launched also prints the line to standard error; of a
 * parallel job, whose ranks may have a launcher each, that of rank 0. The launcher became this
 * process by an exec, so that the command has the same process id, parent, signals and exit status
 * as without hpcrun; no process is left that could wait for it. So this line is about one process.
 * What all processes of the run have measured, and what was not measured, hpcprof says
 * (hpcprof/database/run-account.h). */
void summarize(enum process_state state, int detail, bool continues, bool is_lost);

#endif

/* Signal handler: runs there, too, if a signal ends the process. */
#ifndef HPCRUN_LIFE_PROCESS_SUMMARY_H
#define HPCRUN_LIFE_PROCESS_SUMMARY_H

#include "lib/measurement-format.h"

#include <stdbool.h>

/* Writes the summary of the process image, one line, to the log; before it, what was lost. Call it
 * after everything is written. `continues`: the process continues as another image that is
 * measured. `is_lost`: something could not be written and is nowhere else.
 *
 * The process that was launched also prints the summary of the whole run to standard error: one
 * line with what was measured, and one with what was not, if anything. The launcher became this
 * process by an exec, so that the command has the same process id, parent, signals and exit status
 * as without hpcrun; no process is left that could wait for it. So the command's last image prints
 * the summary, for all processes on this host that have recorded themselves by then
 * (process/process-notes.h). If that image is killed, hpcrun prints no summary, but
 * hpcviewer shows one. In a parallel job with a launcher for each rank, the last rank to end prints
 * it for all. */
void summarize(enum process_state state, int detail, bool continues, bool is_lost);

#endif

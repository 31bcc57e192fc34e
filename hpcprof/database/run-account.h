/* What a run has measured, in a line: the sum over its processes. hpcrun cannot say this: each of its
 * processes knows only itself, and the last one may be killed. */
#ifndef HPCPROF_RUN_ACCOUNT_H
#define HPCPROF_RUN_ACCOUNT_H

#include "hpcprof/contexts/analysis.h"

/* Prints the line, and one with what was not measured, if anything. Prints nothing of a run of one process
 * that was measured to its end: hpcrun has done so; nor if there is no list of processes. `program`: the
 * program that was launched. */
void run_account_print(const struct analysis *analysis, const struct measurement_process *program);

#endif

/* What a run has measured, in a line: the sum over its processes. hpcrun cannot say this: each of its
 * processes knows only itself, and the last one may be killed. */
#ifndef HPCPROF_RUN_ACCOUNT_H
#define HPCPROF_RUN_ACCOUNT_H

#include "hpcprof/contexts/analysis.h"

/* Prints the line, and one with what was not measured, if anything. Prints nothing if the line of hpcrun says
 * as much: the run had one process, which was measured to its end, and programs before its last exec used
 * little CPU time. Prints nothing without a list of processes either. `program`: launched_program(). */
void run_account_print(const struct analysis *analysis, const struct measurement *program);

#endif

/* Whether this process may sample others, and what it says if not. */
#ifndef HPCRUN_OUTSIDE_PERF_RIGHTS_H
#define HPCRUN_OUTSIDE_PERF_RIGHTS_H

#include <stdbool.h>

/* Whether this process may sample that one, or the whole system, -1. If not, prints why. */
bool perf_rights_check(int pid);

/* Prints why not; `error` is a negative errno of perf_event_open. */
void perf_rights_explain(int pid, int error);

#endif

/* CPU time without samples, where perf hides the kernel. */
#ifndef HPCRUN_OUTSIDE_UNSAMPLED_TIME_H
#define HPCRUN_OUTSIDE_UNSAMPLED_TIME_H

#include "hpcrun/base/text-buffer.h"

/* Adds "no samples of 2.661 s CPU" and why: `system` of it, at most, was in the kernel. */
void unsampled_time_add(struct text *line, uint64_t ns, uint64_t system);

#endif

/* CPU time without samples, where perf hides the kernel. */
#ifndef HPCRUN_OUTSIDE_UNSAMPLED_TIME_H
#define HPCRUN_OUTSIDE_UNSAMPLED_TIME_H

#include <stdint.h>

/* "no samples of 2.661 s CPU" and why: `system` of it, at most, was in the kernel. Valid until the next call. */
const char *unsampled_time(uint64_t ns, uint64_t system);

#endif

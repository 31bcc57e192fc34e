/* CPU time that threads have used, and that no samples stand for. */
#ifndef HPCRUN_OUTSIDE_UNSAMPLED_TIME_H
#define HPCRUN_OUTSIDE_UNSAMPLED_TIME_H

#include <stdint.h>

/* The CPU time that a thread has used, ns: its clock at its begin, when it was last read, 0: never, and what its samples
 * stand for. */
uint64_t used_time(uint64_t began, uint64_t last, uint64_t sampled);

/* "no samples of 2.661 s CPU" and why: `system` of it, at most, was in the kernel. Valid until the next call. */
const char *unsampled_time(uint64_t ns, uint64_t system);

#endif

/* The CPU quota of the process's control group (cgroups 1 and 2), which stops all its threads for the
 * rest of a period once they have used their share of it.
 *
 * The quota is that of the tightest group among the process's own and those around it. In a container,
 * /proc/self/cgroup may name a group by a path that the container does not show; the root of what it
 * shows is a group around it, too. */
#ifndef HPCRUN_PROCESS_CPU_QUOTA_H
#define HPCRUN_PROCESS_CPU_QUOTA_H

#include <stdint.h>

/* Normal context, no libc: finds the quota, when the process image begins; begins to count again, in the
 * child of a fork. */
void cpu_quota_find(void);
void cpu_quota_restart(void);

/* The quota in thousandths of a CPU; 0: none, or unknown. */
uint64_t cpu_quota(void);

#define THROTTLED_UNKNOWN UINT64_MAX

/* Signal handler: may be used there. How long the quota has stopped the group since then, ns,
 * summed over CPUs; THROTTLED_UNKNOWN if there is no quota or it can't be read. */
uint64_t cpu_quota_throttled(void);

#endif

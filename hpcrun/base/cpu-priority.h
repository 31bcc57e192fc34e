/* How a process of hpcrun gets a CPU between many busy threads. Latency until it has one after a sleep, between 1000 busy
 * threads of the same terminal on 2 CPUs (Linux 6.18), median and maximum:
 *
 *     nothing                  160 ms   1060 ms
 *     a short slice             26 ms    311 ms
 *     a session of its own       0.9 ms    8 ms
 *     both                       0.1 ms    5 ms
 *     -20 and a short slice      0.1 ms    4 ms
 *
 * The share of the CPU matters, too: of 1000 equal threads each gets a thousandth. Sessions share a CPU equally (autogroups,
 * sched(7)), unless the system puts the user's processes into cgroups with CPU shares. */
#ifndef HPCRUN_BASE_CPU_PRIORITY_H
#define HPCRUN_BASE_CPU_PRIORITY_H

#include "hpcrun/base/sys.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

/* Linux 6.12 and later: a thread with a shorter slice than the one that runs gets the CPU when it wakes. */
static inline void cpu_priority_shorten_slice(void)
{
    const struct { /* of sched_setattr(2); linux/sched/types.h can't be included with sched.h */
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t slice, deadline, period;
    } brief = {.size = sizeof brief, .policy = SCHED_OTHER, .nice = getpriority(PRIO_PROCESS, 0), .slice = 100000};
    sys3(SYS_sched_setattr, 0, SYS_ARG(&brief), 0);
}

/* Only root, and who has CAP_SYS_NICE, may have -20. Children inherit it. */
static inline void cpu_priority_take(void)
{
    setpriority(PRIO_PROCESS, 0, -20);
    cpu_priority_shorten_slice();
}

/* Not in a process that leads a group: there it has no effect. */
static inline void cpu_priority_leave_session(void)
{
    setsid();
}

#endif

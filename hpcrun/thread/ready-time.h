/* Signal handler: everything here may be used there.
 *
 * The time in which a thread was ready to run and had no CPU, and how often it got one, by the
 * scheduler's own account: the second and the third number of /proc/self/task/TID/schedstat
 * (Documentation/scheduler/sched-stats.rst of Linux). The time includes that in which a CPU quota stopped
 * the thread, and what an idle CPU takes to wake up.
 *
 * A reading takes 1.6 us (medians, Linux 6.18), a tenth of the cheapest sample of a waiting thread. So
 * samples of REALTIME read it, if the thread was off the CPU; others do so about every second. */
#ifndef HPCRUN_THREAD_READY_TIME_H
#define HPCRUN_THREAD_READY_TIME_H

#include "hpcrun/thread/thread.h"

#define READY_UNKNOWN UINT64_MAX

/* Of a thread of this process, since it was created. */
struct cpu_waits cpu_waits_of(int tid);

/* Since hpcrun knows the thread; without the time that its samples have caused (`sampled_ready`): a
 * thread that sleeps is woken by a sample's signal, and waits for a CPU only since then. */
struct cpu_waits cpu_waits_since_begin(const struct thread *thread);

#endif

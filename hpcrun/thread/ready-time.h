/* Signal handler: everything here may be used there.
 *
 * The time in which a thread was ready to run and had no CPU, by the scheduler's own account: the second
 * number of /proc/self/task/TID/schedstat, ns (Documentation/scheduler/sched-stats.rst of Linux). It
 * includes the time in which a CPU quota stopped the thread.
 *
 * A reading takes 1.6 us (medians, Linux 6.18), a tenth of the cheapest sample of a waiting thread. So
 * samples of REALTIME read it, if the thread was off the CPU; others do so about every second. */
#ifndef HPCRUN_THREAD_READY_TIME_H
#define HPCRUN_THREAD_READY_TIME_H

#include "hpcrun/thread/thread.h"

#define READY_UNKNOWN UINT64_MAX

/* Of a thread of this process, since it was created; READY_UNKNOWN if the kernel keeps no account, or if
 * its file can't be read. */
uint64_t run_delay(int tid);

/* Since hpcrun knows the thread, but for the part that its samples have caused (`sampled_ready`): a
 * thread that sleeps is woken by a sample's signal, and waits for a CPU only since then. */
uint64_t ready_time(const struct thread *thread);

#endif

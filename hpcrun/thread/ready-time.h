/* Signal handler: everything here may be used there.
 *
 * The time in which a thread was ready to run and had no CPU, and how often it got one, by the
 * scheduler's own account: the second and the third number of /proc/self/task/TID/schedstat
 * (Documentation/scheduler/sched-stats.rst of Linux). The time includes that in which a CPU quota stopped
 * the thread, and what an idle CPU takes to wake up.
 *
 * A reading takes 1.6 us (medians, Linux 6.18), a tenth of the cheapest sample of a waiting thread. So
 * samples of REALTIME read it, if the thread was off the CPU; others do so about every second. The first of
 * a thread is dearer: the kernel makes the file, and removes it when the thread ends. 4,000 threads of 20 us,
 * four at once on two CPUs, took 206 ms without any reading, and 276 ms with one at each begin and end. So
 * threads that live for microseconds do without. */
#ifndef HPCRUN_THREAD_READY_TIME_H
#define HPCRUN_THREAD_READY_TIME_H

#include "hpcrun/thread/thread.h"

#define READY_UNKNOWN UINT64_MAX

/* A thread that begins this soon after its creation, ns, counts as one that has not waited. An idle CPU
 * takes up to a half of that to wake up, and a reading a tenth. */
#define START_NS 200000u

/* Of a thread of this process, since it was created. */
struct cpu_waits cpu_waits_of(int tid);

/* Of the calling thread, when hpcrun sees it first. Zeros without a reading if it began within START_NS
 * after its creation: it can't have waited longer. */
struct cpu_waits cpu_waits_at_begin(const struct thread *thread);

/* Since hpcrun knows the thread; without the time that its samples have caused (`sampled_ready`): a
 * thread that sleeps is woken by a sample's signal, and waits for a CPU only since then. */
struct cpu_waits cpu_waits_since_begin(const struct thread *thread);

/* The same of the calling thread. Zeros without a reading if it has kept its CPU since it was created. */
struct cpu_waits own_cpu_waits_since_begin(const struct thread *thread);

#endif

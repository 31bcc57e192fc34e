/* For REALTIME: the times in which threads of the measured process are off the CPU.
 *
 *   on a CPU   perf's samples of the task clock, as for CPUTIME
 *   waiting    looks: about once in one or two periods this process reads /proc/PID/task/TID/syscall of each thread. A
 *              thread that waits in the kernel has its instruction and stack pointer there, and its stack does not
 *              change. A look that finds it waiting pays the period. The thread is not woken
 *   ready      what the scheduler has counted (schedstat); the thread's next sample on a CPU pays it
 *
 * Looks become samples when the records of the same time have come, so that all are in order.
 *
 * A thread that waits in futex() for a mutex or an rwlock of glibc waits for its holder: the futex's address and the
 * value that it waits with tell which, and the lock has the holder's tid. The slot has it as in a preloaded run, with
 * the holder at the look: holders pay `lock blame` (agents/pthread), and the waiter's looks pay `lock wait`. A lock
 * that an agent knows, as Python's GIL, is waited for at a condition variable; the agent knows where its holder is.
 *
 * How many threads run or could run at an instant is known exactly, by PERF_RECORD_SWITCH: the threads' slots
 * (logical/wait-slots.h) have it. A thread that is woken counts from when it gets a CPU. */
#ifndef HPCRUN_OUTSIDE_FOREIGN_WAITS_H
#define HPCRUN_OUTSIDE_FOREIGN_WAITS_H

#include "hpcrun/outside/perf-records.h"

/* Begins with the threads that the process has now, if the event is REALTIME: else nothing here has an effect. */
void waits_begin(void);

/* A thread begins or ends. */
void waits_add(int tid);
void waits_remove(int tid);

/* It gets a CPU, or leaves it: to wait, or since others got it. */
void waits_switch(int tid, bool runs, bool is_preempted);

/* A sample comes: the thread's slot becomes this process's own. Returns the time that the thread was ready and that the
 * sample is to pay, ns: if it runs, what it has not paid before. */
uint64_t waits_enter(const struct perf_sample *sample);

/* Looks at the threads whose time has come. Returns the time until the next look, ns: about a period at least, so that
 * one wake-up serves several threads. */
uint64_t waits_look(void);

/* The earliest look, as a sample; NULL: none. It was before `until`. */
const struct perf_sample *waits_first(uint64_t until);
void waits_remove_first(void);

/* The number of looks that failed, since the process may not be looked at (Yama's ptrace_scope, for example). */
uint64_t waits_forbidden(void);

/* The number of threads that were not looked at, since there were no descriptors for their files. */
uint64_t waits_without_descriptors(void);

#endif

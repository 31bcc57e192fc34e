/* The records (thread/thread.h) of the measured process's threads. Each is made at the thread's first
 * sample, and has the clocks of the thread's begin. This process records the samples of all of them, one at a time. */
#ifndef HPCRUN_OUTSIDE_FOREIGN_THREADS_H
#define HPCRUN_OUTSIDE_FOREIGN_THREADS_H

#include "hpcrun/outside/measured-process.h"
#include "hpcrun/outside/perf-records.h"

#include <ucontext.h>

/* A thread begins at this time, CLOCK_MONOTONIC, or its measurement does, to which no earlier sample belongs; and its
 * clocks then. */
void foreign_threads_begin(int tid, uint64_t time, const struct scheduled *clocks);

/* Records a sample in its thread's tree. Returns the bytes of its stack that the copy should have had (copy-size.h). */
uint64_t foreign_threads_sample(const struct perf_sample *sample);

/* Counts lost samples: the time that they stand for, and the CPU time in it, ns. Their threads are unknown: they count
 * for the initial one. */
void foreign_threads_lose(uint64_t samples, uint64_t time, uint64_t cpu);

/* Writes what a thread has collected that ended at this time, and forgets it. */
void foreign_threads_end(int tid, uint64_t time);

/* Writes what all threads have collected; `ended`: for the last time. False if a part of it is lost. */
bool foreign_threads_write(bool ended);

/* CPU time, ns, but for `unseen`. */
struct foreign_time {
    uint64_t used;    /* by the threads that have had samples, since their measurement began, or by the process */
    uint64_t sampled; /* what samples stand for, lost ones included */
    uint64_t unseen;  /* number of threads that ended without a sample, but the initial one */
    uint64_t rests;   /* at most, after the last samples of all threads: a period on each CPU */
};
struct foreign_time foreign_threads_time(void);

/* Why events of the CPUs would sample them better: bits of enum wants_cpus (short-turns.h). */
unsigned foreign_threads_want_cpus(void);

/* For the handler of SIGSEGV and SIGBUS: makes the read that faulted fail, if a sample is being recorded. */
bool foreign_threads_fix_up(ucontext_t *context);

#endif

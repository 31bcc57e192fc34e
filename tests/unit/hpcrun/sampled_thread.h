/* A thread with one event under the simulated kernel, and hpcrun's sample sources, which are compiled here
 * with its system calls. Random numbers come from seeds: every run of a test is the same. */
#ifndef TESTS_UNIT_HPCRUN_SAMPLED_THREAD_H
#define TESTS_UNIT_HPCRUN_SAMPLED_THREAD_H

#include "tests/unit/hpcrun/simulated_kernel.h"

#include "hpcrun/thread/thread.h"

#define PERIOD 5000000u
#define MS     1000000u

extern struct thread thread;
extern struct agent_slot slot; /* the thread's */
extern ucontext_t context;     /* registers that a sample finds */
extern bool waiting;           /* whether a sample interrupts a system call */
extern bool is_restricted;     /* whether the program restricts its system calls */
extern uint64_t sample_ns;     /* time that taking a sample takes */
extern uint32_t live;          /* number of threads */

/* BY_PERF, BY_TIMERS and BY_WALL_CLOCK have two timers on the wall clock. The first five are CPUTIME,
 * then REALTIME by two timers and by one, and a counter, of nanoseconds of CPU time. */
enum way {
    BY_PERF,
    BY_PERF_ALONE,
    BY_ONE_TIMER,
    BY_TIMERS,
    BY_CPU_TIMER,
    BY_WALL_CLOCK,
    BY_ONE_WALL_TIMER,
    BY_COUNT,
    WAYS
};

void begin(enum way way, uint64_t seed);

/* Where the next samples find the thread: in user code, before a system call that the kernel will make again, or
 * after one that it has ended. */
enum place { IN_CODE, BEFORE_CALL, AFTER_CALL, PLACES };

void set_place(enum place place);

/* A counter without a period, and without a learned one; then another thread that counts. */
void begin_counter(uint64_t seed);
void begin_counting_thread(uint64_t seed);

/* Sums of increments, ns. */
struct paid {
    uint64_t amount, off_cpu, ready, samples;
};

/* Handles a pending signal as handler_on_signal does. */
void take(struct paid *paid);

/* The thread runs for `ns`, and takes its samples. */
void run(uint64_t ns, struct paid *paid);

/* What a sample of a waiting thread costs, as the source of REALTIME has learned. */
uint64_t cost_of_samples(void);

#endif

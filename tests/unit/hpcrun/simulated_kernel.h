/* A simulated kernel under hpcrun's sample sources: one thread with two clocks that the test moves,
 * POSIX timers and one perf event. A test that includes it includes hpcrun's sources behind it:
 * their system calls come here.
 *
 * Signals are not delivered by themselves. sim_run lets the thread run until a signal waits or the
 * time is over; sim_take hands the signal over, as the kernel would. A signal that a test leaves
 * waiting is one that the thread blocks. */
#ifndef TESTS_UNIT_HPCRUN_SIMULATED_KERNEL_H
#define TESTS_UNIT_HPCRUN_SIMULATED_KERNEL_H

#define HPCRUN_BASE_SYSTEM_CALL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#define SIM_TIMERS 4
#define SIM_FD     7 /* the perf event's */

long sys6(long number, long a, long b, long c, long d, long e, long f);

struct sim_timer {
    bool used, on_cpu; /* on_cpu: by the thread's CPU clock, else by the wall clock */
    uint64_t at;       /* when it expires; 0: not armed */
    uint64_t interval; /* 0: once */
    void *value;       /* that its signals carry */
    bool waits;        /* its signal waits */
    int overruns;      /* further expiries since then */
};

struct sim {
    uint64_t wall, cpu; /* ns */
    bool refuses_perf;
    struct sim_timer timers[SIM_TIMERS];
    bool event_enabled, event_waits;
    uint64_t event_count, event_period, event_left;
    uint64_t shortest_interval; /* of all that a timer was armed with; UINT64_MAX at first */
};

extern struct sim sim;

/* A new kernel and thread, at other times than 0. */
void sim_start(void);

/* The thread runs for `ns`, or until a signal waits: returns how long it ran. */
uint64_t sim_run(uint64_t ns);

/* The thread runs for `ns` with its signals blocked. */
void sim_run_blocked(uint64_t ns);

/* The thread does not run for `ns`: it waits or is stopped. */
void sim_wait(uint64_t ns);

/* Takes the signal that waits, as the handler gets it; false when none does. */
bool sim_take(siginfo_t *info);

#endif

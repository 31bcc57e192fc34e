/* A simulated kernel under hpcrun's sample sources: one thread with two clocks that the test moves,
 * POSIX timers and one perf event. A test includes hpcrun's source files after this header, so that
 * their system calls come here.
 *
 * Signals are not delivered automatically. sim_run lets the thread run until a signal is pending or
 * the time is over; sim_take returns the signal. A signal that a test leaves pending stands for one
 * that the thread blocks. */
#ifndef TESTS_UNIT_HPCRUN_SIMULATED_KERNEL_H
#define TESTS_UNIT_HPCRUN_SIMULATED_KERNEL_H

#define HPCRUN_BASE_SYSTEM_CALL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#define SIM_TIMERS 4
#define SIM_FD     7 /* the perf event's */
#define SIM_FILE   8 /* schedstat of the thread */

long sys6(long number, long a, long b, long c, long d, long e, long f);

struct sim_timer {
    bool used, on_cpu; /* on_cpu: by the thread's CPU clock, else by the wall clock */
    uint64_t at;       /* when it expires, once; 0: not armed */
    void *value;       /* sent with its signals */
    bool waits;        /* its signal is pending */
};

struct sim {
    uint64_t wall, cpu, delay; /* ns; delay: time without a CPU that the thread wanted */
    uint64_t timeslices;       /* waits for a CPU */
    bool has_no_accounts;      /* the kernel does not keep these */
    long waits, preemptions;   /* times that the thread has left a CPU */
    unsigned looks;            /* calls that ask for these or for those */
    bool refuses_perf;
    int timer_limit;  /* number of timers that can be created */
    bool keeps_stale; /* setting a timer leaves its pending signal, as before Linux 6.13 */
    unsigned arms;    /* calls that arm a timer or the event */
    struct sim_timer timers[SIM_TIMERS];
    bool event_enabled, event_waits;
    uint64_t event_count, event_period, event_left;
};

extern struct sim sim;

/* Starts with a new kernel and thread, with clocks other than 0. */
void sim_start(void);

/* The thread runs for `ns`, or until a signal is pending. Returns how long it ran. */
uint64_t sim_run(uint64_t ns);

/* The thread runs for `ns` with its signals blocked. */
void sim_run_blocked(uint64_t ns);

/* The thread does not run for `ns`: it waits or is stopped; or it has no CPU. sim_sleep ends when a
 * signal is pending. */
void sim_wait(uint64_t ns);
void sim_wait_for_cpu(uint64_t ns);
void sim_sleep(uint64_t ns);

/* Takes the pending signal, as the handler gets it; false if there is none. */
bool sim_take(siginfo_t *info);

#endif

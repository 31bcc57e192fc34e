/* The life of a process image: from the constructor of the preloaded library to its end.
 *
 * Signal handler: `process` is read there. */
#ifndef HPCRUN_PROCESS_H
#define HPCRUN_PROCESS_H

#include "hpcrun/metrics.h"
#include "lib/measurement-format.h"

#include <stdatomic.h>

struct process {
    bool active;    /* hpcrun asked for this process, and it could be set up */
    bool withdrawn; /* it was; process_withdraw */
    struct config config;
    struct metrics metrics;
    int pid, parent;
    enum process_origin origin;
    uint64_t start_ticks; /* of the process, clock ticks since boot */
    char host[65];
    uint64_t host_id;
    int64_t rank; /* in an MPI job, -1 without one */
    unsigned usable_cpus;
    uint64_t began_real, began_wall, began_cpu; /* clocks at initialisation, ns */
    char executable[PATH_MAX];
    char directory[PATH_MAX]; /* working directory at initialisation */
    int signal;               /* the sampling signal */
    void *fault_handler;      /* hpcrun's handler of SIGSEGV and SIGBUS, for unwind/memory.h */
};

extern struct process process;

/* What the handler asks at every sample. */
struct sampling {
    _Atomic bool stopping; /* no samples any more: the image ends */
    _Atomic bool on;       /* switched on by the user */
    _Atomic bool no_ticks; /* the program may not read the time stamp counter: ticks.h */
    bool collapse_recursion;
};

extern struct sampling sampling;

/* Before main, in the initial thread, when all libraries are initialised: agents may be loaded. */
void process_starts_program(void);

/* Whether the calling process is the one that was initialised: false in the child of a vfork or a
 * bare clone, which shares or copies our memory and owns none of our data. One system call. */
bool process_is_ours(void);

/* The end of the image: stops sampling in all threads, waits for handlers in flight (at most 2 s),
 * writes everything, and prints the summary. `state` says how it ends; `detail` is the signal
 * number, else 0. Only the first call does something and returns true; others wait for it, so that
 * they don't end the process before everything is written. For normal context and fatal signals. */
bool process_end(enum process_state state, int detail);

/* Before an exec: as process_end, but process_exec_failed takes it back. Returns whether it did
 * something: then it has to be taken back when the exec fails. */
bool process_before_exec(void);
void process_exec_failed(void);

/* Writes what was measured, says why no more will be, and leaves the process alone for good: no
 * samples, no handlers, no descriptors, no system calls of hpcrun's. */
void process_withdraw(const char *why);

/* Around a fork: the child goes on as a process of its own, with nothing measured yet. */
void process_before_fork(void);
void process_after_fork_in_parent(void);
void process_after_fork_in_child(void);

/* Switches sampling on or off in all threads (hpctoolkit_sampling_start, ..._stop). */
void process_set_sampling(bool on);

#endif

/* Signal handler: everything here may be used there.
 *
 * The process image: its identity, its configuration, and whether it is sampled now. life/ begins
 * and ends it. */
#ifndef HPCRUN_PROCESS_PROCESS_H
#define HPCRUN_PROCESS_PROCESS_H

#include "hpcrun/base/sys.h"
#include "hpcrun/config/run-config.h"
#include "lib/measurement-format.h"

#include <stdatomic.h>

struct process {
    bool active;         /* this process is measured */
    bool withdrawn;      /* it was measured until process_withdraw */
    bool rights_changed; /* its user, groups, root or files (hooks/rights.c) */
    struct config config;
    struct metrics metrics;
    int pid, parent;
    enum process_origin origin;
    uint64_t start_ticks; /* of the process, clock ticks since boot */
    char host[65];
    uint64_t host_id;
    char list_name[96]; /* file name of the list of this host's processes; process-notes.h */
    int64_t rank;       /* in a parallel job; NO_RANK outside of one */
    unsigned usable_cpus;
    uint64_t began_real, began_wall, began_cpu; /* clocks at initialization, ns */
    uint64_t began_ticks;                       /* ticks_now() at the same time as began_wall */
    char executable[PATH_MAX];
    bool restricted;           /* it restricts its own system calls (seccomp) */
    bool filters_are_harmless; /* those before its start, if any: forbidden calls just fail */
    char directory[PATH_MAX];  /* working directory at initialization */
    int signal;                /* the sampling signal */
    void *fault_handler;       /* hpcrun's handler of SIGSEGV and SIGBUS, for unwind/memory.h */
    uint32_t images_before;    /* config.is_outside: images of the process that have a measurement file; else 0 */
    /* config.is_outside: CPU time of the process when it was last read, and of its children when it ended, ns */
    uint64_t cpu_elsewhere, children_elsewhere;
};

extern struct process process;

/* State that the handler reads at every sample. */
struct sampling {
    _Atomic bool stopping; /* the image ends: samples are only counted */
    _Atomic bool on;       /* hpctoolkit_sampling_start, hpcrun -ds */
    _Atomic bool no_ticks; /* the program may not read the time stamp counter */
    bool collapse_recursion;
    /* With no_ticks, ticks go on from `ticks` at CLOCK_MONOTONIC `wall`, by `rate` / 2^32 for each ns; 0: ticks are ns */
    struct {
        uint64_t ticks, wall, rate;
    } instead;
};

extern struct sampling sampling;

/* Whether the calling process is the one that was initialized. False in the child of a vfork or a
 * bare clone, which shares or copies our memory and must not change our data. One system call. */
static inline bool process_is_ours(void)
{
    return process.pid == sys_getpid();
}

/* The CPU time of the process so far, ns. */
static inline uint64_t process_cpu_time(void)
{
    return process.config.is_outside ? process.cpu_elsewhere : sys_clock(CLOCK_PROCESS_CPUTIME_ID);
}

/* Whether a filter of system calls, of this program or inherited, may end the process for those that
 * hpcrun can do without (launch/harmless-filters.c makes them all). */
bool process_is_restricted(void);

/* Signal handler: what the time stamp counter would show, by CLOCK_MONOTONIC and the rate that ticks had before no_ticks. */
static inline uint64_t ticks_by_clock(void)
{
    uint64_t wall = sys_clock(CLOCK_MONOTONIC), rate = sampling.instead.rate;
    unsigned __int128 since = wall - sampling.instead.wall;
    return rate ? sampling.instead.ticks + (uint64_t)(since * rate >> 32) : wall;
}

/* Signal handler: a clock that costs no memory access, for intervals that need not be exact. The
 * unit is a time stamp tick, at most a nanosecond long. When the program forbids its threads to read the counter (prctl,
 * PR_SET_TSC), ticks_by_clock goes on. */
static inline uint64_t ticks_now(void)
{
    bool forbidden = atomic_load_explicit(&sampling.no_ticks, memory_order_relaxed);
    return forbidden ? ticks_by_clock() : __builtin_ia32_rdtsc();
}

/* Copies a signal set that the program passes on to the kernel, without the sampling signal, which
 * is never to be blocked. Returns `copy`, or NULL if `set` is NULL. */
static inline const sigset_t *mask_without_sampling(const sigset_t *set, sigset_t *copy)
{
    if (!set)
        return NULL;
    *copy = *set;
    if (process.active)
        copy->__val[0] &= ~sys_mask_bit(process.signal);
    return copy;
}

#endif

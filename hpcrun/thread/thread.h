/* Signal handler: everything here is used there.
 *
 * The record of a sampled thread. life/thread-life.h begins and ends it; live-threads.h lists them.
 *
 * Access: the thread itself, in the handler or with all signals blocked. Another thread only after
 * it has stopped the process's sampling and then seen `busy` false (threads_quiesce). The thread
 * sets `busy` before it reads whether sampling is stopped. After the stop, samples only count
 * themselves in `missed`, and a thread that ends leaves its data to the thread that stopped
 * sampling. A thread that begins is busy, too. */
#ifndef HPCRUN_THREAD_THREAD_H
#define HPCRUN_THREAD_THREAD_H

#include "hpcrun/config/run-config.h"
#include "hpcrun/logical/logical.h"
#include "hpcrun/tree/cct.h"
#include "hpcrun/tree/saved-path.h"
#include "hpcrun/unwind/unwind.h"
#include "lib/fate-counts.h"

#include <signal.h>
#include <stdatomic.h>

struct joinable;
struct perf_event_mmap_page;

#define KERNEL_FRAMES 64 /* of a sample, at most: the innermost ones */

/* What the scheduler knows of a thread (ready-time.h). */
struct cpu_waits {
    uint64_t ready;      /* ns without a CPU; READY_UNKNOWN if the kernel keeps no account, or if its file
                            can't be read */
    uint64_t timeslices; /* times that the thread got a CPU */
};

/* One event in one thread; source/sample-source.h. */
struct thread_event {
    const struct event *event;
    enum sample_source source;    /* 0: not open */
    enum sample_source opened_as; /* the last source, for the measurement file; 0: none */
    bool first;                   /* the next sample is the first after a start or resume */
    int fd;                       /* perf event */
    struct perf_event_mmap_page *ring; /* its records, with the kernel's frames; NULL: none */
    int timers[2], cpu_timer;     /* POSIX timers of the kernel; negative: there is none */
    int signal;                   /* CPUTIME: of its samples */
    bool by_cpu_clock;            /* CPUTIME: the CPU clock times the next sample, not `timers` */
    bool has_short_turns;         /* CPUTIME: it waits often: cpu_timer times its samples, not perf */
    bool is_turn;                 /* the signal is that of timers[turn] */
    unsigned turn;                /* index in `timers` of the one for `due` */
    /* Ids of its metrics, or NO_METRIC. */
    unsigned work, wall_time, off_cpu, ready, idleness, incomplete, waiting, lock_blame, lock_wait;
    uint64_t period; /* mean, as configured; by rate: the mean when the event was started */
    uint64_t mean;   /* in use: `period` or longer; by rate: it follows the counts */
    uint64_t last;   /* the event's clock or count at the last sample */
    uint64_t armed;  /* the period that the next sample was armed with */
    uint64_t after;  /* timers: the period after `due`, at whose end the other one expires */
    uint64_t lag;    /* mean delay from `due` to the sample; REALTIME: from `last` to the sample */
    uint64_t due;    /* the clock or count at which the next sample is due */
    uint64_t wall;   /* CLOCK_MONOTONIC for which the other timer is armed; CPUTIME by the CPU
                             clock: when last_cpu was read */
    uint64_t last_cpu;    /* CPUTIME: see `wall`; others: thread's CPU clock at the last sample */
    uint64_t waits, looked_at; /* CPUTIME: waits of the thread at the last look, and its CPU clock then */
    uint64_t measured_at; /* ticks_now() at the last sample */
    uint32_t call;        /* EVENT_REALTIME: slot_call() at the last sample */
    uint64_t paid_ready;  /* EVENT_REALTIME: the part of cpu_waits_since_begin() that samples have paid, ns */
    int64_t unpaid_cpu;   /* EVENT_REALTIME: CPU time that no sample has paid yet, ns; negative: it is paid before */
    uint64_t pc, sp;      /* EVENT_COUNTER: of the thread at the last sample */
    uint64_t lock_turn;   /* lock_waiters.turn of the last sample that blamed the thread */
    uint64_t lock_kept;   /* amount since the first such sample with that turn */
    uint32_t ready_node;  /* that the last sample's time without a CPU has paid */
    unsigned repeats;     /* EVENT_COUNTER: number of samples before it with the same pc and sp */
    struct fate_count *fates; /* FATE_SLOTS, in the thread's image */
    struct fate_count missed; /* samples that were only counted, as the process was ending */
};

#define THREAD_CALL_WORDS 232

#define MAX_OPEN_RANGES 32

/* A range of sample/thread-marks.h that has not ended. */
struct open_range {
    const void *key;
    uint32_t mark; /* index of its begin */
};

/* Fields that a sample touches come first, next to each other: the caches are cold at every sample.
 */
struct thread {
    stack_t signal_stack; /* ours; zeros: none. First, since hooks/signal-entry.c uses the layout */
    _Atomic bool busy;    /* in the handler, beginning, or writing at its end */
    _Atomic bool samples_blocked; /* by another thread, which restarts its events */
    bool quiescent; /* threads_quiesce saw it not busy; false for a thread that began later */
    _Atomic bool events_shared; /* its events are open, and other threads may pause them */
    _Atomic bool events_in_use; /* another thread is using its events: they must stay open */
    unsigned event_count;
    uint64_t looked_at;  /* ticks_now() when CLOCK_MONOTONIC was last read, for flushing */
    uint64_t flushed_at; /* CLOCK_MONOTONIC of the last flush, ns; 0: none yet */
    uint64_t random;
    struct thread_event events[MAX_EVENTS];
    struct arena_thread *image; /* thread-image.h; never NULL */
    /* The event that is traced (sample/sample-trace.h), NULL: none; its records, of which the image says how
     * many count; and how many there may be. */
    const struct thread_event *traced;
    struct segments trace;
    uint32_t trace_limit;
    struct segments marks; /* sample/thread-marks.h */
    uint32_t marks_written;
    struct segments wake_ups; /* sample/wake-up-record.h */
    struct unwinder unwinder;
    struct cct cct;
    struct logical logical;

    stack_t program_stack; /* the program's signal stack; SS_DISABLE: none (signal-stack.h) */
    bool has_signal_stack; /* the kernel has ours */

    uint64_t kernel_frames[KERNEL_FRAMES]; /* of the sample in progress: source/kernel-frames.h */

    struct thread *next, *previous; /* in the list of live threads */
    uint32_t index;                 /* in the measurement file */
    int tid;
    enum thread_kind kind;
    /* Creator's index + 1 (0: unknown), and the node of the creation path in the creator's tree. In
     * the child of a fork, the thread's own index + 1, and a node of its own tree. */
    uint32_t creator, creation_node;
    struct saved_path *creation_path; /* the creation path itself, from the initial thread on */
    uint64_t created_wall;            /* CLOCK_MONOTONIC when its creation began; 0: unknown */
    uint64_t began_wall, began_cpu;   /* clocks at first sight */
    struct cpu_waits began_waits;     /* cpu_waits_at_begin() */
    _Atomic uint64_t sampled_ready;   /* the part of it since then that samples have caused, also after the stop */
    struct joinable *joinable;      /* before it begins: its creator's record for a join, or NULL */
    struct arena_thread *own_image; /* the image in private memory */
    bool image_begun;               /* the image is live, or could not be made live */
    uint64_t start_ip;              /* of the start routine; 0 unknown */
    bool identity_written;          /* its THREAD chunk is in the file */
    bool written;                   /* its end is written; it is about to leave the list */
    bool kept; /* its end can't be written: its data stays in the arena file (record/flush.h) */
    uint64_t ended_cpu;                 /* its CPU clock at its end; set before ended_wall */
    struct cpu_waits ended_waits;       /* cpu_waits_since_begin() at its end */
    _Atomic uint64_t ended_wall;        /* CLOCK_MONOTONIC at its end; 0: it lives */
    uint64_t start[4];                  /* struct start of hooks/thread-hooks.c */
    uint64_t calls[THREAD_CALL_WORDS];  /* struct thread_calls of restart/resumed-calls.h */
    struct agent_start_routine routine; /* its start routine, for the agents */
    uint32_t open_ranges;               /* also counts those above MAX_OPEN_RANGES */
    struct open_range ranges[MAX_OPEN_RANGES];
};

/* This thread's record; NULL before thread_adopt and after thread_leave. Static TLS. */
extern __thread struct thread *thread_self __attribute__((tls_model("initial-exec")));

/* Number of our signals that this thread has handled, and of handlers of the program that it has
 * run. They show what made a system call end with EINTR (restart/restart.h). */
extern __thread unsigned thread_samples_handled __attribute__((tls_model("initial-exec")));
extern __thread unsigned thread_program_handlers __attribute__((tls_model("initial-exec")));

/* A pseudo-random number, uniform in [0, limit); limit > 0. xorshift64* (Vigna), mapped to the
 * range by a multiplication (Lemire). */
static inline uint64_t thread_random(struct thread *thread, uint64_t limit)
{
    uint64_t x = thread->random;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    thread->random = x;
    return (uint64_t)((unsigned __int128)(x * 0x2545f4914f6cdd1du) * limit >> 64);
}

#endif

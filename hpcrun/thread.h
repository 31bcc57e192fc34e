/* Signal handler: thread_self and the fields of struct thread are used there; the functions are for
 * normal context, where not said otherwise.
 *
 * What hpcrun knows of a thread that it samples. A thread's record is one mapping, touched as it is
 * used, and is handed on to a later thread when its thread has ended.
 *
 * Who may touch it: its thread, in the handler or with all signals blocked; another one only after
 * the process's sampling was stopped and `busy` seen false (threads_quiesce). The thread sets
 * `busy` before it looks whether sampling was stopped: samples after the stop only count themselves
 * in `missed`, and a thread that ends then leaves its data to the one that stopped. A thread that
 * begins is busy, too. */
#ifndef HPCRUN_THREAD_H
#define HPCRUN_THREAD_H

#include "hpcrun/config/config.h"
#include "hpcrun/logical/logical.h"
#include "hpcrun/tree/cct.h"
#include "hpcrun/tree/kept-path.h"
#include "hpcrun/unwind/unwind.h"

#include <stdatomic.h>

/* Samples of one fate: how many, and the time or amount that they stand for (fixed point). */
struct tally {
    uint64_t count, amount;
};

#define FATE_SLOTS 15

/* The place of a fate in an array of tallies. */
static inline unsigned fate_slot(enum fate fate)
{
    if (fate < FATE_DROPPED_OWN_CODE)
        return fate;
    if (fate < FATE_PARTIAL_NO_FDE)
        return 4 + (fate - FATE_DROPPED_OWN_CODE);
    if (fate < FATE_KERNEL_UNATTRIBUTED)
        return 8 + (fate - FATE_PARTIAL_NO_FDE);
    return 14;
}

/* The fate of a place. */
enum fate fate_of_slot(unsigned slot);

/* One event as it is sampled in one thread; sample/source.h. */
struct thread_event {
    const struct event *event;
    enum sample_source source;        /* 0: not open */
    enum sample_source opened_as;     /* what it last was, for the record */
    bool first;                       /* the next sample is the first after a start or resume */
    int fd;                           /* perf event */
    int timer, cpu_timer;             /* POSIX timers of the kernel */
    unsigned work, blocked, idleness; /* ids of the metrics that it pays; metrics.h */
    uint64_t period;                  /* mean, as the user wants it */
    uint64_t mean;                    /* as it is armed with: `period`, or longer */
    uint64_t last;                    /* the event's clock or count at the last sample */
    uint64_t armed;                   /* the period that the next sample was armed with */
    uint64_t lag;                     /* by how much samples come later than armed, on average */
    uint64_t due;                     /* the clock or count at which the next sample is due */
    uint64_t last_cpu;    /* EVENT_REALTIME: the thread's CPU clock at the last sample */
    uint64_t measured_at; /* EVENT_REALTIME: the time stamp counter then */
    struct tally fates[FATE_SLOTS];
    struct tally missed; /* while the process was ending */
};

/* What a sample touches stands together: at every sample the caches are cold. */
struct thread {
    _Atomic bool busy;    /* in the handler, at its beginning, or writing at its end */
    _Atomic bool held;    /* another thread starts its events anew: no samples; threads_hold */
    bool stuck;           /* it was still busy when threads_quiesce gave up on it */
    _Atomic bool shared;  /* its events are open, and others may pause them */
    _Atomic bool visited; /* another thread is at its events: they stay open */
    unsigned event_count;
    uint64_t looked_at;  /* time stamp counter when the clock was last looked at, for flushing */
    uint64_t flushed_at; /* CLOCK_MONOTONIC of the last flush, ns; 0: none yet */
    uint64_t random;
    struct thread_event events[MAX_EVENTS];
    struct unwinder unwinder;
    struct cct cct;
    struct logical logical;

    struct thread *next, *previous; /* in the list of live threads */
    uint32_t index;                 /* in the measurement file */
    int tid;
    enum thread_kind kind;
    /* Creator's index + 1, 0 unknown; its own when the thread was forked: then the path is in its
     * own tree. */
    uint32_t creator, creation_node;
    struct kept_path *creation_path; /* the same, up to where the first thread began */
    uint64_t began_wall, began_cpu;  /* clocks at first sight */
    bool announced;                  /* the THREAD chunk is written */
    bool ended;                      /* could not be written at its end; kept for a later try */
    bool written;                    /* was written at its end, and is on its way out of the list */
    uint64_t ended_cpu;              /* its clock at its end; set before ended_wall */
    _Atomic uint64_t ended_wall;     /* the clock at its end; 0: it lives */
    uint64_t start[4];               /* for hooks/threads.c: what the new thread is to run */
    struct agent_origin origin;      /* the same, as agents are told */
};

/* This thread's record; NULL before thread_begin and after thread_end. Static TLS. */
extern __thread struct thread *thread_self __attribute__((tls_model("initial-exec")));

/* Signals of ours that this thread has handled, and handlers of the program that it has run: what
 * made a system call end with EINTR (hooks/eintr.c). */
extern __thread unsigned thread_samples_handled __attribute__((tls_model("initial-exec")));
extern __thread unsigned thread_program_handlers __attribute__((tls_model("initial-exec")));

/* A record for a thread that is going to be; NULL without memory. */
struct thread *thread_new(enum thread_kind kind);
/* Gives back a record that was not begun. */
void thread_discard(struct thread *thread);

/* Adopts the calling thread, whose stack is [stack_low, stack_high) (equal when not known), and
 * starts its events. `thread` may be NULL: then it stays unknown. */
void thread_begin(struct thread *thread, uint64_t stack_low, uint64_t stack_high);

/* In the thread, signals blocked: tells the agents that it begins. thread_begin does; once more for
 * agents that come before the program begins. */
void thread_tell_agents(struct thread *thread);

/* Stops the calling thread's events, writes what it has and gives up its record. */
void thread_end(void);

/* In the child of a fork: the calling thread becomes the only one, with an empty tree. */
void threads_after_fork(void);

/* Waits until no other thread is busy, at most `wait_ns`; false when one still is. */
bool threads_quiesce(uint64_t wait_ns);

/* Keeps a thread's handler from its events while another thread changes them, with the list locked:
 * samples that come meanwhile are none. False when the thread is in its handler and stays there. */
bool thread_hold(struct thread *thread);
void thread_let_go(struct thread *thread);

/* Calls `visit` for every live thread, with the list locked and signals blocked. */
void threads_visit(void (*visit)(struct thread *thread, void *data), void *data);
/* The same for those whose events are open; they are until `visit` returns. */
void threads_visit_events(void (*visit)(struct thread *thread, void *data), void *data);

/* Number of threads that have begun in this process image. */
uint32_t threads_count(void);
/* Signal handler: of these, how many have not ended. */
uint32_t threads_live(void);

/* Keep the list as it is around fork, in the forking thread. */
void threads_lock_for_fork(void);
void threads_unlock_after_fork(void);

/* A pseudo-random number, uniform in [0, limit); limit > 0. */
uint64_t thread_random(struct thread *thread, uint64_t limit);

#endif

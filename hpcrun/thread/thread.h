/* Signal handler: everything here is used there.
 *
 * What hpcrun knows of a thread that it samples. Its life is in life/thread-life.h, the list of all
 * in threads.h.
 *
 * Who may touch it: its thread, in the handler or with all signals blocked; another one only after
 * the process's sampling was stopped and `busy` seen false (threads_quiesce). The thread sets
 * `busy` before it looks whether sampling was stopped: samples after the stop only count themselves
 * in `missed`, and a thread that ends then leaves its data to the one that stopped. A thread that
 * begins is busy, too. */
#ifndef HPCRUN_THREAD_THREAD_H
#define HPCRUN_THREAD_THREAD_H

#include "hpcrun/config/run-config.h"
#include "hpcrun/logical/logical.h"
#include "hpcrun/thread/fate-counts.h"
#include "hpcrun/tree/cct.h"
#include "hpcrun/tree/saved-path.h"
#include "hpcrun/unwind/unwind.h"

#include <stdatomic.h>

struct joinable;

/* The deepest frame that stayed live from the creation to the join. */
struct join {
    uint32_t thread; /* index of the joined thread */
    uint32_t node;   /* of the frame in the creation path, in the joining thread's tree */
    uint64_t ip;     /* where the frame waits for the join, as in cct.h */
    bool is_cut;     /* frames inside it were not compared */
};

#define JOINS_KEPT 64

/* Joins that a thread has made of threads that it created, not yet written. */
struct joins {
    uint32_t count;
    struct join at[JOINS_KEPT];
};

/* One event as it is sampled in one thread; source/sample-source.h. */
struct thread_event {
    const struct event *event;
    enum sample_source source;    /* 0: not open */
    enum sample_source opened_as; /* what it last was, for the record */
    bool first;                   /* the next sample is the first after a start or resume */
    int fd;                       /* perf event */
    int timer, cpu_timer;         /* POSIX timers of the kernel */
    unsigned work, blocked, idleness, incomplete; /* ids of the metrics that it pays; metrics.h */
    uint64_t period; /* mean, as the user wants it; by rate: the mean when the event was started */
    uint64_t mean;   /* as it is armed with: `period`, or longer; by rate: as the counts are */
    uint64_t last;   /* the event's clock or count at the last sample */
    uint64_t armed;  /* the period that the next sample was armed with */
    uint64_t lag;    /* by how much samples come later than armed, on average */
    uint64_t due;    /* the clock or count at which the next sample is due */
    uint64_t last_cpu;    /* EVENT_REALTIME, by rate: the thread's CPU clock at the last sample */
    uint64_t measured_at; /* EVENT_REALTIME: the time stamp counter then */
    uint64_t pc, sp;      /* EVENT_COUNTER: where the last sample found the thread */
    unsigned standing;    /* EVENT_COUNTER: how many samples before it found it there, too */
    struct fate_count fates[FATE_SLOTS];
    struct fate_count missed; /* while the process was ending */
};

/* What a sample touches stands together: at every sample the caches are cold. */
struct thread {
    _Atomic bool busy; /* in the handler, at its beginning, or writing at its end */
    _Atomic bool held; /* another thread starts its events anew: no samples; thread_block_samples in
                          threads.h */
    bool quiet; /* threads_quiesce saw that it was not busy; not so a thread that began later */
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
    struct saved_path *creation_path; /* the same, up to where the first thread began */
    uint64_t began_wall, began_cpu;   /* clocks at first sight */
    struct joinable *joinable;   /* before it begins: what its creator keeps for a join, or NULL */
    struct joins *joins;         /* that it has made, not yet written */
    uint64_t start_ip;           /* of the start routine; 0 unknown */
    bool announced;              /* the THREAD chunk is written */
    bool written;                /* was written at its end, and is on its way out of the list */
    uint64_t ended_cpu;          /* its clock at its end; set before ended_wall */
    _Atomic uint64_t ended_wall; /* the clock at its end; 0: it lives */
    uint64_t start[4];           /* for hooks/thread-hooks.c: what the new thread is to run */
    struct agent_start_routine origin; /* the same, as agents are told */
};

/* This thread's record; NULL before thread_adopt and after thread_leave. Static TLS. */
extern __thread struct thread *thread_self __attribute__((tls_model("initial-exec")));

/* Signals of ours that this thread has handled, and handlers of the program that it has run: what
 * made a system call end with EINTR (restart/eintr.c). */
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

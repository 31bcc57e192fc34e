/* When threads did what: records of samples with their times, in measurements and in databases
 * (doc/FORMAT-hpcrun.md, TRACE; doc/FORMAT-database.md, timeline.db).
 *
 * A record says that its thread spent `amount` of an event, up to `time`, in one state and at one node
 * of its tree. Only one event is traced: the first one of wall-clock time, else the first one of CPU
 * time, else the first one. A sample makes one record for each state that it has time in: a sample of
 * wall-clock time may be 3 ms of work, 1 ms without a CPU and 6 ms off the CPU, all with the same time.
 *
 * Thinning. A thread keeps at most TRACE_RECORDS records, unless the run is traced in full. When it has
 * as many, each pair of neighbors becomes one record: one of the two, chosen with a probability
 * proportional to its amount, with the sum of both amounts and the later time. From then on twice as
 * many samples make a record, in the same way. So the sum of all amounts stays exactly that of the
 * samples, and the expected amount of any node and state is unbiased (Horvitz and Thompson 1952).
 *
 * A record is about the time from `time` - `amount` to `time`, those with the same time about pieces of
 * the same interval. Records of wall-clock time have no gaps. Between two records of CPU time there may
 * be one: a time in which the thread was off the CPU, or ready. */
#ifndef LIB_TRACE_FORMAT_H
#define LIB_TRACE_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

/* 128 + 256 + ... + 8192: what fills seven segments of an arena array. */
#define TRACE_RECORDS 16256

enum trace_state {
    TRACE_WORK = 1,     /* pays work, as all samples of code do; hpcprof finds what of it is overhead or waiting */
    TRACE_OVERHEAD = 2, /* in databases only */
    TRACE_WAITING = 3,  /* waits for another thread, or sleeps, in a call of libc or of a runtime */
    TRACE_IDLE = 4,     /* a worker without work; no node */
    TRACE_NOBODY = 5,   /* the same, while no worker has work */
    TRACE_RUNTIME = 6,  /* a thread that the runtime keeps for itself; no node */
    TRACE_READY = 7,    /* wants a CPU and has none */
    TRACE_OFF_CPU = 8,  /* is on no CPU, and wants none; its time is work, too */
    TRACE_DROPPED = 9,  /* a sample without a path; no node */
    TRACE_STATES = 10
};

/* In the word of amount and state. */
enum trace_flag {
    TRACE_STATE_MASK = 15,
    TRACE_WORKER = 16, /* a working worker: it pays idleness, if n_w < n */
    /* In databases only: by hpcprof's tags and rules, the record pays overhead or waiting instead of work. A
     * record in state TRACE_WAITING without the flag pays waiting because its thread waited in a call. */
    TRACE_AS_OVERHEAD = 32,
    TRACE_AS_WAITING = 64,
    TRACE_IN_KERNEL = 128, /* in databases only: the record pays `kernel`, too */
    TRACE_FLAG_BITS = 8,
    TRACE_FLAG_MASK = 255,
};

/* A record in the memory of its thread, and in the arena file. */
struct trace_record {
    uint64_t time;   /* of wall-clock events: CLOCK_MONOTONIC, ns; else the time stamp counter */
    uint64_t amount; /* shifted by TRACE_FLAG_BITS, with a state and flags; in the event's fixed point */
    uint32_t node;   /* of the thread's tree; 0: none */
    uint32_t n;      /* workers that can work at once: capacity */
    uint32_t working; /* n_w: those that work, or threads that do; the time of this instant is divided by it */
    uint32_t waiters; /* number of threads that wait for a lock that this thread holds */
};

/* ---- timeline.db ----
 *
 * The header; then arrays in any order. Little-endian; offsets count from the file's begin. */

#define TIMELINE_FILE    "timeline.db"
#define TIMELINE_MAGIC   "HPCTLINE"
#define TIMELINE_VERSION 1

struct timeline_header {
    char magic[8];
    uint32_t version;
    uint32_t event;     /* index in run.json's `events` */
    uint32_t shift;     /* amounts are in 2^-shift of ns, or of a count */
    uint32_t n_threads;
    uint64_t n_places;
    uint64_t threads, places; /* offsets */
    uint64_t begin;     /* time 0: ns since the epoch; one clock for all processes of a host */
    uint64_t unit;      /* ns of a unit of time: 1 if the run is shorter than 2^32 ns */
    uint64_t wake_lists; /* offset, parallel to threads. Earlier files have none: their arrays begin here */
};

/* The records of a thread, ascending by time; threads without records are listed, too. */
struct timeline_thread {
    uint32_t profile; /* index in profile.db; threads are sorted by it */
    uint32_t step;    /* samples for a record: 1 is complete, else a power of 2 */
    uint64_t records, n_records;
};

/* The waits of a thread that other threads of its process have ended, ascending by time. Its creation is the first
 * one, by its creator. */
struct timeline_wake_list {
    uint64_t wake_ups, n_wake_ups;
    /* Too many wake-ups are left out: of the windows of `window` ns from the time `first`, ns, on, one in `step` has all of
     * them, the others only those of long waits, and the creation. */
    uint64_t step, window, first;
};

struct timeline_wake_up {
    uint32_t time, began, released; /* when it went on, when it began to wait, and when it was released */
    uint32_t profile;               /* of the thread that released it */
};

struct timeline_record {
    uint32_t time;   /* units since `begin`: the end of what the record is about */
    uint32_t place;
    uint64_t amount; /* as in struct trace_record */
};

/* What records have in common. Fields that the state of the records has no use for are 0. */
struct timeline_place {
    uint32_t logical, physical; /* contexts of the two projections; 0: none */
    uint32_t n, working, waiters;
    uint32_t kind; /* index + 1 in run.json's `metrics` of the kind of overhead; 0: none */
};

static inline enum trace_state trace_state(uint64_t amount)
{
    return (enum trace_state)(amount & TRACE_STATE_MASK);
}

/* Whether records in a state are at a node. */
static inline bool trace_has_node(enum trace_state state)
{
    return state == TRACE_WORK || state == TRACE_OVERHEAD || state == TRACE_WAITING ||
           state == TRACE_READY || state == TRACE_OFF_CPU;
}

static inline uint64_t trace_amount(uint64_t amount)
{
    return amount >> TRACE_FLAG_BITS;
}

/* The word of an amount, and of a state with flags. */
static inline uint64_t trace_amount_word(uint64_t amount, unsigned state)
{
    return amount << TRACE_FLAG_BITS | state;
}

#endif

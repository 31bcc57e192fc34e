/* The state of each thread (agents/agent.h).
 *
 * Every thread of the program has one slot, with one state for all runtimes of the process. Two
 * kinds of functions write it: hpcrun's wrappers of waiting calls of libc (pthread_cond_wait,
 * sleep, ...), and wrappers of agents that interpose a runtime's functions. A change is a plain
 * store to the thread's own cache lines. Only samples read the slots of other threads.
 *
 *     from      to        when
 *     WORKING   WAITING   the program calls a function of libc that waits; back when that returns
 *     WORKING   CALLING   it calls one that moves data (read, send, ...); back when that returns
 *     CALLING   WAITING   a sample, of any thread, finds that this has taken too long for work
 *     WORKING   IDLE      the program calls a function of a runtime that waits; back when that
 *                         returns, or runs a body for the program
 *     IDLE      ASLEEP    the runtime calls such a function of libc; back when that returns
 *     WORKING   STARTING  the program begins a parallel region; back when the thread is in its body
 *     WORKING   TASKWAIT, BARRIER   like IDLE, in waits of OpenMP in which a thread takes tasks */
#ifndef AGENTS_AGENT_SLOTS_H
#define AGENTS_AGENT_SLOTS_H

#include "agents/semaphore-holders.h"

#include <stdbool.h>
#include <stdint.h>

enum agent_slot_state {
    AGENT_SLOT_FREE,     /* no thread has the slot */
    AGENT_SLOT_WORKING,  /* it executes code of the program, or of a runtime that works for it */
    AGENT_SLOT_WAITING,  /* it waits in a function of libc that the program called */
    AGENT_SLOT_IDLE,     /* it waits in a runtime, or looks for work there */
    AGENT_SLOT_ASLEEP,   /* the same, in a function of libc */
    AGENT_SLOT_CALLING,  /* it works in a function of libc that may wait */
    AGENT_SLOT_STARTING, /* its runtime starts a team: it waits, but for a short time in which it
                            prepares and wakes the team. Only its own samples tell these apart */
    AGENT_SLOT_TASKWAIT, /* it waits for tasks, and takes those that its task has created */
    AGENT_SLOT_BARRIER,  /* it waits for its team, and takes any task of that */
};

#define AGENT_MAX_EVENTS 8

struct agent;
struct agent_cursor;

/* A runtime's lock for which threads wait at a condition variable, such as an interpreter's. hpcrun's
 * wrappers of these calls say in the slot that the thread waits for this lock. */
struct agent_lock {
    const struct agent *agent;
    uint64_t condition; /* address of the pthread_cond_t */
    uint64_t locked;    /* address of an int; 0 there: the lock is free */
    uint64_t holder;  /* address of a pointer to a structure of the thread that has it, or had it */
    uint64_t tid;     /* offset of this thread's tid in that structure */
    uint64_t turns;   /* address of a number that changes whenever another thread gets the lock */
    const char *name; /* a constant, "<lock NAME>" */
    const char *
        kept; /* a constant, for where a thread has kept it for AGENT_LONG_MS while others waited */

    /* The interpreter's code. Semaphores that it uses as locks have the holders that hpcrun's wrappers saw there
     * (agents/semaphore-holders.h). */
    uint64_t code_start, code_size;
    const char *semaphore_name; /* a constant, "<lock NAME>" for all of them */

    /* Locks that are a byte each, which does not say who has it.
     *
     * has_byte: handler, after the path of the sample. Whether the cursor's thread has the lock whose byte is at an
     * address, as far as the agent knows. It may be asked for one lock after the other; the host has `read`.
     * Waiters: in the interpreter's code, on the stack before the semaphore: {address of what the thread waits with,
     * above the semaphore on the stack; lock}. The lock's byte is BYTE_IS_WAITED_FOR then. */
    bool (*has_byte)(const struct agent_cursor *cursor, uint64_t lock);
    const char *byte_name; /* a constant, "<lock NAME>" for all of them; NULL: there are no such bytes */
};

enum { BYTE_IS_WAITED_FOR = 3 };

#define AGENT_LONG_MS 20

/* What agent_slot.holder is the address of. */
#define AGENT_HOLDER_OF_LOCK      ((uint64_t)1 << 63)
#define AGENT_HOLDER_OF_SEMAPHORE ((uint64_t)1 << 62)
#define AGENT_HOLDER_OF_BYTE      ((uint64_t)1 << 61)

/* An rwlock does not say which threads have it for reading, and a spin lock not which one has it. So each thread notes
 * the first such locks that it has at the same time. */
#define AGENT_MAX_HELD 4

/* A thread as a member of a team of OpenMP. Only the thread writes this. */
struct agent_slot_team {
    _Atomic uint64_t id;      /* unique in the process; 0: the thread was in no team yet */
    _Atomic uint32_t created; /* tasks that the thread has created in this team */
    _Atomic uint32_t begun;   /* tasks of this team that the thread has begun */
};

/* A thread's waits for tasks of OpenMP. Samples, of any thread, look at their number about once in a
 * millisecond. */
struct agent_slot_waits {
    uint32_t count;                   /* number of waits; only the thread writes it */
    _Atomic uint32_t looked_at_count; /* `count` at the last look */
    _Atomic uint64_t looked_at;       /* time stamp counter at the last look */
    _Atomic bool are_short;           /* the thread waited often between the last two looks */
};

/* What an agent that interposes functions keeps of a thread. hpcrun clears the first two and `arrived` when the
 * thread ends. The others stay for the next thread with this slot. */
struct agent_slot_part {
    void *link;            /* innermost struct body_link (common/body-links.h); NULL: none */
    void *own;             /* the agent's; NULL: none */
    void *kept;            /* the agent's; NULL: none */
    void *records;         /* free task records */
    uint32_t record_count; /* their number */
    uint32_t teams;        /* number of teams that the thread has begun */
    uint32_t locks;        /* number of locks that it has taken: openmp/lock-owners.h */
    uint64_t arrived;      /* since when it waits for others (common/team-waits.h, tbb/task-wakers.h); 0: it does not */
    struct agent_slot_waits waits;
    struct agent_slot_team team; /* the innermost one whose member it is, or was last */
};

/* Tasks in a thread's own queue. Their numbers only grow, and stay for the next thread. */
struct agent_slot_tasks {
    _Atomic uint32_t queued; /* tasks that the thread has put there */
    _Atomic uint32_t begun;  /* those that it has begun itself */
    _Atomic uint32_t taken;  /* those that other threads have begun */
    uint32_t seen_taken;     /* `taken` when the thread last began to look for a task */
    _Atomic uint64_t taken_at; /* when another thread last began one. Only this and `taken` are written by others */
};

struct agent_slot {
    _Alignas(128) _Atomic uint32_t state; /* enum agent_slot_state */
    int tid;
    uint32_t number;         /* of the slot, hpcrun's */
    _Atomic uint64_t thread; /* the thread, for agent_cursor.owner; no later thread has the same */
    _Atomic uint64_t stack_low, stack_high; /* bounds of its stack; equal if unknown */

    /* The agents'. hpcrun clears the first two when the thread ends. */
    _Atomic uint32_t runtimes; /* those that have this thread as a worker: common/thread-slots.h */
    uint32_t pool;             /* runtime that created the thread; 0: none did */
    struct agent_slot_part gomp, ompt, tbb, openblas; /* of the agents gomp, openmp, tbb and openblas */
    struct agent_slot_tasks tasks;          /* of the agent tbb */

    uint64_t frame; /* waiting, calling: frame address of the wrapper */
    uint32_t calls; /* number of calls of wrappers so far */
    _Atomic uint64_t
        works_until;         /* calling: when the call takes too long for work; hpcrun's ticks */
    _Atomic uint64_t lock;   /* waiting; idle, asleep: address of the lock; 0: no lock */
    _Atomic uint64_t holder; /* waiting: address of the word (4 bytes) with the tid of the lock's
                                holder; 0: the lock has none. With AGENT_HOLDER_OF_LOCK: address of
                                a struct agent_lock. With AGENT_HOLDER_OF_SEMAPHORE: address of a word of
                                semaphore-holders.h. With AGENT_HOLDER_OF_BYTE: address of a struct agent_lock
                                that knows the holder (has_byte) */
    _Atomic uint64_t held[AGENT_MAX_HELD]; /* addresses of these locks; 0: none. Read by the thread's own samples only.
                                              The thread that destroys a lock removes its address */
    uint32_t held_turn;            /* number of samples of the thread while others waited for one that it shares */
    _Atomic uint32_t is_charged;              /* delay[] has amounts */
    _Atomic uint64_t delay[AGENT_MAX_EVENTS]; /* time that holders have charged to this wait, by
                                                   event, in the event's unit */
    _Atomic int64_t unpaid[AGENT_MAX_EVENTS]; /* by event of agent_slots.sampled_waits, in its unit: time that the
                                                 thread waited for locks, by its own samples, less what holders have
                                                 paid for it; negative: they paid more */
    /* hpcrun's. lock_since: ticks_now() at the begin of a wait for an interpreter's lock, which goes on in further
     * calls after a time-out, while the same thread has the lock; 0: none. lock_turn: agent_lock.turns then. */
    uint64_t lock_since, lock_turn;
};

/* Any context. The calling thread's slot; NULL: it has none. libhpcrun.so exports this: a function, which is NULL where
 * hpcrun is not there, and the variable that it returns, as a call would be much of what a free lock costs. Agents have
 * no thread-local storage of their own: under an auditor (LD_AUDIT) there is little room for that of all libraries. */
struct agent_slot *hpctoolkit_own_slot(void) __attribute__((weak, visibility("default")));
extern __thread struct agent_slot *hpctoolkit_thread_slot
    __attribute__((weak, tls_model("initial-exec"), visibility("default")));

/* Normal context. An agent says which thread ended a wait of another thread; the time line shows it. `object` is the
 * address of a lock, barrier, ..., or a number that cannot be an address. The functions are weak, as above.
 *
 * lets_go: the calling thread is about to release the threads that wait for the object; NULL: nothing. Returns the
 * current time.
 * waited: the calling thread has waited for the object since a time that lets_go returned. False: the wait was long
 * enough to be recorded, but no thread is known to have ended it.
 * woken_by: the same, where the agent knows the thread (agent_slot.thread) that has ended the wait, just now. */
uint64_t hpctoolkit_lets_go(const volatile void *object) __attribute__((weak, visibility("default")));
bool hpctoolkit_waited(const volatile void *object, uint64_t since) __attribute__((weak, visibility("default")));
void hpctoolkit_woken_by(uint64_t thread, uint64_t since) __attribute__((weak, visibility("default")));

/* Normal context. The calling thread, whose slot is_charged, has waited in a runtime for a lock, and works now. `name`:
 * a constant, "<lock NAME>"; NULL: the lock has the name of the variable at its address. Weak, as above. */
void hpctoolkit_waited_for_lock(const volatile void *lock, const char *name)
    __attribute__((weak, visibility("default")));

/* All slots: slot i is chunk[i / AGENT_SLOTS][i % AGENT_SLOTS]. Slots at `end` and above are free.
 * The memory stays. */
#define AGENT_SLOTS  64
#define AGENT_CHUNKS 256

struct agent_slots {
    _Atomic uint32_t end;
    uint32_t sampled_waits; /* bit i: event i samples threads also while they wait */
    struct agent_slot *_Atomic chunk[AGENT_CHUNKS];
};

/* Any context. Slot i, below `end`. */
static inline struct agent_slot *agent_slot_at(const struct agent_slots *slots, uint32_t i)
{
    return &slots->chunk[i / AGENT_SLOTS][i % AGENT_SLOTS];
}

#endif

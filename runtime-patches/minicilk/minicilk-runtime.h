/* Declarations that the runtime's files share. One runtime per process; workers are numbered from
 * 0, and worker 0 is the thread that runs a computation. */
#ifndef MINICILK_RUNTIME_H
#define MINICILK_RUNTIME_H

#include <pthread.h>

#include "minicilk.h"

/* The runtime's code and cilk_call_base are in two sections of their own. Their bounds tell a
 * profiler which frames are not the program's, also in a statically linked program. */
#define RUNTIME_CODE __attribute__((section("minicilk_text")))
#define BASE_CODE    __attribute__((section("minicilk_base"), noinline))

/* frame->entry of a procedure that has returned but waits for its children. */
#define ENTRY_RETURNED UINT16_MAX

struct worker {
    struct minicilk_worker inlined; /* first: bodies get its address */

    /* Read by profilers, see minicilk-introspect.h. */
    _Atomic(struct minicilk_frame *) base;
    _Atomic uint32_t state;
    _Atomic int32_t tid;

    /* Used by the owner only. */
    pthread_t thread; /* not set in worker 0 */
    unsigned random;
    struct minicilk_slot *slots;
    struct minicilk_slot *told; /* the observer is told of pops of the slots before this one, and of
                                   what is spawned from these; NULL: there is no observer */
    struct minicilk_slot *spares_end; /* observed: slots from here on have no spare frames */
    struct pool {
        struct minicilk_frame *free;
        int count;
    } pools[MINICILK_MAX_POOLED_UNITS + 1]; /* by units */

    /* Used by other workers; on a cache line that the owner seldom writes. */
    _Alignas(64) pthread_mutex_t lock; /* of the deque's head */
    _Atomic uint32_t asleep;           /* futex: 1 while it sleeps or is about to */
};

struct runtime {
    struct worker *workers; /* NULL: not initialized */
    int count;
    atomic_bool computing; /* a computation is being prepared or runs */
    atomic_bool root_done;
    atomic_bool ending; /* shutdown */
};

extern struct runtime minicilk_runtime;
extern struct minicilk_live minicilk_live;

/* The observer (minicilk-introspect.h) from initialization to shutdown; NULL: none. */
extern const struct minicilk_observer *minicilk_observer;

/* The worker's number, as observers know it. */
static inline unsigned minicilk_number(const struct minicilk_worker *worker)
{
    return (unsigned)((const struct worker *)worker - minicilk_runtime.workers);
}

/* minicilk-workers.c: the number of CPUs that the process may use. */
int minicilk_usable_cpus(void);

/* scheduler.c: executes `frame` (may be NULL), then any work it finds, until minicilk_ended: worker
 * 0 ends with the computation, the others with the runtime. */
void minicilk_schedule(struct worker *worker, struct minicilk_frame *frame);

/* Counts the end of a child that ran on another worker. Returns the parent if it waited for this
 * child only, so that the caller must resume it; else NULL. */
struct minicilk_frame *minicilk_join(struct minicilk_frame *parent);

bool minicilk_ended(const struct worker *worker);

/* steal.c: steals the oldest frame of some other worker; NULL if there is none. */
struct minicilk_frame *minicilk_steal(struct worker *thief);
bool minicilk_work_visible(void);
void minicilk_reset_deque(struct worker *worker);

/* idle.c: waits for work; NULL after minicilk_ended. */
void minicilk_idle_init(void);

/* Sets worker->told, with the pops that are slow for it. */
void minicilk_tell_before(struct worker *worker, struct minicilk_slot *slot);
struct minicilk_frame *minicilk_find_work(struct worker *worker);
void minicilk_wake(struct worker *worker);

/* A full memory barrier in every running thread of the process; only in the calling one if
 * there is no membarrier. */
void minicilk_barrier_everywhere(void);

/* pool.c: memory of frames. */
struct minicilk_frame *minicilk_new_root(struct worker *worker, minicilk_body *body, size_t size);
void minicilk_free_base(struct worker *worker, struct minicilk_frame *frame);
void minicilk_drop_spares(struct worker *worker, struct minicilk_slot *from);
void minicilk_free_all(void); /* all pools; no worker may run */

/* computation.c: prints one line to stderr. */
void minicilk_complain(const char *format, ...) __attribute__((format(printf, 1, 2), cold));

#endif

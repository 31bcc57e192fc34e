/* What the runtime's files share. One runtime per process; workers are numbered from 0, and
 * worker 0 is the thread that runs a computation. */
#ifndef MINICILK_RUNTIME_H
#define MINICILK_RUNTIME_H

#include <pthread.h>

#include "minicilk.h"

/* All code of the runtime, and cilk_call_base, lie in sections of their own: their bounds tell a
 * profiler which frames are not the program's, also in a statically linked program. */
#define RUNTIME_CODE __attribute__((section("minicilk_text")))
#define BASE_CODE    __attribute__((section("minicilk_base"), noinline))

/* The entry of a frame whose procedure has returned but waits for its children. */
#define ENTRY_RETURNED UINT16_MAX

struct worker {
    struct minicilk_worker inlined; /* first: bodies get its address */

    /* For minicilk-introspect.h. */
    _Atomic(struct minicilk_frame *) base;
    _Atomic uint32_t state;
    _Atomic int32_t tid;

    /* The owner's. */
    pthread_t thread; /* not worker 0's */
    unsigned random;
    struct minicilk_slot *slots;
    struct pool {
        struct minicilk_frame *free;
        int count;
    } pools[MINICILK_MOST_KEPT + 1]; /* by units */

    /* What others use, apart from what the owner writes all the time. */
    _Alignas(64) pthread_mutex_t lock; /* of the deque's head */
    _Atomic uint32_t asleep;           /* futex: 1 while it sleeps or is about to */
};

struct runtime {
    struct worker *workers; /* NULL: not initialised */
    int count;
    atomic_bool computing; /* a computation is being prepared or runs */
    atomic_bool root_done;
    atomic_bool ending; /* shutdown */
};

extern struct runtime minicilk_runtime;
extern struct minicilk_live minicilk_live;

/* minicilk-workers.c: how many CPUs the process may use. */
int minicilk_usable_cpus(void);

/* scheduler.c: executes `frame` (may be NULL) and then whatever there is to do, until the worker's
 * business ends: worker 0's with the computation, the others' with the runtime. */
void minicilk_schedule(struct worker *worker, struct minicilk_frame *frame);

/* A child of `parent` that ran elsewhere has ended. The parent, if it waited for just that. */
struct minicilk_frame *minicilk_join(struct minicilk_frame *parent);

/* Whether the worker's business has ended. */
bool minicilk_ended(const struct worker *worker);

/* steal.c: the oldest frame of some other worker, now ours to go on with, or NULL. */
struct minicilk_frame *minicilk_steal(struct worker *thief);
bool minicilk_work_visible(void);
void minicilk_reset_deque(struct worker *worker);

/* idle.c: waits for work; NULL when the worker's business has ended. */
void minicilk_idle_init(void);
struct minicilk_frame *minicilk_find_work(struct worker *worker);
void minicilk_wake(struct worker *worker);

/* barrier.c: a full memory barrier in every running thread of the process; in the calling one at
 * least, where the kernel offers no more (minicilk_fenced). */
void minicilk_barrier_init(void);
void minicilk_barrier_everywhere(void);

/* pool.c: memory of frames. */
struct minicilk_frame *minicilk_new_root(struct worker *worker, minicilk_body *body, size_t size);
void minicilk_free_base(struct worker *worker, struct minicilk_frame *frame);
void minicilk_free_all(void); /* all pools, when no worker runs */

/* message.c: one line to stderr. */
void minicilk_complain(const char *format, ...) __attribute__((format(printf, 1, 2), cold));

#endif

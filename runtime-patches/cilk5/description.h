/* For profilers: the number of workers that execute procedures at this instant, the offset at which
 * the runtime's closures keep the address of the statement that spawned them, and an observer of the
 * dag of spawns.
 *
 * Code in procedures tells the events that need no thief; the runtime tells the others, with its locks
 * held where they order events of different workers. A worker has a stack of procedures; the bottom
 * one is its base. `frame` identifies a procedure until it ends. */
#define HPCTOOLKIT_CILK5_MAGIC 0x326b6c6963637068ull /* "hpccilk2": the second version */

struct hpctoolkit_cilk5_observer {
    /* A computation begins: some worker will resume this frame. `site` is the return address of the
     * call of the runtime. Returns the observer of this computation; NULL: none. */
    const struct hpctoolkit_cilk5_observer *(*run_begins)(const void *frame, const void *site);
    void (*run_ended)(void);
    /* The worker continues with a base: the first frame, a stolen one, or one that was suspended. */
    void (*resumed)(int worker, const void *frame);
    /* The top procedure calls another one, at `site`; `depth` is the new one's index on the stack, and
     * *slow is the address of its slow clone. Not 0: until the new one returns, or the worker continues
     * with another base, nothing is told of it and what it calls but thefts. */
    int (*spawned)(int worker, long depth, const void *const *slow, const void *site);
    /* The top procedure has ended, and its parent continues. */
    void (*returned)(int worker);
    /* The top procedure has ended, and its parent was stolen from this worker. */
    void (*orphaned)(int worker);
    /* The children of the top procedure have ended. */
    void (*synced)(int worker);
    /* The base waits for children that other workers execute. */
    void (*suspended)(int worker, const void *frame);
    void (*ended)(int worker); /* the base */
    /* Called by the thief: takes the lowest frame of the victim that was not stolen yet. */
    void (*stolen)(int victim, const void *frame);
};

struct hpctoolkit_cilk5 {
    unsigned long long magic;
    unsigned int size, site_in_closure;
    int working;
    const struct hpctoolkit_cilk5_observer *observer; /* set from outside; NULL: none */
};

/* minicilk: a small work-stealing runtime for fork-join programs in plain C, after Cilk-5.
 *
 * A program spawns procedures, which may run in parallel, and waits for them with a sync. Idle
 * workers steal the *continuation* of a procedure that has spawned: a one-worker run is the serial
 * program. Any C11 compiler with GNU extensions (gcc, clang) builds it: no translator. Link with
 * -lminicilk -lpthread.
 *
 * A whole program (fib.c):
 *
 *     #include <minicilk.h>
 *     #include <stdio.h>
 *
 *     // A procedure: its arguments, where its results go and its locals are fields of its frame.
 *     CILK_PROC(fib, int n; long *result; long x; long y;);
 *
 *     CILK_BODY(fib)
 *     {
 *         CILK_BEGIN(fib); // from here on, `f` is this activation's frame
 *         if (f->n < 2) {
 *             *f->result = f->n;
 *             CILK_RETURN;
 *         }
 *         CILK_SPAWN(fib, a->n = f->n - 1; a->result = &f->x); // `a` is the child's frame
 *         CILK_SPAWN(fib, a->n = f->n - 2; a->result = &f->y);
 *         CILK_SYNC(); // x and y are there only now
 *         *f->result = f->x + f->y;
 *         CILK_END;
 *     }
 *
 *     int main(void)
 *     {
 *         long result;
 *         if (minicilk_init(0) != 0) // 0: as many workers as MINICILK_WORKERS or the CPUs say
 *             return 1;
 *         if (CILK_RUN(fib, a->n = 30; a->result = &result) != 0)
 *             return 1;
 *         minicilk_shutdown();
 *         printf("fib(30) = %ld\n", result);
 *     }
 *
 *     $ gcc -O2 -g fib.c -lminicilk -lpthread && MINICILK_WORKERS=4 ./a.out
 *
 * Rules of a body
 *   - CILK_BEGIN is first, CILK_END last.
 *   - What must survive a spawn or a sync is a field of the frame. After either, the body may have
 *     been entered anew on another thread, and C locals have no value. gcc's -Wall finds most
 *     mistakes at -O2. Locals between two such points are fine. Variable-length arrays can't be in
 *     scope there (the compiler says so).
 *   - A spawn or sync may be in loops and conditions, but not inside a `switch` of the body: the
 *     program aborts with a message when it would resume there.
 *   - Only bodies spawn and sync. They may call ordinary C functions, which can't spawn.
 *   - Results are passed through pointers, as above, and are valid after the sync.
 *   - A procedure's return waits for all its children, like a sync.
 *   - Fields start with indeterminate values: set every argument in the spawn.
 *   - A body may continue in another thread: thread-local storage, `errno` and locks held across a
 *     spawn or sync don't belong to the activation.
 *   - After fork() the child can't use the runtime.
 *
 * Ownership: the runtime owns all frames. A pointer to a field of f is valid until f's procedure
 * returns; `a` only inside its CILK_SPAWN.
 *
 * Errors: functions return 0 or an errno value, and print one line to stderr, "minicilk: CAUSE".
 * Errors that a running computation can't survive (no memory for a frame, spawns nested deeper than
 * MINICILK_DEPTH, a body resumed inside a switch) print the line and abort. A C stack of 8 MiB has
 * room for some hundred thousand nested spawns of small bodies; worker threads get pthread's
 * default size (ulimit -s).
 *
 * Profiles. Code that exists only for parallelism is tagged with a source file named
 * "hpctoolkit:parallel-overhead:KIND"; KIND is spawn, sync, steal, scheduler or loop. The tags
 * don't change the machine code. At -O2, 94 of the 156 instructions of fib above are tagged (gcc
 * 12; clang 14: 93 of 151), among them every access to the deque and to frame headers; they take
 * half of fib's time on one worker. Not tagged:
 *
 *     code                                                      on the line of
 *     prologue and epilogue                                     CILK_BODY, CILK_END
 *     dispatch on re-entry                                      CILK_BEGIN
 *     stores of arguments, the call, the outcome that is        CILK_SPAWN, CILK_SYNC
 *       returned when the body is stolen or suspends */
#ifndef MINICILK_H
#define MINICILK_H

#include "minicilk-inline.h"

/* Largest number of workers, and of nested spawns. */
#define MINICILK_MAX_WORKERS 256
#define MINICILK_DEPTH       (1 << 18)

/* Starts the workers. `workers` is in 1..MINICILK_MAX_WORKERS, or 0 for the value of the
 * environment variable MINICILK_WORKERS or, if that is unset or empty, the number of CPUs that the
 * process may use. The thread that calls CILK_RUN counts as a worker, so `workers` - 1 threads are
 * created. EINVAL: number out of range. EALREADY: already initialized. ENOEXEC: the program was
 * compiled for another version of the library. EAGAIN, ENOMEM: no threads or memory; nothing was
 * started. */
static inline int minicilk_init(int workers)
{
    return minicilk_init_abi(workers, MINICILK_ABI);
}

/* Ends the workers' threads and frees all memory. EINVAL: not initialized. EBUSY: a computation is
 * running. minicilk_init may follow. */
MINICILK_API int minicilk_shutdown(void);

/* The number of workers; 0 if not initialized. */
MINICILK_API int minicilk_workers(void);

/* CILK_PROC(name, fields): declares the procedure `name`, whose frame is a struct `name` with these
 * fields. Like a prototype, it may stand in a header. CILK_STATIC_PROC: for this file only. */
#define CILK_PROC(name, ...)                                                                       \
    MINICILK_FRAME(name, __VA_ARGS__);                                                             \
    MINICILK_PROTOTYPE(name)
#define CILK_STATIC_PROC(name, ...)                                                                \
    MINICILK_FRAME(name, __VA_ARGS__);                                                             \
    static MINICILK_PROTOTYPE(name)

/* CILK_BODY(name) { CILK_BEGIN(name); ...; CILK_END; } defines it. */
#define CILK_BODY(name)                                                                            \
    int name(__attribute__((unused)) struct minicilk_worker *minicilk_worker,                      \
             struct minicilk_frame *minicilk_frame, unsigned minicilk_entry)

// clang-format off
#define CILK_BEGIN(name)                                                                           \
    struct name *const f = (struct name *)minicilk_frame;                                          \
    enum { minicilk_offset = __COUNTER__ - MINICILK_ENTRY };                                                   \
    switch (__builtin_expect(minicilk_entry, 0)) {                                                 \
    default: minicilk_lost(#name);                                                                 \
    case 0: minicilk_enter(&f->minicilk, __builtin_return_address(0))

#define CILK_END                                                                                   \
    }                                                                                              \
    return MINICILK_DONE
// clang-format on

/* The procedure is done; waits for its children. */
#define CILK_RETURN return MINICILK_DONE

/* CILK_SPAWN(name, assignments): calls the procedure `name` so that what follows may run in
 * parallel with it. The assignments, separated by semicolons, set the fields of its frame `a`. */
#define CILK_SPAWN(name, ...) MINICILK_SPAWN(__COUNTER__ - minicilk_offset, name, __VA_ARGS__)

/* Waits for all children of this procedure. */
#define CILK_SYNC() MINICILK_SYNC(__COUNTER__ - minicilk_offset)

/* CILK_RUN(name, assignments): from a thread outside the runtime, runs the procedure `name` and
 * all its children to their end; the calling thread is worker 0. One computation at a time. Its
 * value is 0, or EINVAL: minicilk_init was not called; EBUSY: a computation is running (or it was
 * called from a body); ENOMEM. */
#define CILK_RUN(name, ...)                                                                        \
    __extension__({                                                                                \
        struct minicilk_frame *minicilk_root;                                                      \
        int minicilk_status = minicilk_prepare(#name, name, sizeof(struct name), &minicilk_root);  \
        if (minicilk_status == 0) {                                                                \
            struct name *const a = (struct name *)minicilk_root;                                   \
            __VA_ARGS__;                                                                           \
            minicilk_run(&a->minicilk);                                                            \
        }                                                                                          \
        minicilk_status;                                                                           \
    })

/* Executes a piece of a parallel loop: the iterations begin <= i < end. */
typedef void minicilk_range(long begin, long end, void *data);

/* A parallel loop by recursive halving: calls range(b, e, data) for pieces of [begin, end) of at
 * most `grain` iterations; spawn it like any procedure. grain 0: an eighth of a worker's share, at
 * most 2048. An empty range does nothing. */
// clang-format off
CILK_PROC(minicilk_for, long begin; long end; long grain; minicilk_range *range; void *data;
          long middle;);
// clang-format on

/* In a body: spawns the loop and waits for it, and for the procedure's other children. The
 * arguments are evaluated once. */
#define CILK_FOR(begin_, end_, grain_, range_, data_)                                              \
    do {                                                                                           \
        CILK_SPAWN(minicilk_for, a->begin = (begin_); a->end = (end_); a->grain = (grain_);        \
                   a->range = (range_); a->data = (data_));                                        \
        CILK_SYNC();                                                                               \
    } while (0)

#endif

/* Runs a function over a range of indices in several threads, for the tools. */
#ifndef LIB_PARALLEL_H
#define LIB_PARALLEL_H

#include <pthread.h>
#include <stddef.h>

/* Processes one index. `worker` is below the number of workers: calls with the same worker run one
 * after another, calls with different workers run at the same time. */
typedef void parallel_task(void *context, unsigned worker, size_t index);

/* Calls `task` once for every index below `count`, in ascending order, from up to `workers` threads
 * (at least 1; the caller is one). Returns when all calls have returned. */
void parallel_for(size_t count, unsigned workers, parallel_task *task, void *context);

/* As parallel_for, for many short tasks that do not wait for each other: a worker takes some neighbors
 * at a time, in ascending order, so that workers seldom wait for the counter, and seldom write to one
 * cache line where their results stand side by side. */
void parallel_for_many(size_t count, unsigned workers, parallel_task *task, void *context);

/* As parallel_for, and then calls `finish` once for every index, in ascending order and one call at a
 * time, each after the call of `task` for that index. Tasks run ahead of `finish` by a bounded number
 * of indices: what they leave for it takes bounded memory. */
typedef void parallel_finish(void *context, size_t index);
void parallel_in_order(size_t count, unsigned workers, parallel_task *task, parallel_finish *finish,
                       void *context);

/* Lets tasks of parallel_for do a part of their work in the order of their indices. A task waits for
 * its turn, does that part, and passes the turn on; it may go on with other work. All tasks must
 * take their turns. No task waits forever, since those with smaller indices began before.
 * parallel_in_order does not wait, but what its tasks leave exists once for several indices for each
 * worker; with turns once for each worker. */
struct parallel_turns {
    pthread_mutex_t lock;
    pthread_cond_t passed;
    size_t next; /* index of the task whose turn it is */
};

void parallel_turns_start(struct parallel_turns *turns);
void parallel_turn_wait(struct parallel_turns *turns, size_t index);
void parallel_turn_pass(struct parallel_turns *turns);
void parallel_turns_end(struct parallel_turns *turns);

/* Number of CPUs that the process may use, at least 1: the default of -j. */
unsigned parallel_default_workers(void);

#endif

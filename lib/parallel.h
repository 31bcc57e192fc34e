/* Runs a function over a range of indices in several threads, for the tools. */
#ifndef LIB_PARALLEL_H
#define LIB_PARALLEL_H

#include <stddef.h>

/* Processes one index. `worker` is below the number of workers: calls with the same worker run one
 * after another, calls with different workers run at the same time. */
typedef void parallel_task(void *context, unsigned worker, size_t index);

/* Calls `task` once for every index below `count`, in ascending order, from up to `workers` threads
 * (at least 1; the caller is one). Returns when all calls have returned. */
void parallel_for(size_t count, unsigned workers, parallel_task *task, void *context);

/* As parallel_for, and then calls `finish` once for every index, in ascending order and one call at a
 * time, each after the call of `task` for that index. Tasks run ahead of `finish` by a bounded number
 * of indices: what they leave for it takes bounded memory. */
typedef void parallel_finish(void *context, size_t index);
void parallel_in_order(size_t count, unsigned workers, parallel_task *task, parallel_finish *finish,
                       void *context);

/* Number of CPUs that the process may use, at least 1: the default of -j. */
unsigned parallel_default_workers(void);

#endif

/* Handler. Tasks of asyncio: coroutines that an event loop runs.
 *
 * The loop calls the coroutine of a task. So on the stack all tasks are side by side, below the loop.
 * Until 3.13, asyncio.tasks._current_tasks, a dict, has the task that each loop runs; then the thread state has
 * it. Mostly another task waits for it,
 * in a coroutine that is suspended. The task leads to that: when it is done, it calls callbacks.
 *
 *     made by                           callback                     refers to
 *     await task, wait_for (3.12 on)    a method of the waiting task that task
 *     TaskGroup                         a method of the group        the task that has begun the group
 *     gather, wait, shield              a function, in its closure   a future for which the task waits
 *     wait_for (3.11)                   a partial                    the same
 *
 * The line that has created a task is recorded nowhere. */
#ifndef AGENTS_PYTHON_TASKS_H
#define AGENTS_PYTHON_TASKS_H

#include "agents/python/python-objects.h"

/* The task that runs, if its coroutine has this frame; else 0. `thread`: the state of the calling thread. */
uint64_t python_task(const struct python_reader *r, uint64_t thread, uint64_t frame);

/* The task that waits for a task; 0: none does. */
uint64_t python_waiting_task(const struct python_reader *r, uint64_t task);

/* The frames of the coroutines of a task that is suspended, the outermost first; their number. */
#define PYTHON_MOST_SUSPENDED 256
uint32_t python_suspended(const struct python_reader *r, uint64_t task, uint64_t *frames);

#endif

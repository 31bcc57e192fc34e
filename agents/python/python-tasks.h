/* Handler. Tasks of asyncio: coroutines that an event loop runs.
 *
 * The loop calls the coroutine of a task, in Handle._run. So on the stack all tasks are side by side, below
 * the loop. But mostly another task waits for the task, in a coroutine that is suspended. The task leads to
 * it: when it is done, it calls callbacks.
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

/* The task whose coroutine has this frame, as the function's frame around it has called it; 0: it is no
 * event loop that has called it, or no task. */
uint64_t python_task(const struct python_reader *r, uint64_t frame, uint64_t around);

/* The task that waits for a task; 0: none does. */
uint64_t python_waiting_task(const struct python_reader *r, uint64_t task);

/* The frames of the coroutines of a task that is suspended, the outermost first; their number. */
#define PYTHON_MOST_SUSPENDED 256
uint32_t python_suspended(const struct python_reader *r, uint64_t task, uint64_t *frames);

#endif

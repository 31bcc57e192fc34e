/* Work, span and burdened span of programs in OpenMP's model of regions and tasks, computed while
 * they run, with any number of threads.
 *
 * METHOD. work-span.h needs a runtime that executes a child before its parent goes on. OpenMP queues
 * the child: it may end before or after its parent, in any thread, and who waits for it is decided
 * later. So every task has the longest path from its region's begin to its current point, split by
 * calling context. It is a clock of the ideal machine:
 *
 *     1. A strand lengthens the path of its task.
 *     2. A created task begins with a copy of its creator's path: as it is at the creation, or at
 *        the begin of a task that the creator waits for.
 *     3. A task that ends offers its path to all that may wait for it: its parent, its innermost
 *        taskgroup, and the next barrier of its team. The longest one stays there.
 *     4. A join (taskwait, end of a taskgroup, barrier) makes the offered path that of the task which
 *        waited, if it is longer. A task that its creator waits for (`if(0)`, `final`) does so at its
 *        end.
 *     5. When a region ends, its longest path is appended to that of the task which began it, or to
 *        the program's.
 *
 * A path has as many entries as calling contexts, so memory is proportional to the tasks that have
 * not ended and to open groups and regions. A task that never runs, in a cancelled region, keeps its
 * memory.
 *
 * WHAT IS IN NO STRAND. Time in the runtime: creating tasks, waiting, also for locks. So waiting for
 * a lock is neither work nor span.
 *
 * BURDEN. A task that others may execute moves to another thread: its path begins with the burden.
 * So does each later part of a task that is executed in parts.
 * Likewise for the members of a team other than the thread that began the region. What follows the
 * creation stays in its thread.
 *
 * LIMITS. Dependences of tasks (depend), and the order of ordered and doacross loops, are not
 * followed: task_span_is_lower_bound then. A worksharing loop is what its threads executed of it:
 * its parallelism is at most the number of threads. Regions that several threads of the program
 * begin at the same time have no common span: task_span_problem tells that, and what an agent could
 * not follow.
 *
 * The functions of events are those of struct agent_tasks in agents/agent-events.h. */
#ifndef HPCRUN_SPAN_TASK_SPAN_H
#define HPCRUN_SPAN_TASK_SPAN_H

#include "agents/agent.h"
#include "hpcrun/span/task-threads.h"

/* Normal context, after work_span_init. `burden` in ns. `root_site` is called when the serial code
 * begins a region at this return address: the site of the region's context. */
void task_span_init(uint64_t burden, uint64_t (*root_site)(uint64_t site));

/* From now on, events do nothing. */
void task_span_stop(void);

void *task_span_region_begins(const void *code, const void *site);
void task_span_region_code(void *region, const void *code);
void task_span_region_ended(void *region);
void task_span_member_begins(void *region);
void task_span_member_ended(void);
void *task_span_created(const void *code, const void *site, unsigned flags);
void task_span_creation_ended(void);
void task_span_task_begins(void *task);
void task_span_task_ended(void);
void task_span_part_ended(void);
void task_span_ended_elsewhere(void *task);
void task_span_waits(enum agent_join what);
void task_span_wait_ended(enum agent_join what);
void task_span_group_begins(void);
void task_span_cannot_follow(const char *why);

/* Why the values are not right; a string constant, NULL: they are. At the end. */
const char *task_span_problem(void);

/* Whether some order of tasks was not followed. */
bool task_span_is_lower_bound(void);

#endif

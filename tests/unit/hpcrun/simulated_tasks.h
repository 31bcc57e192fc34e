/* Executes random programs by simulated threads with a simulated clock, as libgomp would, in random
 * order. It takes the place of span/strand-clock.c and span/task-threads.c. */
#ifndef TESTS_UNIT_HPCRUN_SIMULATED_TASKS_H
#define TESTS_UNIT_HPCRUN_SIMULATED_TASKS_H

#include "hpcrun/span/task-threads.h"
#include "tests/unit/hpcrun/random_tasks.h"
#include "tests/unit/hpcrun/simulated_clock.h"

enum { MAX_THREADS = 256 };

/* Of the threads; `self` is the one whose event comes next. */
extern struct task_thread records[MAX_THREADS], *self;

/* A program that is one region of this number of members, behind serial code. */
void execute_program(const struct body *body, int members, uint64_t serial);

#endif

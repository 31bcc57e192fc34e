/* Executes random programs by simulated threads with a simulated clock, as libgomp would, in random
 * order. It takes the place of span/strand-clock.c and span/task-threads.c. */
#ifndef TESTS_UNIT_HPCRUN_SIMULATED_TASKS_H
#define TESTS_UNIT_HPCRUN_SIMULATED_TASKS_H

#include "hpcrun/span/task-threads.h"
#include "tests/unit/hpcrun/program_graph.h"
#include "tests/unit/hpcrun/simulated_clock.h"

enum { MAX_THREADS = 256, SITES = 2 };

/* Addresses that stand for those of procedures and calls. */
extern char code_of[PROCEDURES], site_of[SITES];

/* Its low bits are random, too: a scheduler must not repeat itself. */
unsigned random_below(unsigned limit);

/* Bodies with steps that the program which is being made may still have. */
extern int bodies_left;

/* A random program. The body of a member of a team passes barriers. */
struct body *make_body(int depth, int barriers);

/* Of the threads; `self` is the one whose event comes next. */
extern struct task_thread records[MAX_THREADS], *self;

/* A program that is one region of this number of members, behind serial code. */
void execute_program(const struct body *body, int members, uint64_t serial);

#endif

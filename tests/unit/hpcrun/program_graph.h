/* Random programs for tests of work and span, and both by their definition: the longest path in an explicit graph of all
 * strands and all that they wait for, which knows nothing of workers and steals. */
#ifndef TESTS_UNIT_HPCRUN_PROGRAM_GRAPH_H
#define TESTS_UNIT_HPCRUN_PROGRAM_GRAPH_H

#include "hpcrun/span/span-results.h"

#include <stdbool.h>
#include <stdint.h>

enum { BURDEN = SPAN_BURDEN_NS, PROCEDURES = 4, MAX_STEPS = 16, MAX_CONTEXTS = 4096 };

/* PART: a task that is in parts is left, and executed further by any thread; others go on. */
enum kind { NOTHING, CREATE, MANY, CALL, WAIT, GROUP, GROUP_END, BARRIER, REGION, PART };

/* Up to a point of the programs, along the path through it. */
struct lengths {
    uint64_t work, span[KINDS];
};

/* An activation of a procedure, or a task: strands of time[i], each followed by steps[i] or by the end. */
struct body {
    const void *code, *site;
    bool is_hidden; /* its code counts as that of the context around it */
    bool is_task;   /* of Cilk, and hidden: its site is that of what it calls */
    int n;
    uint64_t time[MAX_STEPS + 1];
    struct step {
        enum kind kind;
        unsigned flags;
        int count;            /* MANY: tasks; REGION: members */
        struct body *child;   /* of all of them */
        struct lengths probe; /* expected before the step */
    } steps[MAX_STEPS];
    struct body *parent; /* the caller, or the creating one; NULL: serial code */
    /* Of the simulated schedulers of Cilk. */
    unsigned procedure, place; /* numbers of its code and its site */
    const void *frame;
    enum phase { BEGINS, RUNS, CONTINUES, WAITS, SYNCS, EXITED } phase;
    int at, children; /* next step; tasks in other workers */
    bool waits;
    struct stack *suspended;
};

void free_body(struct body *body);

/* Sums over all programs. */
extern struct expected {
    struct lengths all;
    struct span_values by[MAX_CONTEXTS];
} expected;

/* Contexts so far: recursion ends in the outermost activation's. 0 is that of the serial code. */
extern int context_count;

/* Adds what a program must have that begins after a serial strand: one region; or a procedure of Cilk, which waits at its
 * end for what it has spawned, and whose continuations bear the burdens. */
void expect_region(struct body *body, int members, uint64_t serial);
void expect_cilk(struct body *root, uint64_t serial);

/* The product's results are the expected ones. */
void compare_results(struct span_totals totals);

#endif

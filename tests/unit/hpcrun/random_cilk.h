/* Random programs as a compiler of Cilk sees them, with their work and span by a recursive definition
 * that knows nothing of workers and steals. */
#ifndef TESTS_UNIT_HPCRUN_RANDOM_CILK_H
#define TESTS_UNIT_HPCRUN_RANDOM_CILK_H

#include "hpcrun/span/span-results.h"
#include "tests/unit/random_numbers.h"

#include <stdbool.h>
#include <stdint.h>

enum { PROCEDURES = 4, SITES = 3, MAX_STEPS = 12, MAX_CONTEXTS = 2048, MAX_NESTING = 24 };

enum kind { NOTHING, SPAWN, CALL, SYNC };

/* Up to a point of the program, along the path through it. */
struct lengths {
    uint64_t work, span[KINDS];
};

/* An activation of a procedure, or a task: strands of time[i], each followed by steps[i] or the end. */
struct body {
    bool is_task, has_hooks; /* has_hooks: of a procedure; false: it does not spawn */
    unsigned code, site;     /* procedure; where it is called or spawned */
    int n;
    uint64_t time[MAX_STEPS + 1];
    struct step {
        enum kind kind;
        struct body *child;   /* SPAWN, CALL */
        struct lengths probe; /* expected before the step */
    } steps[MAX_STEPS];
    struct body *parent; /* the caller, or the spawning one; NULL: serial code */
    /* Of the simulated scheduler. */
    const void *frame;
    enum phase { BEGINS, RUNS, CONTINUES, WAITS, SYNCS, EXITED } phase;
    int at, children; /* next step; tasks in other workers */
    struct stack *suspended;
};

struct body *make_root(void);
void free_body(struct body *body);

/* Where contexts are by their definition: recursion ends in the outermost activation's. */
struct defined {
    int parent;
    unsigned code, site;
    struct span_values values;
};
extern struct defined defined[MAX_CONTEXTS];
extern int defined_count;

/* The context of a procedure, made if it is new. */
int defined_below(int parent, unsigned code, unsigned site);

/* Of all programs so far. */
extern struct lengths expected;

/* Adds what a program must have that begins after a serial strand. */
void expect(struct body *root, uint64_t serial);

#endif

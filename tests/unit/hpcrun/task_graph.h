/* Work and span of a random program by their definition: the longest path in an explicit graph of all
 * strands and all that they wait for. */
#ifndef TESTS_UNIT_HPCRUN_TASK_GRAPH_H
#define TESTS_UNIT_HPCRUN_TASK_GRAPH_H

#include "hpcrun/span/span-results.h"
#include "tests/unit/hpcrun/random_tasks.h"

enum { MAX_CONTEXTS = 4096 };

/* Sums over all programs. */
extern struct expected {
    uint64_t work, span[KINDS];
    struct span_values by[MAX_CONTEXTS]; /* context_below */
} expected;

/* Contexts so far; 0 is that of the serial code. */
extern int context_count;

/* The context of a procedure below another one, new or known. */
int context_below(int parent, const void *code, const void *site);

/* Adds the longest paths of a program that is one region behind serial code. */
void expect(const struct body *body, int members, uint64_t serial);

#endif

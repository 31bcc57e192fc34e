/* Random programs of OpenMP's regions and tasks, for tests of work and span. */
#ifndef TESTS_UNIT_HPCRUN_RANDOM_TASKS_H
#define TESTS_UNIT_HPCRUN_RANDOM_TASKS_H

#include <stdint.h>

enum { BURDEN = 5000, PROCEDURES = 4, SITES = 2, MAX_STEPS = 16 };

/* PART: a task that is in parts is left, and executed further by any thread; others go on. */
enum kind { NOTHING, CREATE, MANY, WAIT, GROUP, GROUP_END, BARRIER, REGION, PART };

/* Strands of time[i], each followed by steps[i] or by the end. */
struct body {
    const void *code, *site;
    int n;
    uint64_t time[MAX_STEPS + 1];
    struct step {
        enum kind kind;
        unsigned flags;
        int count;          /* MANY: tasks; REGION: members */
        struct body *child; /* of all of them */
    } steps[MAX_STEPS];
};

/* Addresses that stand for those of procedures and calls. */
extern char code_of[PROCEDURES], site_of[SITES];

/* Its low bits are random, too: a scheduler must not repeat itself. */
unsigned random_below(unsigned limit);

/* Bodies with steps that the program which is being made may still have. */
extern int bodies_left;

/* The body of a member of a team passes barriers. */
struct body *make_body(int depth, int barriers);
void free_body(struct body *body);

#endif

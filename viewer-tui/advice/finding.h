/* Findings: what a reader of a profile can act on, one statement each. */
#ifndef VIEWER_FINDING_H
#define VIEWER_FINDING_H

#include "viewer-tui/advice/share-interval.h"
#include "viewer-tui/base/text.h"
#include "viewer-tui/tree/view.h"

enum finding_kind {
    FINDING_PARALLELIZATION, /* idleness and overhead of a runtime's workers */
    FINDING_LOCK,            /* a lock, and the line that holds it while threads wait */
    FINDING_PARALLELISM,     /* work and span */
    FINDING_SPAN,            /* a limit to the speed with any number of workers */
    FINDING_NO_NAMES,        /* code made at run time without names */
    FINDING_NO_LINES,        /* code without line information */
    FINDING_IMBALANCE,       /* threads with unequal parts of a procedure's work */
    FINDING_ONE_THREAD,      /* a time in which only one thread runs */
    FINDING_BLOCKED,         /* threads that wait at a line */
    FINDING_ASLEEP,          /* a time in which no thread wants a CPU */
    FINDING_NOT_OPTIMIZED,   /* code compiled without optimization */
    FINDING_SYSTEM_CALLS,    /* CPU time in system calls */
    FINDING_MEMORY_CALLS,    /* CPU time in the allocator's system calls */
    FINDING_TOO_MANY_THREADS, /* more threads than CPUs */
    FINDING_NO_CPU,          /* threads that could run but had no CPU */
    FINDING_QUOTA,           /* a limit to the CPU time of the process */
    FINDING_RANKS,           /* processes of a parallel job with unequal parts of its work */
    FINDING_WAITING,         /* CPU time in a runtime's waiting procedures */
    FINDING_HIDDEN,          /* CPU time in the kernel that perf hides */
    FINDING_LOST,            /* the command became a program that was not measured */
    FINDING_STARTS,          /* CPU time of processes before sampling begins */
    FINDING_PROGRAMS,        /* of the whole system: programs with most CPU time */
    FINDING_HOT_PLACE        /* the loop or line with most CPU time */
};

/* Which findings come first: by this, then by gain, the largest first, then in the order of kinds. */
enum finding_order {
    ORDER_MACHINE, /* the run says little about the program */
    ORDER_FIRST,   /* explains the findings that follow, or they are about the rest of the program */
    ORDER_GAIN,
    ORDER_PLACE, /* where most of the time is: at least the third */
    ORDER_FACT,
    ORDER_OPEN, /* what cannot be told */
};

struct finding {
    enum finding_kind kind;
    const char *name; /* of the kind: "parallelization" */
    enum finding_order order;
    struct gain gain;     /* orders findings of ORDER_GAIN, also if it is not claimed */
    bool is_gain_claimed; /* the text has it */
    uint32_t procedure, file, line; /* the place; NOTHING, NOTHING and 0 if there is none */
    unsigned phase;       /* number of the phase that has most of it (finding-phase.h); 0: none is named */
    double part_in_phase; /* of it, 0 to 1 */
    const void *source; /* of more members in JSON, by kind (parallelization.h); NULL: none */
    char *text;         /* a sentence or two: cause, place, gain */
    VEC(char *)
    details; /* further paragraphs; items of a list begin with FINDING_ITEM */
};

#define FINDING_ITEM '\t'

/* A zeroed one is empty. */
struct findings {
    VEC(struct finding) list;
};

/* Adds a finding without a place; the result is valid until the next one is added. */
struct finding *findings_add(struct findings *findings, enum finding_kind kind,
                             const struct text *text);

/* Adds the text as a detail unless it is empty, and frees it. */
void finding_take_detail(struct finding *finding, struct text *text);

/* Sorts by order and gain (its lower end), and puts the hot place among the first three. */
void findings_sort(struct findings *findings);

void findings_free(struct findings *findings);

#endif

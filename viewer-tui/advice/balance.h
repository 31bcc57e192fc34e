/* How evenly threads share the work of a procedure or an OpenMP construct, and ranks that of a parallel job.
 *
 * What threads share is an OpenMP construct (`parallel @ file:line`), or the first procedure of the user's own (of a
 * package, if nothing is the user's) on the paths of created threads: the start routine or, below a runtime's
 * procedures, the body of a parallel loop. If its threads have CPU times c with mean m, the longest is busy for max
 * c - m longer than with equal parts. */
#ifndef VIEWER_BALANCE_H
#define VIEWER_BALANCE_H

#include "viewer-tui/advice/hotspots.h"
#include "viewer-tui/advice/main-process.h"
#include "viewer-tui/advice/share-interval.h"

struct shared_work {
    struct hotspot place;       /* the outermost loop with most of it, else the procedure or construct */
    bool is_construct;          /* of OpenMP; else a procedure of plain threads */
    bool is_static_loop;        /* the construct divides a loop once and for all */
    size_t n;                   /* threads */
    unsigned most_of, least_of; /* their numbers in the process */
    double most, least, mean;   /* CPU seconds */
    struct share excess;        /* seconds for which the longest is busy longer than the mean */
    double alone;               /* seconds of the longest beyond those of all others, at least */
};

/* Two ranks of a parallel job. */
struct rank_balance {
    size_t n; /* ranks; 0: no parallel job */
    long most_of, least_of;
    double most, least, mean; /* CPU seconds without waiting */
    double waits;             /* share of its time for which the rank with the least work waits at the place; of that
                                 time in which it did not want for a CPU */
    struct hotspot place;
};

struct balance {
    VEC(struct shared_work) list;
    struct rank_balance ranks;
};

/* Where balance_of looks. */
struct balanced {
    struct view *view; /* top-down */
    uint32_t row;
    struct time_metric time; /* the CPU time, */
    double increment;        /* and its mean sample */
    enum code_owner whose;   /* the least owner of a procedure that threads may share */
    const struct main_process *process;
};

/* The caller frees the list. */
struct balance balance_of(const struct balanced *of);

/* `waiting`: the metric, and its places; `run`: the run's description. */
struct rank_balance rank_balance_of(struct view *view, struct time_metric time, size_t waiting,
                                    struct time_places *places, const json_t *run);

#endif

/* How evenly threads share the work of a procedure or an OpenMP construct, and ranks that of a parallel job.
 *
 * What threads share is an OpenMP construct (`parallel @ file:line`), or the first procedure of the user's own on the paths
 * of created threads: the start routine or, below a library's procedures, the body of a parallel loop. Threads of Go share
 * nothing: goroutines move between them. If its threads have CPU times c with mean m, the longest is busy for max c - m
 * longer than with equal parts. While it waits itself, others may work that it does not keep waiting: without a construct,
 * that time is subtracted. */
#ifndef VIEWER_BALANCE_H
#define VIEWER_BALANCE_H

#include "viewer-tui/advice/hotspots.h"
#include "viewer-tui/advice/main-process.h"
#include "viewer-tui/advice/share-interval.h"

/* The parts that threads or ranks have of some work. */
struct parts {
    size_t n;
    size_t most_at, least_at; /* indices of the most and the least */
    long most_of, least_of;   /* numbers of a thread in its process, or of a rank */
    double most, least, mean; /* CPU seconds; of ranks without waiting */
};

struct shared_work {
    struct hotspot place; /* the outermost loop with most of it, else the procedure or construct */
    bool is_construct;    /* of OpenMP; else a procedure of plain threads */
    bool is_static_loop;  /* the construct divides a loop once and for all */
    bool is_of_library;   /* a library calls the procedure: threads take pieces at run time */
    struct parts parts;
    struct share excess; /* seconds for which the longest is busy longer than the mean */
    double alone;        /* seconds of the longest beyond those of all others, at least */
};

/* The ranks of a parallel job. */
struct rank_balance {
    struct parts parts; /* none: no parallel job */
    struct share excess; /* seconds: the most CPU time of a rank less the mean of all ranks, divided by the threads that
                            share that rank's work */
    double waits;       /* share of its time for which the rank with the least work waits at the place, on average over its
                           threads that work; of that time in which it did not want for a CPU */
    struct hotspot place;
};

struct balance {
    VEC(struct shared_work) list;
    struct rank_balance ranks;
};

struct facts;

/* The balance of the CPU time of the facts' row in a top-down view. The caller frees the list. */
struct balance balance_of(const struct facts *facts);

#endif

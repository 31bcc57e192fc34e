/* The facts about a row of a view and its run from which advice follows, computed once. */
#ifndef VIEWER_FACTS_H
#define VIEWER_FACTS_H

#include "viewer-tui/advice/hotspots.h"
#include "viewer-tui/advice/lock-facts.h"
#include "viewer-tui/advice/main-process.h"
#include "viewer-tui/advice/parallelization.h"
#include "viewer-tui/advice/time-places.h"
#include "viewer-tui/advice/what-if.h"

/* A parallel runtime that has an agent. */
struct runtime_facts {
    const char *agent;
    const char *setting;  /* what sets the number of its threads */
    bool knows_overhead;  /* if it has workers, overhead is measured */
    bool has_fixed_tasks; /* its tasks do not depend on the number of workers */
    const char *sleeping; /* what makes threads that wait sleep; NULL: they do, or spin for short times only */
    const char *tagging;  /* what tags its code in user's procedures as overhead; NULL: that is not needed */
};

/* What others did to the main process. */
struct cpu_supply {
    double wall;       /* the wall clock; if others had the CPUs, the least one without them */
    bool is_disturbed; /* others, or a quota, took so much that wall time and idleness say little about the program */
    bool is_throttled; /* by a quota */
};

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

struct timeline;

struct facts {
    struct view *view;
    uint32_t row;
    const json_t *run;           /* may be NULL */
    struct main_process process; /* without threads and wall clock if the view is restricted to some threads */
    double busiest; /* seconds of the thread that had work for longest: on a CPU, but for spinning in a runtime, or
                       without one in code that does not wait */
    double longest; /* the same, with what the thread slept while it kept others from a lock, by REALTIME */
    double spun;    /* CPU seconds of its threads that waits cost: spinning in runtimes and for locks, waking up others */
    struct cpu_supply supply;
    const struct runtime_facts *runtime; /* NULL: no agent of a parallel runtime took part */
    /* Metrics; NO_METRIC: not measured. Those that say nothing else are of the event of `cpu`. */
    struct time_metric cpu;          /* by CPUTIME, else by REALTIME */
    struct time_metric off_cpu;      /* by REALTIME */
    size_t wall;                     /* work by REALTIME, on and off the CPU */
    struct time_metric thread_waits; /* waiting of plain threads by REALTIME */
    size_t overhead, idleness, waiting, lock_blame, lock_wait, incomplete;
    const char *event;    /* that of `cpu`, in the view's metrics; NULL if it is not measured */
    double cpu_increment; /* mean of a sample */
    double cpu_total;     /* seconds of CPU time that were sampled: `cpu`, overhead and spinning */
    double off_cpu_increment;
    double wall_total; /* seconds of all threads that were sampled by REALTIME */
    /* Of a top-down view; else empty. */
    struct time_places cpu_places, off_cpu_places, waiting_places;
    hotspot_list hotspots; /* of the CPU time */
    hotspot_list held_in;  /* holders of locks, by what others wait for them */
    struct lock_facts lock;
    struct balance balance; /* set by balance_of (balance.h) */
    struct parallelizations parallelizations; /* none if work and span were measured, whose cost is in them */
    bool has_work_span;
    struct work_span work_span;
};

/* `timeline`: that of the whole run; NULL: none, or `view` is of the physical projection. */
struct facts facts_of(struct view *view, uint32_t row, const json_t *run, const struct timeline *timeline);
void facts_drop_places(struct facts *facts); /* which may be many */
void facts_free(struct facts *facts);

/* The gain, at most, if threads of the main process did not wait for `seconds` in all. What remains is at least
 *
 *   - the rest of the wall clock,
 *   - the time for which the busiest thread had work, since it runs on one CPU at a time, and
 *   - the CPU time of all, but for what waits cost, on as many CPUs as can be used.
 *
 * All this is no bound where threads contend for a lock: they also pass its data between CPUs. */
struct gain facts_gain_without(const struct facts *facts, const struct share *seconds);

/* The gain if the main process's own code keeps all CPUs busy that it could use, and takes no less CPU time: the number
 * of CPUs, divided by those that it used on average without runtimes' overhead and what waits cost. INFINITY: not
 * known. */
struct gain facts_most_gain(const struct facts *facts);

/* CPU seconds of the main process's threads that may hold Python's GIL, so that one runs at a time: all but those that
 * other code than CPython's began, such as OpenBLAS's blas_thread_server. 0 if the program is not Python's. */
double facts_python_cpu(const struct facts *facts);

/* The share of a part in the sampled CPU time. */
struct share facts_share_of_cpu(const struct facts *facts, double seconds);

/* What shares are of: "time"; "CPU time" if the process sleeps for most of the run, so that the two differ. */
const char *facts_time(const struct facts *facts);

/* The cost of the whole run in a metric by profile, as time_by_profile: 0 for NO_METRIC. */
double *facts_by_profile(const struct facts *facts, size_t metric);

/* The cost of the row in a metric; 0 for NO_METRIC. */
double facts_cost(const struct facts *facts, size_t metric);

#endif

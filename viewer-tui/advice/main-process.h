/* The main process of a run: the one with the most CPU time, and what run.json knows of it and its
 * threads. */
#ifndef VIEWER_MAIN_PROCESS_H
#define VIEWER_MAIN_PROCESS_H

#include "lib/alloc.h"
#include "viewer-tui/db/run.h"
#include "viewer-tui/db/time-ranges.h"

#include <stdbool.h>
#include <stdint.h>

struct timeline;

struct process_thread {
    uint32_t profile;          /* number in profile.db */
    unsigned index;            /* in its process, from 0: the number of an OpenMP thread */
    const char *name;          /* "" if unknown */
    const char *start_routine; /* the procedure in which it began; "" if unknown or the initial thread */
    bool is_initial;
    bool is_helper;          /* hardly works, so that it takes no CPU from others */
    double begin, wall, cpu; /* seconds; `begin` since the process began */
    double work;             /* of `cpu`, without what samples of a waiting thread cost it */
    double ready;            /* seconds in which it wanted a CPU and others had them; 0: not measured. The scheduler's
                                account without what idle CPUs may have taken to wake up */
    double idle;   /* of `cpu`, while it spun in a runtime with an agent, as a worker without work. 0 if unknown */
    double nobody; /* of `cpu`, while no worker of a runtime worked: it begins or ends a region, or all have come to a
                      barrier. 0 if unknown */
    double nobody_by_wall; /* the same of `wall`, by REALTIME: also while those that have work are blocked */
    double unpaid;         /* that and the time without work in a runtime with an agent, by REALTIME */
};

struct main_process {
    const json_t *process;  /* NULL: there is no process */
    const char *executable; /* base name */
    const char *command;
    double wall, cpu;     /* seconds; `cpu` is that of its threads */
    double cpu_of_run;    /* CPU seconds of all processes */
    double wall_of_run;   /* seconds from the run's begin to its end; at least `wall` */
    double cpus;          /* CPUs that it could use; 0 if unknown */
    double ready;         /* that of all its threads, summed; NAN: not measured for all of them */
    double ready_to_work; /* that of its threads without helpers */
    double ready_of_others; /* the same of the threads of other processes, as far as it was measured */
    double waited;        /* of `cpu`, in which threads waited in a runtime with an agent; 0 if unknown */
    double throttled;     /* seconds for which a quota of `quota` CPUs stopped it; 0: not, or not measured */
    double quota;
    size_t n_others;     /* other processes of the run that used at least a tenth of its CPU time */
    bool is_only_one;    /* there are none of these */
    size_t most_alive;   /* threads that lived at the same time, for a notable part of the run */
    size_t most_working; /* the same without helpers */
    double mean_working; /* of those on average, while any lives */
    size_t most_runnable; /* threads at work or ready at the same time (main_process_runnable); `most_working` if there
                             is no time line, or threads of a runtime may spin */
    double most_running; /* threads that can run at the same time: the lesser of those alive and CPUs; at least 1 */
    VEC(struct process_thread) threads;
    const struct process_thread *busiest; /* of these, with the most CPU time; NULL if there are none */
};

/* Texts belong to `run`, which may be NULL. The caller frees the list of threads. */
struct main_process main_process_of(const json_t *run);

/* The threads, without helpers, that are at work or ready at the same time, for a notable part of a piece of time. A
 * thread that waits for a lock, or for others to end, is none of them. `most_working` if the time line does not say it. */
size_t main_process_runnable(const struct main_process *main, const struct timeline *timeline, struct time_range range);

#endif

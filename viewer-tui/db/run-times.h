/* What a run was, and how long it took: the facts of the first line of views. */
#ifndef VIEWER_RUN_TIMES_H
#define VIEWER_RUN_TIMES_H

#include "viewer-tui/db/run.h"

struct run_times {
    const char *command; /* of the launched process, in `run`; NULL: unknown. If it executed several
                            programs (wrappers that are scripts), of the one with most CPU time */
    size_t processes;
    double wall;         /* seconds, of the launched process that took longest; 0: unknown */
    double cpu;          /* seconds, of all processes */
    double cpus;         /* CPUs that they could use; 0: unknown */
};

/* `run` may be NULL. */
struct run_times run_times_of(const json_t *run);

/* CPUs that were used, on average. */
static inline double run_cpus_used(const struct run_times *times)
{
    return times->wall > 0 ? times->cpu / times->wall : 0;
}

#endif

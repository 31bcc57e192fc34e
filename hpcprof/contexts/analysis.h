/* The results of the steps before attribution, together. Nothing here changes any more: threads may
 * share it. */
#ifndef HPCPROF_ANALYSIS_H
#define HPCPROF_ANALYSIS_H

#include "hpcprof/measurement/executables.h"
#include "hpcprof/measurement/process-ends.h"
#include "hpcprof/metrics/metric-table.h"
#include "hpcprof/names/clones.h"

struct analysis {
    const struct measurements *measurements; /* trees are freed when all are attributed */
    const struct executables *executables;
    const struct process_ends *ends;
    const struct structures *structures;
    const struct symbol_table *symbols;
    const struct clones *clones;
    const struct overhead *overhead;
    const struct waiting *waiting;
    const struct metric_table *metrics;
    bool collapses_recursion; /* the user wants it (hpcprof/tree/recursive-calls.h) */
};

enum projection_kind { PROJECTION_LOGICAL, PROJECTION_PHYSICAL };

/* A thread of a process. */
struct thread_ref {
    size_t file; /* index in measurements.files */
    const struct measurement *m;
    const struct measurement_thread *thread;
};

#endif

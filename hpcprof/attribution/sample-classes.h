/* Decides which samples of a thread are overhead or waiting (overhead-samples.h, waiting-samples.h), for the
 * values of its nodes and for the records of its time line alike. */
#ifndef HPCPROF_SAMPLE_CLASSES_H
#define HPCPROF_SAMPLE_CLASSES_H

#include "hpcprof/contexts/analysis.h"

enum sample_class { SAMPLE_PLAIN, SAMPLE_OVERHEAD, SAMPLE_WAITING };

/* The classes of one thread's nodes; used again for the next thread. */
struct sample_classes {
    const struct analysis *analysis;
    bool are_needed;                     /* a metric has overhead or waiting */
    VEC(struct overhead_state) overhead; /* by node */
    VEC(struct waiting_state) waiting;   /* by node */
};

void sample_classes_start(struct sample_classes *classes, const struct analysis *analysis);

void sample_classes_free(struct sample_classes *classes);

/* Classifies the samples at each node of a thread. */
void sample_classes_find(struct sample_classes *classes, const struct thread_ref *thread);

/* The class of what was paid into a metric at a node. */
enum sample_class sample_class(const struct sample_classes *classes, const struct metric *metric,
                               uint32_t node);

/* The metric of the kind of overhead that a node has; NO_METRIC: kinds are unknown. The node's class is
 * SAMPLE_OVERHEAD for this metric. */
static inline uint32_t sample_kind(const struct sample_classes *classes,
                                   const struct metric *metric, uint32_t node)
{
    return metric->kinds ? metric->kinds[classes->overhead.at[node].kind] : NO_METRIC;
}

#endif

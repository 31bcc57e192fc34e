#include "hpcprof/attribution/sample-classes.h"

#include <stdlib.h>

static bool have_classes(const struct metric_table *metrics)
{
    for (size_t i = 0; i < metrics->all.n; i++)
        if (metrics->all.at[i].overhead != NO_METRIC || metrics->all.at[i].waiting != NO_METRIC)
            return true;
    return false;
}

void sample_classes_start(struct sample_classes *classes, const struct analysis *analysis)
{
    *classes = (struct sample_classes){.analysis = analysis,
                                       .are_needed = have_classes(analysis->metrics)};
}

void sample_classes_free(struct sample_classes *classes)
{
    vec_free(&classes->overhead);
    vec_free(&classes->waiting);
}

void sample_classes_find(struct sample_classes *classes, const struct thread_ref *thread)
{
    const struct analysis *analysis = classes->analysis;
    const struct measurement_file *file = &analysis->measurements->files.at[thread->file];
    size_t n = thread->thread->nodes.n;
    if (!classes->are_needed)
        return;
    classes->overhead.n = classes->waiting.n = 0;
    vec_reserve(&classes->overhead, n);
    vec_reserve(&classes->waiting, n);
    struct overhead_state *overhead = classes->overhead.at;
    struct waiting_state *waiting = classes->waiting.at;
    overhead[MEASUREMENT_ROOT] = (struct overhead_state){.kind = NOT_OVERHEAD};
    waiting[MEASUREMENT_ROOT] = (struct waiting_state){.is_waiting = false};
    for (size_t i = MEASUREMENT_ROOT + 1; i < n; i++) {
        const struct measurement_node *node = &thread->thread->nodes.at[i];
        const struct frame_code frame = frame_code_of(analysis->overhead->code, file, node);
        overhead[i] = overhead_at(analysis->overhead, node, &frame, overhead[node->parent]);
        waiting[i] = waiting_at(analysis->waiting, &frame, waiting[node->parent]);
    }
}

enum sample_class sample_class(const struct sample_classes *classes, const struct metric *metric,
                               uint32_t node)
{
    if (!classes->are_needed)
        return SAMPLE_PLAIN;
    if (metric->overhead != NO_METRIC && classes->overhead.at[node].kind != NOT_OVERHEAD)
        return SAMPLE_OVERHEAD;
    if (metric->waiting != NO_METRIC && classes->waiting.at[node].is_waiting)
        return SAMPLE_WAITING;
    return SAMPLE_PLAIN;
}

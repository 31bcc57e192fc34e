#include "hpcprof/attribution/traced-nodes.h"

#include "lib/trace-format.h"

#include <stdlib.h>

/* The metric of what an event measures, if some of it is overhead or waiting; NULL: none is. */
static const struct metric *classified_metric(const struct metric_table *metrics, uint32_t event)
{
    for (size_t i = 0; i < metrics->all.n; i++) {
        const struct metric *metric = &metrics->all.at[i];
        if (metric->event == event &&
            (metric->overhead != NO_METRIC || metric->waiting != NO_METRIC))
            return metric;
    }
    return NULL;
}

/* Marks the nodes that records are at. The caller frees. */
static bool *find_traced(const struct measurement_thread *thread)
{
    bool *is_traced = mem_alloc(thread->nodes.n * sizeof *is_traced);
    for (size_t i = 0; i < thread->trace.n; i++)
        if (thread->trace.at[i].node < thread->nodes.n)
            is_traced[thread->trace.at[i].node] = true;
    is_traced[MEASUREMENT_ROOT] = false;
    return is_traced;
}

static struct traced_node traced_node(struct thread_paths *paths,
                                      const struct sample_classes *classes,
                                      const struct metric *metric, uint32_t node)
{
    struct traced_node traced = {
        .node = node, .context = thread_paths_context(paths, node), .kind = NO_METRIC};
    const struct thread_ref *thread = &paths->thread;
    if (node_is_in_kernel(&classes->analysis->measurements->files.at[thread->file], &thread->thread->nodes.at[node]))
        traced.flags = TRACE_IN_KERNEL;
    switch (metric ? sample_class(classes, metric, node) : SAMPLE_PLAIN) {
    case SAMPLE_PLAIN: break;
    case SAMPLE_WAITING: traced.flags |= TRACE_AS_WAITING; break;
    case SAMPLE_OVERHEAD:
        traced.flags |= TRACE_AS_OVERHEAD;
        traced.kind = sample_kind(classes, metric, node);
        break;
    }
    return traced;
}

/* Values are sorted by node. */
void traced_nodes_find(struct traced_nodes *nodes, struct thread_paths *paths,
                       const struct sample_classes *classes)
{
    const struct measurement_thread *thread = paths->thread.thread;
    const struct measurement_file *file =
        &classes->analysis->measurements->files.at[paths->thread.file];
    if (!thread->trace.n)
        return;
    const struct metric *metric =
        classified_metric(classes->analysis->metrics, file->event_of[thread->trace_event]);
    autofree bool *is_traced = find_traced(thread);
    for (size_t i = 0; i < thread->values.n; i++) {
        const struct measurement_value *value = &thread->values.at[i];
        if (!value->amount || file->metric_of[value->metric] == NO_METRIC ||
            !is_traced[value->node])
            continue;
        vec_push(nodes, traced_node(paths, classes, metric, value->node));
        is_traced[value->node] = false;
    }
}

void node_index_of(struct node_index *index, const struct traced_nodes *nodes)
{
    index->at.n = 0;
    for (size_t i = 0; i < nodes->n; i++) {
        while (index->at.n < nodes->at[i].node)
            vec_push(&index->at, NO_NODE);
        vec_push(&index->at, (uint32_t)i);
    }
}

void node_index_free(struct node_index *index)
{
    vec_free(&index->at);
}

#include "lib/measurement-builder.h"

#include "lib/binary-search.h"

#include <stdlib.h>

static int by_name_value(const void *a, const void *b)
{
    const struct measurement_name *x = a, *y = b;
    return compare_unsigned(x->value, y->value);
}

static void resolve_metrics(struct builder *b, const struct idmap *events)
{
    for (size_t i = 0; i < b->m->metrics.n; i++) {
        struct measurement_metric *metric = &b->m->metrics.at[i];
        metric->event = idmap_get(events, metric->event_id, 0);
        if (metric->event == MEASUREMENT_UNKNOWN)
            builder_problem(b, "the event of metric '%s' is lost", metric->name);
    }
}

/* The final space of each entry of b->spaces. The caller frees. */
static uint32_t *spaces_of_slots(struct builder *b)
{
    struct measurement *m = b->m;
    struct idmap modules = {0};
    for (size_t i = 0; i < m->modules.n && i < MEASUREMENT_NAMES; i++)
        idmap_put(&modules, m->modules.at[i].id, 0, (uint32_t)i);
    uint32_t *final = mem_alloc(b->spaces.n * sizeof *final);
    for (size_t slot = 0; slot < b->spaces.n; slot++) {
        const struct space_id *space = &b->spaces.at[slot];
        final[slot] = MEASUREMENT_LOST_RECORD;
        if (space->names) {
            for (size_t i = 0; i < m->name_tables.n; i++)
                if (m->name_tables.at[i].number == space->id)
                    final[slot] = MEASUREMENT_NAMES + (uint32_t)i;
        } else if (space->id == INSTANCE_NO_MODULE) {
            final[slot] = MEASUREMENT_NO_MODULE;
        } else if (space->id == INSTANCE_PLACEHOLDER) {
            final[slot] = MEASUREMENT_PLACEHOLDER;
        } else {
            uint32_t module = idmap_get(&modules, space->id, 0);
            if (module != IDMAP_NONE) {
                final[slot] = module;
                m->modules.at[module].used = true;
            }
        }
        if (final[slot] == MEASUREMENT_LOST_RECORD)
            builder_problem(b, "the record of %s %llu is lost",
                            space->names ? "name table" : "module instance",
                            (unsigned long long)space->id);
    }
    idmap_free(&modules);
    return final;
}

static void resolve_nodes(struct measurement_thread *thread, const uint32_t *spaces)
{
    for (size_t i = MEASUREMENT_LOST_NODE + 1; i < thread->nodes.n; i++) {
        struct measurement_node *node = &thread->nodes.at[i];
        if (node->ip_space != MEASUREMENT_NO_NOTE)
            node->ip_space = spaces[node->ip_space];
        if (node->lip_space != MEASUREMENT_NO_NOTE)
            node->lip_space = spaces[node->lip_space];
    }
}

/* Turns metric ids into indices; drops and counts values of unknown metrics. */
static void resolve_value_metrics(struct measurement_thread *thread, struct thread_state *state,
                                  const struct idmap *metrics)
{
    size_t kept = 0;
    for (size_t i = 0; i < thread->values.n; i++) {
        struct measurement_value value = thread->values.at[i];
        value.metric = idmap_get(metrics, value.metric, 0);
        if (value.metric != IDMAP_NONE)
            thread->values.at[kept++] = value;
        else
            state->unknown_metrics++;
    }
    thread->values.n = kept;
}

/* Stable counting sort. */
static void sort_values_by_node(struct measurement_thread *thread)
{
    autofree size_t *next = mem_alloc((thread->nodes.n + 1) * sizeof *next);
    for (size_t i = 0; i < thread->values.n; i++)
        next[thread->values.at[i].node + 1]++;
    for (size_t node = 0; node < thread->nodes.n; node++)
        next[node + 1] += next[node];
    struct measurement_value *sorted = mem_alloc(thread->values.n * sizeof *sorted);
    for (size_t i = 0; i < thread->values.n; i++)
        sorted[next[thread->values.at[i].node]++] = thread->values.at[i];
    free(thread->values.at);
    thread->values.at = sorted;
    thread->values.cap = thread->values.n;
}

static int by_metric(const void *a, const void *b)
{
    const struct measurement_value *x = a, *y = b;
    return compare_unsigned(x->metric, y->metric);
}

static void add_up_values(struct measurement_thread *thread)
{
    sort_values_by_node(thread);
    struct measurement_value *values = thread->values.at;
    size_t kept = 0;
    for (size_t i = 0, end; i < thread->values.n; i = end) {
        for (end = i + 1; end < thread->values.n && values[end].node == values[i].node; end++)
            ;
        if (end - i > 1)
            qsort(values + i, end - i, sizeof *values, by_metric);
        size_t first = kept;
        for (size_t k = i; k < end; k++) {
            if (kept > first && values[kept - 1].metric == values[k].metric)
                values[kept - 1].amount += values[k].amount;
            else
                values[kept++] = values[k];
        }
    }
    thread->values.n = kept;
}

static int by_event_source_code(const void *a, const void *b)
{
    const struct measurement_fate *x = a, *y = b;
    if (x->event != y->event)
        return compare_unsigned(x->event, y->event);
    if (x->source != y->source)
        return compare_unsigned(x->source, y->source);
    return compare_unsigned(x->code, y->code);
}

static void add_up_fates(struct measurement_thread *thread, const struct idmap *events)
{
    struct measurement_fate *fates = thread->fates.at;
    for (size_t i = 0; i < thread->fates.n; i++)
        fates[i].event = idmap_get(events, fates[i].event, 0);
    if (thread->fates.n > 1)
        qsort(fates, thread->fates.n, sizeof *fates, by_event_source_code);
    size_t kept = 0;
    for (size_t i = 0; i < thread->fates.n; i++) {
        if (kept && by_event_source_code(&fates[kept - 1], &fates[i]) == 0) {
            fates[kept - 1].count += fates[i].count;
            fates[kept - 1].amount += fates[i].amount;
        } else {
            fates[kept++] = fates[i];
        }
    }
    thread->fates.n = kept;
}

static void settle_clocks(struct measurement_thread *thread)
{
    if (thread->last_monotonic < thread->first_monotonic)
        thread->last_monotonic = thread->first_monotonic;
    if (thread->last_cpu < thread->first_cpu)
        thread->last_cpu = thread->first_cpu;
}

/* A time of a thread's chunk, which is relative to when it was first seen; not before *latest. */
static uint64_t absolute_time(const struct measurement_thread *thread, uint64_t relative,
                              uint64_t *latest)
{
    uint64_t time = thread->first_monotonic + relative;
    if (time > *latest && time - *latest <= INT64_MAX)
        *latest = time;
    return *latest;
}

/* Adds the time at which the thread was first seen, and keeps the order of times: chunks that were written
 * at different times have slightly different rates of ticks. */
static void settle_trace(struct measurement_thread *thread, uint64_t event_id,
                         const struct idmap *events)
{
    uint64_t latest = thread->first_monotonic;
    for (size_t i = 0; i < thread->trace.n; i++)
        thread->trace.at[i].time = absolute_time(thread, thread->trace.at[i].time, &latest);
    latest = thread->first_monotonic;
    for (size_t i = 0; i < thread->marks.n; i++)
        thread->marks.at[i].time = absolute_time(thread, thread->marks.at[i].time, &latest);
    for (size_t i = 0; i < thread->wake_ups.n; i++) {
        struct measurement_wake_up *wake_up = &thread->wake_ups.at[i];
        wake_up->time += thread->first_monotonic;
        wake_up->began += thread->first_monotonic;
        wake_up->released += thread->first_monotonic;
    }
    if (thread->trace.n)
        thread->trace_event = idmap_get(events, event_id, 0);
}

/* Without the record of the thread, its times are not known. */
static void drop_timeless_trace(struct builder *b, struct measurement_thread *thread)
{
    if (thread->known || (thread->trace.n == 0 && thread->marks.n == 0 && thread->wake_ups.n == 0))
        return;
    builder_problem(b, "thread %u: its time line is lost with its record", thread->index);
    vec_free(&thread->trace);
    release_marks(thread);
    thread->trace_event = MEASUREMENT_UNKNOWN;
}

static void resolve_creation_contexts(struct builder *b)
{
    for (size_t i = 0; i < b->m->threads.n; i++) {
        struct measurement_thread *thread = &b->m->threads.at[i];
        uint32_t creator = IDMAP_NONE;
        if (thread->creator != 0)
            creator = idmap_get(&b->thread_positions, thread->creator - 1, 0);
        if (creator != IDMAP_NONE)
            thread->creation_context =
                node_index(&b->states.at[creator], b->states.at[i].creation_context);
    }
}

/* Only a join by the creator counts: the place of a thread in the tree depends on it. */
static void resolve_joins(struct builder *b, const uint32_t *spaces)
{
    for (size_t i = 0; i < b->joins.n; i++) {
        const struct join_record *join = &b->joins.at[i];
        uint32_t position = idmap_get(&b->thread_positions, join->thread, 0);
        uint32_t joiner = idmap_get(&b->thread_positions, join->joiner, 0);
        if (position == IDMAP_NONE || b->m->threads.at[position].creator != join->joiner + 1)
            continue;
        b->m->threads.at[position].join = (struct measurement_join){
            .known = true,
            .is_cut = join->flags & JOIN_IS_CUT,
            .node = node_index(&b->states.at[joiner], join->node),
            .space = spaces[join->slot],
            .offset = join->offset,
        };
    }
}

static void report_losses(struct builder *b, size_t position)
{
    const struct thread_state *state = &b->states.at[position];
    uint32_t index = b->m->threads.at[position].index;
    if (!b->m->threads.at[position].known)
        builder_problem(b, "the record of thread %u is lost", index);
    if (state->lost_values)
        builder_problem(b, "thread %u: %llu values of lost nodes count as partial call paths",
                        index, (unsigned long long)state->lost_values);
    if (state->lost_records)
        builder_problem(b, "thread %u: %llu records of its time line are of lost nodes", index,
                        (unsigned long long)state->lost_records);
    if (state->unknown_metrics)
        builder_problem(b, "thread %u: %llu values of lost metrics are dropped", index,
                        (unsigned long long)state->unknown_metrics);
}

static int by_index(const void *a, const void *b)
{
    const struct measurement_thread *x = a, *y = b;
    return compare_unsigned(x->index, y->index);
}

static void resolve_threads(struct builder *b, const struct idmap *events)
{
    struct measurement *m = b->m;
    struct idmap metrics = {0};
    for (size_t i = 0; i < m->metrics.n; i++)
        if (m->metrics.at[i].event != MEASUREMENT_UNKNOWN)
            idmap_put(&metrics, m->metrics.at[i].id, 0, (uint32_t)i);
    autofree uint32_t *spaces = spaces_of_slots(b);
    resolve_creation_contexts(b);
    resolve_joins(b, spaces);
    for (size_t i = 0; i < m->threads.n; i++) {
        struct measurement_thread *thread = &m->threads.at[i];
        resolve_nodes(thread, spaces);
        if (thread->start_space != MEASUREMENT_NO_NOTE)
            thread->start_space = spaces[thread->start_space];
        resolve_value_metrics(thread, &b->states.at[i], &metrics);
        add_up_values(thread);
        add_up_fates(thread, events);
        settle_clocks(thread);
        settle_trace(thread, b->states.at[i].trace_event, events);
        report_losses(b, i);
        drop_timeless_trace(b, thread);
    }
    idmap_free(&metrics);
    vec_sort(&m->threads, by_index);
}

void builder_resolve(struct builder *b)
{
    struct measurement *m = b->m;
    struct idmap events = {0};
    for (size_t i = 0; i < m->events.n; i++)
        idmap_put(&events, m->events.at[i].id, 0, (uint32_t)i);
    for (size_t i = 0; i < m->name_tables.n; i++) {
        struct measurement_name_table *table = &m->name_tables.at[i];
        vec_sort(&table->names, by_name_value);
    }
    resolve_metrics(b, &events);
    resolve_threads(b, &events);
    resolve_lines(b);
    resolve_code_names(b);
    idmap_free(&events);
}

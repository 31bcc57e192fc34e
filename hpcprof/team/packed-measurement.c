#include "hpcprof/team/packed-measurement.h"

#include "hpcprof/team/thread-digest.h"

#include "lib/binary-search.h"
#include "lib/path.h"

#include <string.h>

/* Writes to bytes or reads from them: each field is listed once for both. */
struct transfer {
    struct team_bytes *to; /* NULL: reading */
    const uint8_t *from;
};

static void transfer_raw(struct transfer *t, void *data, size_t size)
{
    if (t->to) {
        team_bytes_add(t->to, data, size);
    } else {
        if (size)
            memcpy(data, t->from, size);
        t->from += size;
    }
}

#define FIELD(t, field) transfer_raw(t, &(field), sizeof(field))

static void transfer_text(struct transfer *t, char **text)
{
    uint64_t length = t->to ? strlen(*text) : 0;
    FIELD(t, length);
    if (!t->to)
        *text = mem_alloc(length + 1);
    transfer_raw(t, *text, length);
}

/* The number of elements of a VEC; makes room for them when reading. */
#define COUNT(t, v)                                                                                \
    do {                                                                                           \
        uint64_t count_ = (v)->n;                                                                  \
        FIELD(t, count_);                                                                          \
        if (!(t)->to) {                                                                            \
            (v)->at = mem_alloc(count_ * sizeof *(v)->at);                                         \
            (v)->n = (v)->cap = count_;                                                            \
        }                                                                                          \
    } while (0)

/* A VEC of elements without pointers. */
#define PLAIN(t, v)                                                                                \
    do {                                                                                           \
        COUNT(t, v);                                                                               \
        transfer_raw(t, (v)->at, (v)->n * sizeof *(v)->at);                                        \
    } while (0)

static void transfer_process(struct transfer *t, struct measurement_process *process)
{
    FIELD(t, process->known);
    FIELD(t, process->host_id);
    FIELD(t, process->pid);
    FIELD(t, process->parent_pid);
    FIELD(t, process->start_time);
    FIELD(t, process->exec_sequence);
    FIELD(t, process->rank);
    FIELD(t, process->origin);
    FIELD(t, process->realtime);
    FIELD(t, process->clock_error);
    FIELD(t, process->monotonic);
    FIELD(t, process->cpu);
    FIELD(t, process->cpus);
    transfer_text(t, &process->host);
    transfer_text(t, &process->executable);
    transfer_text(t, &process->directory);
    transfer_text(t, &process->hpcrun_version);
    COUNT(t, &process->arguments);
    for (size_t i = 0; i < process->arguments.n; i++)
        transfer_text(t, &process->arguments.at[i]);
}

static void transfer_events(struct transfer *t, struct measurement *m)
{
    COUNT(t, &m->events);
    for (size_t i = 0; i < m->events.n; i++) {
        struct measurement_event *event = &m->events.at[i];
        FIELD(t, event->id);
        FIELD(t, event->shift);
        FIELD(t, event->period);
        FIELD(t, event->flags);
        transfer_text(t, &event->name);
        transfer_text(t, &event->unit);
        transfer_text(t, &event->why_other_source);
    }
    COUNT(t, &m->metrics);
    for (size_t i = 0; i < m->metrics.n; i++) {
        struct measurement_metric *metric = &m->metrics.at[i];
        FIELD(t, metric->id);
        FIELD(t, metric->flags);
        FIELD(t, metric->event_id);
        FIELD(t, metric->event);
        transfer_text(t, &metric->name);
    }
}

static void transfer_modules(struct transfer *t, struct measurement *m)
{
    COUNT(t, &m->modules);
    for (size_t i = 0; i < m->modules.n; i++) {
        struct measurement_module *module = &m->modules.at[i];
        char *path = module->path;
        uint8_t *build_id = module->build_id;
        FIELD(t, *module); /* with two pointers that mean nothing to the reader */
        module->path = path;
        transfer_text(t, &module->path);
        module->build_id = t->to ? build_id : mem_alloc(module->build_id_size);
        transfer_raw(t, module->build_id, module->build_id_size);
    }
}

static void transfer_names(struct transfer *t, struct measurement *m)
{
    COUNT(t, &m->name_tables);
    for (size_t i = 0; i < m->name_tables.n; i++) {
        struct measurement_name_table *table = &m->name_tables.at[i];
        FIELD(t, table->number);
        COUNT(t, &table->names);
        for (size_t k = 0; k < table->names.n; k++) {
            FIELD(t, table->names.at[k].value);
            FIELD(t, table->names.at[k].line);
            transfer_text(t, &table->names.at[k].procedure);
            transfer_text(t, &table->names.at[k].file);
        }
    }
    COUNT(t, &m->code_names);
    for (size_t i = 0; i < m->code_names.n; i++) {
        FIELD(t, m->code_names.at[i].address);
        transfer_text(t, &m->code_names.at[i].name);
    }
}

static void transfer_agents(struct transfer *t, struct measurement *m)
{
    COUNT(t, &m->agents);
    for (size_t i = 0; i < m->agents.n; i++) {
        struct measurement_agent *agent = &m->agents.at[i];
        FIELD(t, agent->interface_version);
        transfer_text(t, &agent->name);
        transfer_text(t, &agent->version);
        transfer_text(t, &agent->rules);
        transfer_text(t, &agent->rules_version);
    }
    COUNT(t, &m->refusals);
    for (size_t i = 0; i < m->refusals.n; i++) {
        transfer_text(t, &m->refusals.at[i].agent);
        transfer_text(t, &m->refusals.at[i].why);
    }
    COUNT(t, &m->metric_states);
    for (size_t i = 0; i < m->metric_states.n; i++) {
        FIELD(t, m->metric_states.at[i].metric_id);
        FIELD(t, m->metric_states.at[i].state);
        FIELD(t, m->metric_states.at[i].error);
        transfer_text(t, &m->metric_states.at[i].why);
    }
    COUNT(t, &m->regions);
    for (size_t i = 0; i < m->regions.n; i++) {
        struct measurement_region *region = &m->regions.at[i];
        FIELD(t, region->times);
        FIELD(t, region->work);
        FIELD(t, region->span);
        FIELD(t, region->burdened_span);
        FIELD(t, region->spawns);
        FIELD(t, region->flags);
        transfer_text(t, &region->name);
    }
    PLAIN(t, &m->workers);
}

static void transfer_thread(struct transfer *t, struct measurement_thread *thread)
{
    FIELD(t, thread->index);
    FIELD(t, thread->known);
    FIELD(t, thread->tid);
    FIELD(t, thread->kind);
    FIELD(t, thread->creator);
    FIELD(t, thread->creation_context);
    FIELD(t, thread->join);
    FIELD(t, thread->start_space);
    FIELD(t, thread->start_offset);
    FIELD(t, thread->first_monotonic);
    FIELD(t, thread->first_cpu);
    FIELD(t, thread->last_monotonic);
    FIELD(t, thread->last_cpu);
    FIELD(t, thread->has_ready);
    FIELD(t, thread->ready);
    FIELD(t, thread->timeslices);
    FIELD(t, thread->ended);
    FIELD(t, thread->recovered);
    transfer_text(t, &thread->name);
    PLAIN(t, &thread->nodes);
    PLAIN(t, &thread->values);
    PLAIN(t, &thread->fates);
    FIELD(t, thread->lost_marks);
    COUNT(t, &thread->marks);
    for (size_t i = 0; i < thread->marks.n; i++) {
        FIELD(t, thread->marks.at[i].time);
        FIELD(t, thread->marks.at[i].kind);
        transfer_text(t, &thread->marks.at[i].name);
    }
}

/* All but the threads. */
static void transfer_measurement(struct transfer *t, struct measurement *m)
{
    transfer_text(t, &m->path);
    transfer_process(t, &m->process);
    FIELD(t, m->clock);
    transfer_events(t, m);
    transfer_modules(t, m);
    transfer_names(t, m);
    transfer_agents(t, m);
    FIELD(t, m->recovered);
    FIELD(t, m->complete);
    COUNT(t, &m->problems);
    for (size_t i = 0; i < m->problems.n; i++)
        transfer_text(t, &m->problems.at[i]);
}

/* ---- threads ---- */

/* The index of a creator's node in the digest of the creator. */
static uint32_t new_index(const struct measurement *m, const struct thread_digest *digests,
                          uint64_t creator, uint32_t node)
{
    size_t at = partition_point(i, m->threads.n, m->threads.at[i].index + UINT64_C(1) < creator);
    bool is_known = at < m->threads.n && m->threads.at[at].index + UINT64_C(1) == creator &&
                    node < m->threads.at[at].nodes.n;
    return is_known ? digests[at].new_index[node] : node;
}

static void pack_thread(struct transfer *t, const struct measurement *m,
                        const struct thread_digest *digests, size_t index)
{
    struct measurement_thread thread = m->threads.at[index];
    const struct thread_digest *digest = &digests[index];
    thread.nodes.at = digest->nodes.at;
    thread.nodes.n = digest->nodes.n;
    thread.values.at = digest->values.at;
    thread.values.n = digest->values.n;
    thread.creation_context = new_index(m, digests, thread.creator, thread.creation_context);
    if (thread.join.known)
        thread.join.node = new_index(m, digests, thread.creator, thread.join.node);
    transfer_thread(t, &thread);
}

void measurement_pack(struct team_bytes *bytes, const struct measurement *m)
{
    struct transfer t = {.to = bytes};
    autofree struct thread_digest *digests = mem_alloc(m->threads.n * sizeof *digests);
    struct measurement copy = *m;
    transfer_measurement(&t, &copy);
    COUNT(&t, &copy.threads);
    for (size_t i = 0; i < m->threads.n; i++)
        thread_digest_make(&digests[i], m, i);
    for (size_t i = 0; i < m->threads.n; i++)
        pack_thread(&t, m, digests, i);
    for (size_t i = 0; i < m->threads.n; i++)
        thread_digest_free(&digests[i]);
    COUNT(&t, &copy.children);
    for (size_t i = 0; i < m->children.n; i++)
        measurement_pack(bytes, m->children.at[i]);
}

struct measurement *measurement_unpack(const uint8_t **at)
{
    struct transfer t = {.from = *at};
    struct measurement *m = mem_alloc(sizeof *m);
    transfer_measurement(&t, m);
    m->name = path_base(m->path);
    COUNT(&t, &m->threads);
    for (size_t i = 0; i < m->threads.n; i++)
        transfer_thread(&t, &m->threads.at[i]);
    COUNT(&t, &m->children);
    for (size_t i = 0; i < m->children.n; i++)
        m->children.at[i] = measurement_unpack(&t.from);
    *at = t.from;
    return m;
}

#include "lib/measurement-builder.h"

#include <stdlib.h>

static void replace_string(char **text, struct cursor *c)
{
    free(*text);
    *text = read_string(c);
}

static void decode_process(struct builder *b, struct cursor *c)
{
    struct measurement_process *p = &b->m->process;
    replace_string(&p->host, c);
    p->host_id = read_u64(c);
    p->pid = read_v(c);
    p->parent_pid = read_v(c);
    p->start_time = read_v(c);
    p->exec_sequence = read_v(c);
    p->rank = unzigzag(read_v(c));
    p->origin = read_v(c);
    replace_string(&p->executable, c);
    replace_string(&p->directory, c);
    while (p->arguments.n)
        free(p->arguments.at[--p->arguments.n]);
    uint64_t count = read_count(c, 1);
    for (uint64_t i = 0; i < count; i++)
        vec_push(&p->arguments, read_string(c));
    p->realtime = read_v(c);
    p->monotonic = read_v(c);
    p->cpu = read_v(c);
    p->cpus = read_v(c);
    replace_string(&p->hpcrun_version, c);
    p->clock_error = c->at < c->end ? read_v(c) : 0;
    p->known = !c->bad;
}

/* Bounds that hpcrun's files never exceed; beyond them a file is damaged or hostile. */
#define MAX_SHIFT       32 /* of amounts */
#define MAX_EVENTS      1024
#define MAX_METRICS     4096

static struct measurement_event read_event(struct cursor *c, uint64_t id)
{
    struct measurement_event event = {.id = id};
    event.name = read_string(c);
    event.unit = read_string(c);
    event.shift = read_v(c);
    event.period = read_v(c);
    event.flags = read_v(c);
    event.why_other_source = read_string(c);
    if (event.shift > MAX_SHIFT)
        c->bad = true;
    return event;
}

static void decode_events(struct builder *b, struct cursor *c)
{
    uint64_t first = read_v(c), count = read_count(c, 6);
    if (b->m->events.n + count > MAX_EVENTS)
        c->bad = true;
    for (uint64_t i = 0; i < count && !c->bad; i++) {
        struct measurement_event event = read_event(c, first + i);
        if (c->bad)
            release_event(&event);
        else
            vec_push(&b->m->events, event);
    }
}

static void decode_metrics(struct builder *b, struct cursor *c)
{
    uint64_t first = read_v(c), count = read_count(c, 3);
    if (b->m->metrics.n + count > MAX_METRICS)
        c->bad = true;
    for (uint64_t i = 0; i < count && !c->bad; i++) {
        struct measurement_metric metric = {.id = first + i};
        metric.name = read_string(c);
        metric.event_id = read_v(c);
        metric.flags = read_v(c);
        if (c->bad)
            free(metric.name);
        else
            vec_push(&b->m->metrics, metric);
    }
}

static void read_build_id(struct cursor *c, struct measurement_module *module)
{
    size_t size = read_count(c, 1);
    module->build_id = mem_alloc(size);
    module->build_id_size = size;
    memcpy(module->build_id, c->at, size);
    c->at += size;
}

static struct measurement_module read_module(struct cursor *c)
{
    struct measurement_module module = {.id = read_v(c)};
    module.begin = read_u64(c);
    module.end = read_u64(c);
    module.bias = read_u64(c);
    module.flags = read_v(c);
    module.generation = read_v(c);
    module.path = read_string(c);
    read_build_id(c, &module);
    module.header_hash = read_u64(c);
    module.file_size = read_v(c);
    module.modified = read_v(c);
    return module;
}

/* Threads that need a module at the same time all write it. */
static void add_module(struct builder *b, struct measurement_module *module)
{
    if (idmap_get(&b->module_ids, module->id, 0) != IDMAP_NONE) {
        release_module(module);
        return;
    }
    idmap_put(&b->module_ids, module->id, 0, 0);
    vec_push(&b->m->modules, *module);
}

static void decode_modules(struct builder *b, struct cursor *c)
{
    uint64_t count = read_count(c, 39);
    for (uint64_t i = 0; i < count && !c->bad; i++) {
        struct measurement_module module = read_module(c);
        if (c->bad)
            release_module(&module);
        else
            add_module(b, &module);
    }
}

static struct measurement_name_table *name_table(struct builder *b, uint64_t number)
{
    for (size_t i = 0; i < b->m->name_tables.n; i++)
        if (b->m->name_tables.at[i].number == number)
            return &b->m->name_tables.at[i];
    vec_push(&b->m->name_tables, (struct measurement_name_table){.number = number});
    return &b->m->name_tables.at[b->m->name_tables.n - 1];
}

static void decode_names(struct builder *b, struct cursor *c)
{
    uint64_t number = read_v(c), count = read_count(c, 4);
    if (number >= MAX_NAME_TABLES)
        c->bad = true;
    if (c->bad)
        return;
    struct measurement_name_table *table = name_table(b, number);
    for (uint64_t i = 0; i < count && !c->bad; i++) {
        struct measurement_name name = {.value = read_v(c)};
        name.procedure = read_string(c);
        name.file = read_string(c);
        name.line = read_v(c);
        if (c->bad)
            release_name(&name);
        else
            vec_push(&table->names, name);
    }
}

static void decode_code_names(struct builder *b, struct cursor *c)
{
    size_t size = read_count(c, 1);
    vec_reserve(&b->code_map, size);
    if (size)
        memcpy(b->code_map.at + b->code_map.n, c->at, size);
    b->code_map.n += size;
    c->at += size;
}

static void decode_agents(struct builder *b, struct cursor *c)
{
    uint64_t count = read_count(c, 5);
    for (uint64_t i = 0; i < count && !c->bad; i++) {
        struct measurement_agent agent = {.name = read_string(c)};
        agent.version = read_string(c);
        agent.interface_version = read_v(c);
        agent.rules = read_string(c);
        agent.rules_version = read_string(c);
        if (c->bad)
            release_agent(&agent);
        else
            vec_push(&b->m->agents, agent);
    }
}

static void decode_refusals(struct builder *b, struct cursor *c)
{
    uint64_t count = read_count(c, 2);
    for (uint64_t i = 0; i < count && !c->bad; i++) {
        struct measurement_refusal refusal = {.agent = read_string(c)};
        refusal.why = read_string(c);
        if (c->bad)
            release_refusal(&refusal);
        else
            vec_push(&b->m->refusals, refusal);
    }
}

/* Earlier versions wrote no errors. */
static void decode_metric_states(struct builder *b, struct cursor *c)
{
    uint64_t count = read_count(c, 3), first = b->m->metric_states.n;
    for (uint64_t i = 0; i < count && !c->bad; i++) {
        struct measurement_metric_state state = {.metric_id = read_v(c)};
        state.state = read_v(c);
        state.why = read_string(c);
        if (c->bad)
            release_metric_state(&state);
        else
            vec_push(&b->m->metric_states, state);
    }
    for (uint64_t i = first; i < b->m->metric_states.n && c->at < c->end; i++)
        b->m->metric_states.at[i].error = read_v(c);
}

/* An image whose exec failed writes its regions again at its end. */
static void decode_region(struct builder *b, struct cursor *c)
{
    struct measurement *m = b->m;
    uint64_t number = read_v(c);
    struct measurement_region region = {.name = read_string(c)};
    region.times = read_v(c);
    region.work = read_v(c);
    region.span = read_v(c);
    region.burdened_span = read_v(c);
    region.spawns = read_v(c);
    region.flags = read_v(c);
    if (c->bad) {
        release_region(&region);
        return;
    }
    while (number == 0 && m->regions.n > 0)
        release_region(&m->regions.at[--m->regions.n]);
    vec_push(&m->regions, region);
}

static void decode_workers(struct builder *b, struct cursor *c)
{
    uint64_t agent = read_v(c), count = read_count(c, 3);
    for (uint64_t i = 0; i < count && !c->bad; i++) {
        struct measurement_worker_change change = {.agent = agent};
        change.monotonic = read_v(c);
        change.workers = read_v(c);
        change.n = read_v(c);
        if (!c->bad)
            vec_push(&b->m->workers, change);
    }
}

static struct child_file *child_file(struct builder *b, uint64_t pid, uint64_t start_time)
{
    uint32_t position = idmap_get(&b->child_positions, pid, start_time);
    if (position == IDMAP_NONE) {
        position = (uint32_t)b->children.n;
        idmap_put(&b->child_positions, pid, start_time, position);
        vec_push(&b->children, (struct child_file){.pid = pid, .start_time = start_time});
    }
    return &b->children.at[position];
}

/* The pieces come in the order in which the child wrote them. */
static void decode_child(struct builder *b, struct cursor *c)
{
    uint64_t pid = read_v(c), start_time = read_v(c);
    if (b->is_child)
        c->bad = true;
    if (c->bad)
        return;
    struct child_file *child = child_file(b, pid, start_time);
    size_t size = (size_t)(c->end - c->at);
    vec_reserve(&child->bytes, size);
    if (size)
        memcpy(child->bytes.at + child->bytes.n, c->at, size);
    child->bytes.n += size;
    c->at += size;
}

static void decode_process_clock(struct builder *b, struct cursor *c)
{
    struct measurement_process_clock clock = {.monotonic = read_v(c)};
    clock.cpu = read_v(c);
    clock.state = read_v(c);
    clock.detail = read_v(c);
    if (c->at < c->end) { /* since 2.3 */
        clock.quota = read_v(c);
        uint64_t throttled = read_v(c);
        clock.has_throttled = throttled > 0;
        clock.throttled = throttled - (throttled > 0);
    }
    if (!c->bad)
        b->m->clock = clock;
}

void decode_process_chunk(struct builder *b, enum chunk_kind kind, struct cursor *c)
{
    switch (kind) {
    case CHUNK_PROCESS: decode_process(b, c); break;
    case CHUNK_EVENTS: decode_events(b, c); break;
    case CHUNK_METRICS: decode_metrics(b, c); break;
    case CHUNK_MODULES: decode_modules(b, c); break;
    case CHUNK_NAMES: decode_names(b, c); break;
    case CHUNK_LINES: decode_lines(b, c); break;
    case CHUNK_AGENTS: decode_agents(b, c); break;
    case CHUNK_REFUSALS: decode_refusals(b, c); break;
    case CHUNK_METRIC_STATES: decode_metric_states(b, c); break;
    case CHUNK_REGIONS: decode_region(b, c); break;
    case CHUNK_WORKERS: decode_workers(b, c); break;
    case CHUNK_PROCESS_CLOCK: decode_process_clock(b, c); break;
    case CHUNK_OLD_DAG: break;
    case CHUNK_CODE_NAMES: decode_code_names(b, c); break;
    case CHUNK_CHILD: decode_child(b, c); break;
    default: c->bad = true; /* a thread's chunk that names no thread */
    }
}

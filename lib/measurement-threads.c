#include "lib/binary-search.h"
#include "lib/measurement-builder.h"
#include "lib/trace-format.h"

#include <stdlib.h>

/* A thread under construction; the pointers are valid until the next thread is added. */
struct thread_parts {
    struct measurement_thread *thread;
    struct thread_state *state;
};

static struct thread_parts thread_at(struct builder *b, uint32_t position)
{
    return (struct thread_parts){&b->m->threads.at[position], &b->states.at[position]};
}

static struct thread_parts find_or_add_thread(struct builder *b, uint32_t index)
{
    uint32_t position = idmap_get(&b->thread_positions, index, 0);
    if (position != IDMAP_NONE)
        return thread_at(b, position);
    position = (uint32_t)b->m->threads.n;
    idmap_put(&b->thread_positions, index, 0, position);
    vec_push(&b->m->threads, (struct measurement_thread){.index = index,
                                                         .name = mem_strdup(""),
                                                         .start_space = MEASUREMENT_NO_NOTE,
                                                         .trace_event = MEASUREMENT_UNKNOWN,
                                                         .trace_step = 1});
    vec_push(&b->states, (struct thread_state){0});

    struct thread_parts t = thread_at(b, position);
    const struct measurement_node root = {
        .ip_space = MEASUREMENT_NO_NOTE,
        .lip_space = MEASUREMENT_NO_NOTE,
    };
    vec_push(&t.thread->nodes, root);
    const struct measurement_node lost = {
        .parent = MEASUREMENT_ROOT,
        .ip_space = MEASUREMENT_PLACEHOLDER,
        .ip_offset = PLACEHOLDER_PARTIAL,
        .lip_space = MEASUREMENT_PLACEHOLDER,
        .lip_value = PLACEHOLDER_PARTIAL,
        .associations = 1 << ASSOC_1_1,
    };
    vec_push(&t.thread->nodes, lost);
    return t;
}

uint32_t node_index(const struct thread_state *state, uint64_t id)
{
    if (id == 0)
        return MEASUREMENT_ROOT;
    size_t n = partition_point(i, state->ranges.n, state->ranges.at[i].first_id <= id);
    if (n == 0)
        return MEASUREMENT_LOST_NODE;
    const struct id_range *range = &state->ranges.at[n - 1];
    if (id - range->first_id >= range->count)
        return MEASUREMENT_LOST_NODE;
    return range->first_index + (uint32_t)(id - range->first_id);
}

/* The index in b->spaces of a module instance or a name table, added if it is new. */
static uint32_t space_slot(struct builder *b, uint64_t id, bool names)
{
    uint32_t slot = idmap_get(&b->space_slots, id, names);
    if (slot == IDMAP_NONE) {
        slot = (uint32_t)b->spaces.n;
        idmap_put(&b->space_slots, id, names, slot);
        vec_push(&b->spaces, (struct space_id){.id = id, .names = names});
    }
    return slot;
}

static void read_notes(struct builder *b, struct cursor *c, uint8_t tag,
                       struct measurement_node *node)
{
    node->ip_space = node->lip_space = MEASUREMENT_NO_NOTE;
    if (tag & NODE_HAS_IP) {
        node->ip_space = space_slot(b, read_v(c), false);
        node->ip_offset = read_v(c);
    }
    if (tag & NODE_HAS_LIP) {
        uint64_t space = read_v(c);
        node->lip_space = space_slot(b, space / 2, space % 2);
        node->lip_value = read_v(c);
        uint64_t site_plus_1 = read_v(c);
        node->has_site = site_plus_1 != 0;
        node->site = node->has_site ? site_plus_1 - 1 : 0;
    } else if (tag & NODE_LIP_IS_IP) {
        node->lip_space = node->ip_space;
        node->lip_value = node->site = node->ip_offset;
        node->has_site = true;
    }
}

/* Reads one node; false if it is malformed. */
static bool read_node(struct builder *b, struct cursor *c, const struct thread_state *state,
                      uint64_t id, struct measurement_node *node)
{
    uint64_t distance = read_v(c);
    uint8_t tag = read_u8(c);
    if (distance == 0 || distance > id || (tag & NODE_ASSOCIATION) > ASSOC_1_M)
        c->bad = true;
    if ((tag & NODE_LIP_IS_IP) && !(tag & NODE_HAS_IP))
        c->bad = true;
    if (c->bad)
        return false;
    *node = (struct measurement_node){
        .parent = node_index(state, id - distance),
        .association = tag & NODE_ASSOCIATION,
        .associations = (uint8_t)(1 << (tag & NODE_ASSOCIATION)),
        .first_of_bichord = tag & NODE_FIRST_OF_BICHORD,
    };
    read_notes(b, c, tag, node);
    return !c->bad;
}

static void decode_nodes(struct builder *b, struct thread_parts t, struct cursor *c)
{
    uint64_t id = read_v(c), count = read_count(c, 2), next_id = 1;
    if (t.state->ranges.n) {
        const struct id_range *last = &t.state->ranges.at[t.state->ranges.n - 1];
        next_id = last->first_id + last->count;
    }
    if (id < next_id || count > UINT64_MAX - id || count > MEASUREMENT_NAMES - t.thread->nodes.n)
        c->bad = true;
    if (c->bad || count == 0)
        return;
    const struct id_range range = {.first_id = id, .first_index = (uint32_t)t.thread->nodes.n};
    vec_push(&t.state->ranges, range);
    vec_reserve(&t.thread->nodes, count);
    struct id_range *grown = &t.state->ranges.at[t.state->ranges.n - 1];
    struct measurement_node node;
    while (grown->count < count && read_node(b, c, t.state, id + grown->count, &node)) {
        vec_push(&t.thread->nodes, node);
        grown->count++;
    }
}

static void decode_associations(struct thread_parts t, struct cursor *c)
{
    uint64_t count = read_count(c, 2);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t id = read_v(c);
        uint8_t set = read_u8(c);
        if (c->bad)
            return;
        uint32_t node = node_index(t.state, id);
        if (node != MEASUREMENT_LOST_NODE)
            t.thread->nodes.at[node].associations |= set;
    }
}

static void decode_values(struct thread_parts t, struct cursor *c)
{
    uint64_t count = read_count(c, 2), id = 0;
    for (uint64_t i = 0; i < count; i++) {
        id += read_v(c);
        uint32_t node = node_index(t.state, id);
        uint64_t pairs = read_count(c, 2);
        for (uint64_t k = 0; k < pairs; k++) {
            uint64_t metric_id = read_v(c), amount = read_v(c);
            if (c->bad)
                return;
            const struct measurement_value value = {
                .node = node,
                .metric = metric_id < UINT32_MAX ? (uint32_t)metric_id : UINT32_MAX,
                .amount = amount,
            };
            vec_push(&t.thread->values, value);
            t.state->lost_values += node == MEASUREMENT_LOST_NODE;
        }
    }
}

/* Codes of fates and sources never exceed this in hpcrun's files. */
#define MAX_CODE 255

static void decode_fates(struct thread_parts t, struct cursor *c)
{
    uint64_t event_id = read_v(c), source = read_v(c), count = read_count(c, 3);
    if (event_id >= UINT32_MAX || source > MAX_CODE)
        c->bad = true;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t code = read_v(c);
        struct measurement_fate fate = {.event = (uint32_t)event_id, .source = (uint32_t)source};
        fate.count = read_v(c);
        fate.amount = read_v(c);
        if (code > MAX_CODE)
            c->bad = true;
        if (c->bad)
            return;
        fate.code = (uint32_t)code;
        vec_push(&t.thread->fates, fate);
    }
}

/* The start routine, at the end of THREAD records since version 1.1. */
static void decode_start(struct builder *b, struct measurement_thread *thread, struct cursor *c)
{
    thread->start_space = MEASUREMENT_NO_NOTE;
    if (c->bad || c->at == c->end)
        return;
    uint64_t instance = read_v(c);
    thread->start_offset = read_v(c);
    if (!c->bad && (instance != INSTANCE_NO_MODULE || thread->start_offset != 0))
        thread->start_space = space_slot(b, instance, false);
}

static void decode_thread(struct builder *b, struct thread_parts t, struct cursor *c)
{
    struct measurement_thread *thread = t.thread;
    thread->tid = read_v(c);
    thread->kind = read_v(c);
    free(thread->name);
    thread->name = read_string(c);
    thread->creator = read_v(c);
    t.state->creation_context = read_v(c);
    thread->first_monotonic = read_v(c);
    thread->first_cpu = read_v(c);
    decode_start(b, thread, c);
    thread->known = !c->bad;
}

static void decode_thread_clock(struct thread_parts t, struct cursor *c)
{
    uint64_t monotonic = read_v(c), cpu = read_v(c), state = read_v(c);
    uint64_t ready = c->at == c->end ? 0 : read_v(c); /* since 2.3 */
    uint64_t timeslices = c->at == c->end ? 0 : read_v(c);
    if (c->bad)
        return;
    t.thread->has_ready = ready > 0;
    t.thread->ready = ready - (ready > 0);
    t.thread->timeslices = timeslices;
    t.thread->last_monotonic = monotonic;
    t.thread->last_cpu = cpu;
    t.thread->ended = state != 0;
}

static void decode_joins(struct builder *b, struct thread_parts t, struct cursor *c)
{
    uint64_t count = read_count(c, 5);
    for (uint64_t i = 0; i < count; i++) {
        struct join_record join = {.joiner = t.thread->index, .thread = read_v(c)};
        join.node = read_v(c);
        uint64_t instance = read_v(c);
        join.offset = read_v(c);
        join.flags = read_u8(c);
        if (c->bad)
            return;
        join.slot = space_slot(b, instance, false);
        vec_push(&b->joins, join);
    }
}

/* ---- the trace ---- */

static uint32_t read_u32_v(struct cursor *c)
{
    uint64_t value = read_v(c);
    if (value > UINT32_MAX)
        c->bad = true;
    return (uint32_t)value;
}

/* What a record of TRACE is relative to. */
struct record_before {
    uint64_t time, node; /* since the thread was first seen; an id */
    uint32_t n, working;
};

/* Reads one record; its time counts from when the thread was first seen. */
static struct measurement_trace_record read_record(struct cursor *c, struct record_before *before)
{
    before->time += (uint64_t)unzigzag(read_v(c));
    uint8_t tag = read_u8(c);
    uint64_t amount = read_v(c);
    before->node += (uint64_t)unzigzag(read_v(c));
    if (tag & TRACE_HAS_CAPACITY) {
        before->n = read_u32_v(c);
        before->working = read_u32_v(c);
    }
    unsigned state = tag & TRACE_STATE_MASK;
    bool is_state = state > 0 && state < TRACE_STATES && state != TRACE_OVERHEAD;
    if (!is_state || amount >> (64 - TRACE_FLAG_BITS))
        c->bad = true;
    return (struct measurement_trace_record){
        .time = before->time,
        .amount = amount << TRACE_FLAG_BITS | (tag & TRACE_WORKER) | state,
        .n = before->n,
        .working = before->working,
        .waiters = tag & TRACE_HAS_WAITERS ? read_u32_v(c) : 0,
    };
}

static void decode_trace(struct thread_parts t, struct cursor *c)
{
    uint64_t event_id = read_v(c), step = read_v(c), count = read_count(c, 4);
    if (t.thread->trace.n == 0)
        t.state->trace_event = event_id;
    bool is_step = step > 0 && step <= UINT32_MAX && (step & (step - 1)) == 0;
    if (!is_step || event_id != t.state->trace_event)
        c->bad = true;
    if (c->bad)
        return;
    if (step > t.thread->trace_step)
        t.thread->trace_step = step;
    struct record_before before = {0};
    for (uint64_t i = 0; i < count; i++) {
        struct measurement_trace_record record = read_record(c, &before);
        if (c->bad)
            return;
        record.node = node_index(t.state, before.node);
        t.state->lost_records += record.node == MEASUREMENT_LOST_NODE;
        vec_push(&t.thread->trace, record);
    }
}

/* Their times count from when the thread was first seen. */
static void decode_marks(struct thread_parts t, struct cursor *c)
{
    uint64_t count = read_count(c, 3), time = 0;
    for (uint64_t i = 0; i < count && !c->bad; i++) {
        time += (uint64_t)unzigzag(read_v(c));
        struct measurement_mark mark = {.time = time, .kind = read_u8(c)};
        mark.name = read_string(c);
        if (c->bad)
            free(mark.name);
        else
            vec_push(&t.thread->marks, mark);
    }
    uint64_t lost = read_v(c);
    if (!c->bad)
        t.thread->lost_marks = lost;
}

/* Times count as those of marks. A wake-up that is not later than the one before is left over (lib/arena-format.h). */
static void decode_wake_ups(struct thread_parts t, struct cursor *c)
{
    uint64_t count = read_count(c, 4), time = 0;
    for (uint64_t i = 0; i < count && !c->bad; i++) {
        time += (uint64_t)unzigzag(read_v(c));
        uint64_t began = time - read_v(c), released = time - read_v(c), by = read_v(c);
        const struct measurement_wake_up wake_up = {time, began, released, (uint32_t)by};
        size_t n = t.thread->wake_ups.n;
        if (!c->bad && (n == 0 || time > t.thread->wake_ups.at[n - 1].time))
            vec_push(&t.thread->wake_ups, wake_up);
    }
    uint64_t lost = read_v(c), step = read_v(c), window = read_v(c);
    c->bad |= step == 0 || window == 0;
    if (c->bad)
        return;
    t.thread->lost_wake_ups = lost;
    t.thread->wake_up_step = step;
    t.thread->wake_up_window = window;
}

void decode_thread_chunk(struct builder *b, enum chunk_kind kind, uint32_t thread, struct cursor *c)
{
    struct thread_parts t = find_or_add_thread(b, thread);
    switch (kind) {
    case CHUNK_THREAD: decode_thread(b, t, c); break;
    case CHUNK_THREAD_CLOCK: decode_thread_clock(t, c); break;
    case CHUNK_NODES: decode_nodes(b, t, c); break;
    case CHUNK_ASSOCIATIONS: decode_associations(t, c); break;
    case CHUNK_VALUES: decode_values(t, c); break;
    case CHUNK_FATES: decode_fates(t, c); break;
    case CHUNK_JOINS: decode_joins(b, t, c); break;
    case CHUNK_TRACE: decode_trace(t, c); break;
    case CHUNK_MARKS: decode_marks(t, c); break;
    case CHUNK_WAKE_UPS: decode_wake_ups(t, c); break;
    default: c->bad = true; /* a process's chunk that names a thread */
    }
}

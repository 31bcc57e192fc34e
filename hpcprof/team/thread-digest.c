#include "hpcprof/team/thread-digest.h"

#include "lib/hash-tables.h"
#include "lib/metric-kinds.h"

#include <stdlib.h>
#include <string.h>

/* ---- paths of creations and joins ---- */

static void keep_path(const struct measurement_thread *thread, bool *is_kept, uint32_t node)
{
    while (node < thread->nodes.n && !is_kept[node]) {
        is_kept[node] = true;
        node = thread->nodes.at[node].parent;
    }
}

static bool *find_paths(const struct measurement *m, const struct measurement_thread *thread)
{
    bool *is_kept = mem_alloc(thread->nodes.n * sizeof *is_kept);
    is_kept[MEASUREMENT_ROOT] = is_kept[MEASUREMENT_LOST_NODE] = true;
    for (size_t i = 0; i < m->threads.n; i++) {
        const struct measurement_thread *created = &m->threads.at[i];
        if (created->creator != (uint64_t)thread->index + 1)
            continue;
        keep_path(thread, is_kept, created->creation_context);
        if (created->join.known)
            keep_path(thread, is_kept, created->join.node);
    }
    return is_kept;
}

/* ---- nodes ---- */

static uint32_t add_node(struct thread_digest *digest, const struct measurement_node *node,
                         uint32_t parent)
{
    struct measurement_node copy = *node;
    copy.parent = parent;
    vec_push(&digest->nodes, copy);
    return (uint32_t)digest->nodes.n - 1;
}

/* Calls: pairs of ips, and of such a pair and the l-note of a body between the two. */
struct known_calls {
    struct idmap places; /* ip, or IS_LIP and lip -> its number */
    struct idmap pairs;  /* two numbers -> the number of the pair */
    uint32_t count;
};

#define IS_LIP ((uint64_t)1 << 32)

static uint32_t number_in(struct known_calls *known, struct idmap *map, uint64_t a, uint64_t b)
{
    uint32_t number = idmap_get(map, a, b);
    if (number == IDMAP_NONE) {
        number = known->count++;
        idmap_put(map, a, b, number);
    }
    return number;
}

/* Whether this is the first call of `inner` from `outer`, by way of `body` or, if that is NULL, without
 * one. */
static bool is_new_call(struct known_calls *known, const struct measurement_node *outer,
                        const struct measurement_node *body, const struct measurement_node *inner)
{
    struct idmap *places = &known->places;
    uint32_t a = number_in(known, places, outer->ip_space, outer->ip_offset);
    uint32_t b = number_in(known, places, inner->ip_space, inner->ip_offset);
    if (body)
        a = number_in(known, &known->pairs, a,
                      number_in(known, places, IS_LIP | body->lip_space, body->lip_value));
    uint32_t before = known->count;
    return number_in(known, &known->pairs, a, b) == before;
}

/* Whether the code below a node may be the body of a construct (construct-names.c). */
static bool may_have_bodies(const struct measurement_node *node)
{
    return node->association == ASSOC_1_0 || node->association == ASSOC_1_M ||
           (node->association == ASSOC_1_1 && measurement_node_lacks_site(node));
}

/* Adds a call, with the node of its body's l-note. */
static void add_call(struct thread_digest *digest, const struct measurement_node *outer,
                     const struct measurement_node *body, const struct measurement_node *inner)
{
    uint32_t caller = add_node(digest, outer, MEASUREMENT_ROOT);
    if (body && body != outer)
        caller = add_node(digest, body, caller);
    add_node(digest, inner, caller);
}

/* Copies the nodes on kept paths, and calls from a node that may have bodies. Nodes without ip between
 * the two are left out but for the innermost one, if it is a body's. */
static void add_nodes(struct thread_digest *digest, const struct measurement *m,
                      const struct measurement_thread *thread, const bool *is_kept)
{
    struct known_calls known = {0};
    autofree uint32_t *outer_of = mem_alloc(thread->nodes.n * sizeof *outer_of); /* 0: none */
    for (uint32_t i = 0; i < thread->nodes.n; i++) {
        const struct measurement_node *node = &thread->nodes.at[i];
        uint32_t outer = i ? outer_of[node->parent] : 0;
        bool is_call = m->agents.n && outer && node->ip_space != MEASUREMENT_NO_NOTE;
        const struct measurement_node *caller = &thread->nodes.at[node->parent],
                                      *body = measurement_node_lacks_site(caller) ? caller : NULL;
        if (is_call && is_new_call(&known, &thread->nodes.at[outer], body, node))
            add_call(digest, &thread->nodes.at[outer], body, node);
        if (is_kept[i])
            digest->new_index[i] = add_node(digest, node, i ? digest->new_index[node->parent] : 0);
        if (i > MEASUREMENT_LOST_NODE)
            outer_of[i] = node->ip_space == MEASUREMENT_NO_NOTE ? outer
                          : may_have_bodies(node)               ? i
                                                                : 0;
    }
    idmap_free(&known.places);
    idmap_free(&known.pairs);
}

/* ---- values ---- */

/* Whether an amount is not 0 in the fixed point of the database. */
static bool is_amount(const struct measurement *m, const struct measurement_value *value)
{
    const struct measurement_event *event = &m->events.at[m->metrics.at[value->metric].event];
    uint64_t shift = strcmp(event->unit, "ns") == 0 ? TIME_SHIFT : 0;
    return value->amount >> (event->shift > shift ? event->shift - shift : 0);
}

/* Adds one value of each metric, at a node without code, and those that name locks. */
static void add_values(struct thread_digest *digest, const struct measurement *m,
                       const struct measurement_thread *thread)
{
    struct idmap locks = {0};
    autofree bool *is_known = mem_alloc(m->metrics.n * sizeof *is_known);
    for (size_t i = 0; i < thread->values.n; i++) {
        struct measurement_value value = thread->values.at[i];
        const struct measurement_node *node = &thread->nodes.at[value.node];
        bool is_lock = node->ip_space < m->modules.n && is_amount(m, &value) &&
                       strcmp(m->metrics.at[value.metric].name, METRIC_LOCK_WAIT) == 0 &&
                       idmap_get(&locks, node->ip_space, node->ip_offset) == IDMAP_NONE;
        if (!is_lock && is_known[value.metric])
            continue;
        if (is_lock)
            idmap_put(&locks, node->ip_space, node->ip_offset, 0);
        is_known[value.metric] = true;
        value.node = is_lock ? add_node(digest, node, MEASUREMENT_ROOT) : MEASUREMENT_LOST_NODE;
        vec_push(&digest->values, value);
    }
    idmap_free(&locks);
}

void thread_digest_make(struct thread_digest *digest, const struct measurement *m, size_t index)
{
    const struct measurement_thread *thread = &m->threads.at[index];
    autofree bool *is_kept = find_paths(m, thread);
    digest->new_index = mem_alloc(thread->nodes.n * sizeof *digest->new_index);
    add_nodes(digest, m, thread, is_kept);
    add_values(digest, m, thread);
}

void thread_digest_free(struct thread_digest *digest)
{
    vec_free(&digest->nodes);
    vec_free(&digest->values);
    free(digest->new_index);
}

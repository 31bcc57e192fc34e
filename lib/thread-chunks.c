#include "lib/thread-chunks.h"

#include <string.h>

static void add_ip(struct chunk *chunk, uint64_t ip)
{
    chunk_v(chunk, ip_instance(ip));
    chunk_v(chunk, ip_offset(ip));
}

static bool commit_counted(struct thread_chunks *thread, size_t where, uint32_t count)
{
    chunk_count(thread->chunk, where, count);
    return count == 0 || thread->commit(thread);
}

bool thread_chunks_identity(struct thread_chunks *thread)
{
    const struct arena_thread *image = thread->image;
    struct chunk *chunk = thread->chunk;
    chunk_begin(chunk, CHUNK_THREAD, image->index);
    chunk_v(chunk, image->tid);
    chunk_v(chunk, image->kind);
    chunk_bytes(chunk, image->name, strnlen(image->name, sizeof image->name));
    chunk_v(chunk, image->creator);
    chunk_v(chunk, image->creation_node);
    chunk_v(chunk, image->began_wall);
    chunk_v(chunk, image->began_cpu);
    add_ip(chunk, image->start_ip);
    return thread->commit(thread);
}

bool thread_chunks_clocks(struct thread_chunks *thread, const struct thread_clocks *clocks)
{
    struct chunk *chunk = thread->chunk;
    chunk_begin(chunk, CHUNK_THREAD_CLOCK, thread->image->index);
    chunk_v(chunk, clocks->wall);
    chunk_v(chunk, clocks->cpu);
    chunk_v(chunk, clocks->ended);
    chunk_v(chunk, clocks->ready);
    chunk_v(chunk, clocks->timeslices);
    return thread->commit(thread);
}

/* ---- the tree ---- */

/* Bytes of a node at most: four numbers of 32 bits, three of 64, and its tag. */
#define NODE_BYTES (4 * 5 + 3 * VARINT_MAX_BYTES + 1)

static bool add_node(struct thread_chunks *thread, uint32_t id)
{
    const struct cct_node *node = thread->item(thread, ARENA_NODES, id);
    bool has_own = node && node->lip >= LIP_OWN;
    const struct lnote *own =
        has_own ? thread->item(thread, ARENA_LNOTES, node->lip - LIP_OWN) : NULL;
    if (!node || node->parent >= id || (has_own && !own))
        return false;
    unsigned tag = (node->association & NODE_ASSOCIATION) |
                   (node->first ? NODE_FIRST_OF_BICHORD : 0u) | (node->ip ? NODE_HAS_IP : 0u) |
                   (node->ip && node->lip == LIP_IS_IP ? NODE_LIP_IS_IP : 0u) |
                   (own ? NODE_HAS_LIP : 0u);
    chunk_v(thread->chunk, id - node->parent);
    chunk_u8(thread->chunk, (uint8_t)tag);
    if (node->ip)
        add_ip(thread->chunk, node->ip);
    if (own) {
        chunk_v(thread->chunk, ip_space(own->value));
        chunk_v(thread->chunk, ip_offset(own->value));
        chunk_v(thread->chunk, own->site ? ip_offset(own->site) + 1 : 0);
    }
    return true;
}

bool thread_chunks_nodes(struct thread_chunks *thread, uint32_t *first)
{
    while (*first < thread->image->nodes) {
        uint32_t id = *first;
        chunk_begin(thread->chunk, CHUNK_NODES, thread->image->index);
        chunk_v(thread->chunk, id);
        size_t count = chunk_count_later(thread->chunk);
        for (; id < thread->image->nodes && chunk_has_room(thread->chunk, NODE_BYTES); id++)
            if (!add_node(thread, id))
                return false;
        if (!commit_counted(thread, count, id - *first))
            return false;
        *first = id;
    }
    return true;
}

bool thread_chunks_associations(struct thread_chunks *thread)
{
    for (uint32_t id = 1; id < thread->image->nodes;) {
        uint32_t entries = 0;
        chunk_begin(thread->chunk, CHUNK_ASSOCIATIONS, thread->image->index);
        size_t count = chunk_count_later(thread->chunk);
        for (; id < thread->image->nodes && chunk_has_room(thread->chunk, 5 + 1); id++) {
            const struct cct_node *node = thread->item(thread, ARENA_NODES, id);
            if (!node)
                return false;
            if (node->seen == 1u << (node->association & NODE_ASSOCIATION))
                continue;
            chunk_v(thread->chunk, id);
            chunk_u8(thread->chunk, node->seen);
            entries++;
        }
        if (!commit_counted(thread, count, entries))
            return false;
    }
    return true;
}

/* ---- values ---- */

static uint32_t nonzero(const uint64_t *amounts, uint32_t metrics)
{
    uint32_t result = 0;
    for (uint32_t i = 0; i < metrics; i++)
        result += amounts[i] != 0;
    return result;
}

static void add_amounts(struct thread_chunks *thread, const uint64_t *amounts)
{
    chunk_v(thread->chunk, nonzero(amounts, thread->metrics));
    for (uint32_t metric = 0; metric < thread->metrics; metric++)
        if (amounts[metric]) {
            chunk_v(thread->chunk, metric);
            chunk_v(thread->chunk, amounts[metric]);
        }
}

/* Finds the amounts of a node; NULL: it has none. False if they are not there. */
static bool find_amounts(struct thread_chunks *thread, uint32_t id, const uint64_t **amounts)
{
    const struct cct_node *node = thread->item(thread, ARENA_NODES, id);
    *amounts = NULL;
    if (!node || node->values == 0 || node->values > thread->image->values)
        return node;
    const uint64_t *record = thread->item(thread, ARENA_VALUES, node->values - 1);
    if (!record || record[0] != id)
        return false;
    if (nonzero(record + 1, thread->metrics) > 0)
        *amounts = record + 1;
    return true;
}

bool thread_chunks_values(struct thread_chunks *thread, uint32_t *end)
{
    size_t most = 2 * 5 + (size_t)thread->metrics * (5 + VARINT_MAX_BYTES);
    for (uint32_t id = 1; id < thread->image->nodes;) {
        uint32_t entries = 0, previous = 0;
        chunk_begin(thread->chunk, CHUNK_VALUES, thread->image->index);
        size_t count = chunk_count_later(thread->chunk);
        for (; id < thread->image->nodes && chunk_has_room(thread->chunk, most); id++) {
            const uint64_t *amounts;
            if (!find_amounts(thread, id, &amounts))
                return false;
            if (!amounts)
                continue;
            chunk_v(thread->chunk, id - previous);
            add_amounts(thread, amounts);
            previous = id;
            entries++;
        }
        if (!commit_counted(thread, count, entries))
            return false;
        *end = id;
    }
    return true;
}

/* ---- fates and joins ---- */

bool thread_chunks_fates(struct thread_chunks *thread, unsigned event)
{
    struct chunk *chunk = thread->chunk;
    uint32_t entries = 0;
    chunk_begin(chunk, CHUNK_FATES, thread->image->index);
    chunk_v(chunk, event);
    chunk_v(chunk, thread->image->source[event]);
    size_t count = chunk_count_later(chunk);
    for (unsigned slot = 0; slot < FATE_SLOTS; slot++) {
        const struct fate_count *fate = &thread->image->fates[event][slot];
        if (!fate->count && !fate->amount)
            continue;
        chunk_v(chunk, fate_of_slot(slot));
        chunk_v(chunk, fate->count);
        chunk_v(chunk, fate->amount);
        entries++;
    }
    return commit_counted(thread, count, entries);
}

bool thread_chunks_joins(struct thread_chunks *thread)
{
    const struct arena_thread *image = thread->image;
    if (image->join_count == 0)
        return true;
    if (image->join_count > ARENA_JOINS)
        return false;
    chunk_begin(thread->chunk, CHUNK_JOINS, image->index);
    chunk_v(thread->chunk, image->join_count);
    for (uint32_t i = 0; i < image->join_count; i++) {
        const struct arena_join *join = &image->joins[i];
        chunk_v(thread->chunk, join->thread);
        chunk_v(thread->chunk, join->node);
        add_ip(thread->chunk, join->ip);
        chunk_u8(thread->chunk, join->is_cut ? JOIN_IS_CUT : 0);
    }
    return thread->commit(thread);
}

#include "hpcrun/tree/cct.h"

#include <string.h>

void cct_init(struct cct *cct, uint32_t metrics)
{
    cct->metrics = metrics;
    segments_init(&cct->nodes, sizeof(struct cct_node), ARENA_FIRST_BITS);
    segments_init(&cct->values, (1 + metrics) * sizeof(uint64_t), ARENA_FIRST_BITS);
    cct->table = cct->first_table;
    cct->table_size = CCT_FIRST_TABLE;
    cct->written = 1;
}

/* The part of a note's identity that its association adds to ip and lip (cct.h). */
static unsigned sharing_class(uint8_t association, bool first)
{
    static const uint8_t class_of[] = {
        [ASSOC_1_0] = 0, [ASSOC_M_0] = 0, [ASSOC_1_1] = 1, [ASSOC_M_1] = 1, [ASSOC_1_M] = 2,
    };
    unsigned class = class_of[association];
    return first ? class == 0 : 2 + class;
}

static uint64_t hash(uint32_t parent, uint64_t ip, uint32_t lip)
{
    uint64_t h = (ip ^ (uint64_t)lip << 32) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 29 ^ parent) * 0xbf58476d1ce4e5b9u;
    return h ^ h >> 32;
}

static bool matches(const struct cct_node *node, uint32_t parent, const struct cct_note *note)
{
    return node->ip == note->ip && node->parent == parent && node->lip == note->lip &&
           node->first == note->first &&
           sharing_class(node->association, node->first) ==
               sharing_class(note->association, note->first);
}

static void enter(struct cct *cct, uint32_t id)
{
    const struct cct_node *node = cct_node(cct, id);
    uint32_t mask = cct->table_size - 1;
    uint32_t i = (uint32_t)hash(node->parent, node->ip, node->lip) & mask;
    while (cct->table[i])
        i = (i + 1) & mask;
    cct->table[i] = id;
}

static void free_table(struct cct *cct)
{
    if (cct->table != cct->first_table)
        sys_pages_free(cct->table, cct->table_size * sizeof *cct->table);
}

/* Doubles the table when it is half full. */
static bool make_room(struct cct *cct)
{
    if (cct->nodes.count < cct->table_size / 2)
        return true;
    uint32_t size = cct->table_size * 2;
    uint32_t *table = sys_pages(size * sizeof *table);
    if (!table)
        return false;
    free_table(cct);
    cct->table = table;
    cct->table_size = size;
    for (uint32_t id = 1; id < cct->nodes.count; id++)
        enter(cct, id);
    return true;
}

static uint32_t add_node(struct cct *cct, uint32_t parent, const struct cct_note *note)
{
    if (!make_room(cct))
        return CCT_NO_MEMORY;
    if (cct->nodes.count == 0 && !segments_add(&cct->nodes))
        return CCT_NO_MEMORY; /* no room for the root */
    uint32_t id = cct->nodes.count;
    struct cct_node *node = segments_add(&cct->nodes);
    if (!node)
        return CCT_NO_MEMORY;
    *node = (struct cct_node){
        .ip = note->ip,
        .parent = parent,
        .lip = note->lip,
        .association = note->association,
        .seen = (uint8_t)(1u << note->association),
        .first = note->first,
    };
    enter(cct, id);
    return id;
}

uint32_t cct_child(struct cct *cct, uint32_t parent, const struct cct_note *note)
{
    uint32_t mask = cct->table_size - 1;
    uint32_t i = (uint32_t)hash(parent, note->ip, note->lip) & mask;
    for (; cct->table[i]; i = (i + 1) & mask) {
        struct cct_node *node = cct_node(cct, cct->table[i]);
        if (matches(node, parent, note)) {
            node->seen |= (uint8_t)(1u << note->association);
            return cct->table[i];
        }
    }
    return add_node(cct, parent, note);
}

bool cct_add(struct cct *cct, uint32_t id, uint32_t metric, uint64_t amount)
{
    struct cct_node *node = cct_node(cct, id);
    if (node->values == 0) {
        uint64_t *record = segments_add(&cct->values);
        if (!record)
            return false;
        record[0] = id;
        node->values = cct->values.count;
    }
    uint64_t *record = segments_item(&cct->values, node->values - 1);
    if (cct->undo)
        arena_undo_save(cct->undo, arena_word(ARENA_WORD_VALUE, node->values - 1, metric),
                        record[1 + metric]);
    record[1 + metric] += amount;
    return true;
}

uint64_t cct_bytes(const struct cct *cct)
{
    return (uint64_t)cct->nodes.count * sizeof(struct cct_node) +
           (uint64_t)cct->table_size * sizeof *cct->table;
}

void cct_clear(struct cct *cct)
{
    segments_clear(&cct->nodes);
    segments_clear(&cct->values);
    memset(cct->table, 0, cct->table_size * sizeof *cct->table);
    cct->written = 1;
}

void cct_free(struct cct *cct)
{
    segments_free(&cct->nodes);
    segments_free(&cct->values);
    free_table(cct);
    memset(cct->first_table, 0, sizeof cct->first_table);
    cct->table = cct->first_table;
    cct->table_size = CCT_FIRST_TABLE;
    cct->written = 1;
}

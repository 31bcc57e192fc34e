#include "hpcprof/tree/context-tree.h"

#include "lib/hash-tables.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

void context_tree_start(struct context_tree *tree)
{
    *tree = (struct context_tree){0};
    vec_push(&tree->contexts, (struct context){.kind = CONTEXT_GLOBAL});
}

void context_tree_free(struct context_tree *tree)
{
    vec_free(&tree->contexts);
    free(tree->slots);
    *tree = (struct context_tree){0};
}

void context_tree_pack(struct context_tree *tree)
{
    free(tree->slots);
    tree->slots = NULL;
    tree->slot_count = tree->slots_used = 0;
    tree->has_more = true;
    tree->contexts.cap = tree->contexts.n;
    tree->contexts.at =
        mem_resize(tree->contexts.at, tree->contexts.cap, sizeof *tree->contexts.at);
}

/* Comparing hashes first avoids most accesses to contexts, which are rarely in the cache. */
struct context_slot {
    uint32_t id; /* 0: empty slot */
    uint32_t hash;
};

static uint32_t hash_of(const struct context *context)
{
    uint64_t key = (uint64_t)context->parent << 32 | context->name;
    return (uint32_t)hash_pair(key, context->detail * 8 + context->kind);
}

/* Puts a context that has no slot yet into a free one. */
static void put(struct context_tree *tree, struct context_slot context)
{
    size_t slot = context.hash & (tree->slot_count - 1);
    while (tree->slots[slot].id)
        slot = (slot + 1) & (tree->slot_count - 1);
    tree->slots[slot] = context;
}

static void grow_slots(struct context_tree *tree)
{
    autofree struct context_slot *old = tree->slots;
    size_t old_count = tree->slot_count;
    tree->slot_count = old_count ? old_count * 2 : 1024;
    tree->slots = mem_alloc_table(tree->slot_count * sizeof *tree->slots);
    for (size_t i = 0; i < old_count; i++)
        if (old[i].id)
            put(tree, old[i]);
}

/* Gives all contexts slots. */
static void fill_slots(struct context_tree *tree)
{
    free(tree->slots);
    tree->slots = NULL;
    tree->slot_count = tree->slots_used = 0;
    while (tree->contexts.n * 3 >= tree->slot_count * 2)
        tree->slot_count = tree->slot_count ? tree->slot_count * 2 : 1024;
    tree->slots = mem_alloc_table(tree->slot_count * sizeof *tree->slots);
    for (size_t i = CONTEXT_ROOT + 1; i < tree->contexts.n; i++)
        put(tree, (struct context_slot){.id = (uint32_t)i, .hash = hash_of(&tree->contexts.at[i])});
    tree->slots_used = tree->contexts.n - 1;
    tree->has_more = false;
}

static bool is_same(const struct context *a, const struct context *b)
{
    return a->parent == b->parent && a->kind == b->kind && a->name == b->name &&
           a->detail == b->detail;
}

/* The id of a context; adds it if it is new. Contexts without a slot are not found. */
static uint32_t find_or_add(struct context_tree *tree, const struct context *context)
{
    if (tree->slots_used * 3 >= tree->slot_count * 2)
        grow_slots(tree);
    uint32_t hash = hash_of(context);
    size_t slot = hash & (tree->slot_count - 1);
    for (; tree->slots[slot].id; slot = (slot + 1) & (tree->slot_count - 1)) {
        uint32_t id = tree->slots[slot].id;
        if (tree->slots[slot].hash == hash && is_same(&tree->contexts.at[id], context))
            return id;
    }
    uint32_t id = (uint32_t)tree->contexts.n;
    tree->slots[slot] = (struct context_slot){.id = id, .hash = hash};
    tree->slots_used++;
    vec_push(&tree->contexts, *context);
    return id;
}

uint32_t context_tree_child(struct context_tree *tree, uint32_t parent, enum context_kind kind,
                            uint32_t name, uint64_t detail)
{
    assert(parent < tree->contexts.n);
    if (tree->has_more)
        fill_slots(tree);
    return find_or_add(
        tree, &(struct context){.parent = parent, .name = name, .detail = detail, .kind = kind});
}

/* Adds a context that is new, without a slot. */
static uint32_t append(struct context_tree *tree, const struct context *context)
{
    vec_push(&tree->contexts, *context);
    tree->has_more = true;
    return (uint32_t)tree->contexts.n - 1;
}

/* Contexts ahead whose slots are fetched: memory answers within the time that so many take. */
#define AHEAD 8

/* Lets the processor fetch the slot that a context of `from` will have, if its parent is known already. */
static void fetch_slot(const struct context_tree *into, const struct context_tree *from,
                       const uint32_t *ids, size_t number, size_t done)
{
    if (number >= from->contexts.n || from->contexts.at[number].parent >= done)
        return;
    struct context context = from->contexts.at[number];
    context.parent = ids[context.parent];
    __builtin_prefetch(&into->slots[hash_of(&context) & (into->slot_count - 1)]);
}

uint32_t *context_tree_merge(struct context_tree *into, const struct context_tree *from)
{
    uint32_t *ids = mem_alloc(from->contexts.n * sizeof *ids);
    size_t known = into->contexts.n;
    if (into->has_more)
        fill_slots(into);
    ids[CONTEXT_ROOT] = CONTEXT_ROOT;
    for (size_t i = CONTEXT_ROOT + 1; i < from->contexts.n; i++) {
        struct context context = from->contexts.at[i];
        if (into->slot_count)
            fetch_slot(into, from, ids, i + AHEAD, i);
        context.parent = ids[context.parent];
        ids[i] = context.parent < known ? find_or_add(into, &context) : append(into, &context);
    }
    return ids;
}

uint32_t *context_tree_prune(struct context_tree *tree, bool *is_used)
{
    struct context_tree pruned;
    uint32_t *ids = mem_alloc(tree->contexts.n * sizeof *ids);
    for (size_t i = tree->contexts.n - 1; i > CONTEXT_ROOT; i--)
        is_used[tree->contexts.at[i].parent] |= is_used[i];
    context_tree_start(&pruned);
    for (size_t i = CONTEXT_ROOT + 1; i < tree->contexts.n; i++) {
        struct context context = tree->contexts.at[i];
        context.parent = ids[context.parent];
        if (is_used[i])
            ids[i] = append(&pruned, &context);
    }
    context_tree_free(tree);
    *tree = pruned;
    return ids;
}

#include "viewer-tui/db/fold.h"

#include "lib/hash-tables.h"
#include "viewer-tui/db/context-table.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define METRIC_IDS 65536

/* Differences below this share of what was added are rounding errors. */
#define ROUNDING 1e-12

/* The state before folding, and the parts of folded contexts. */
struct fold {
    struct v4_map meta;
    struct table entries;
    struct values values;
    context_ids no_call_site;
    struct fold_part *parts;
    size_t *first_part; /* by id; one more than there are contexts */
    uint32_t n;
};

/* A context of the folded tree; its id is its number. */
struct node {
    uint32_t parent, context; /* `context` in the unfolded tree: it has place and kind */
    uint32_t first_child, next_sibling, last_child;
    bool has_values, is_omitted;
};

struct part_of {
    uint32_t node;
    struct fold_part part;
};

struct folding {
    struct database *db;
    struct fold_choice choice;
    struct cct *cct;
    uint8_t *is_folded; /* by context */
    uint32_t *node_of;  /* by context: the node that it becomes, or is folded into */
    VEC(struct node) nodes;
    VEC(struct part_of) parts;
    struct idmap known;  /* (parent and place, line and kind and ordinal) -> node */
    struct idmap counts; /* (parent context and place, line and kind) -> ordinal of the last one */
};

/* ---- the tree ---- */

/* Whether a context is folded into a procedure: inlined code, and what is lexically in it. */
static bool is_folded(const struct folding *folding, uint32_t context)
{
    const struct cct *cct = folding->cct;
    uint32_t parent = cct->parent[context];
    if (!folding->choice.inlined)
        return false;
    switch (cct->kind[context]) {
    case KIND_INLINED: return cct->kind[cct->procedure[parent]] != KIND_ROOT;
    case KIND_LOOP:
    case KIND_STATEMENT:
    case KIND_INSTRUCTION: return folding->is_folded[parent];
    default: return false;
    }
}

/* Tells contexts of one kind and place below one parent apart: they must not be merged. */
static uint32_t ordinal(struct folding *folding, uint32_t context)
{
    const struct cct *cct = folding->cct;
    uint64_t above = (uint64_t)cct->parent[context] << 32 | cct->place[context];
    uint64_t itself = (uint64_t)cct->line[context] << 8 | cct->kind[context];
    uint32_t count = idmap_get(&folding->counts, above, itself);
    count = count == IDMAP_NONE ? 0 : count + 1;
    idmap_put(&folding->counts, above, itself, count);
    return count;
}

static uint32_t add_node(struct folding *folding, uint32_t parent, uint32_t context)
{
    uint32_t number = (uint32_t)folding->nodes.n;
    struct node node = {parent, context, NOTHING, NOTHING, NOTHING, false, false};
    vec_push(&folding->nodes, node);
    if (number == 0)
        return number;
    struct node *above = &folding->nodes.at[parent];
    if (above->first_child == NOTHING)
        above->first_child = number;
    else
        folding->nodes.at[above->last_child].next_sibling = number;
    above->last_child = number;
    return number;
}

/* The node of a context that is not folded. */
static uint32_t node_for(struct folding *folding, uint32_t context)
{
    const struct cct *cct = folding->cct;
    uint32_t parent = folding->node_of[cct->parent[context]];
    uint64_t above = (uint64_t)parent << 32 | cct->place[context];
    uint64_t itself = (uint64_t)ordinal(folding, context) << 40 |
                      (uint64_t)cct->line[context] << 8 | cct->kind[context];
    uint32_t node = idmap_get(&folding->known, above, itself);
    if (node == IDMAP_NONE) {
        node = add_node(folding, parent, context);
        idmap_put(&folding->known, above, itself, node);
    }
    return node;
}

static void add_part(struct folding *folding, uint32_t node, uint32_t context, enum part_role role)
{
    struct fold_part part = {folding->cct->id[context], (uint8_t)role};
    if (folding->cct->position[context] != NOTHING)
        vec_push(&folding->parts, (struct part_of){node, part});
}

/* Adds an inlined procedure's own costs to the line that it is folded into, and to the innermost
 * loop and the procedure around that line. */
static void add_inlined(struct folding *folding, uint32_t context)
{
    bool is_in_loop = false;
    for (uint32_t node = folding->node_of[context];; node = folding->nodes.at[node].parent) {
        enum scope_kind kind = folding->cct->kind[folding->nodes.at[node].context];
        bool is_outer_loop = kind == KIND_LOOP && is_in_loop;
        if (kind == KIND_ROOT)
            return;
        if (!is_outer_loop)
            add_part(folding, node, context, PART_INLINED);
        if (kind == KIND_PROCEDURE || kind == KIND_INLINED)
            return;
        is_in_loop |= kind == KIND_LOOP;
    }
}

/* Whether all code of that procedure id is one procedure. The placeholders of profilers for unknown
 * code have names in angle brackets, no file and no entry. */
static bool is_known(const struct database *db, uint32_t id)
{
    struct procedure procedure = database_procedure(db, id);
    if (procedure.file != NOTHING || procedure.offset)
        return true;
    return procedure.name ? procedure.name[0] != '<' : procedure.module != NOTHING;
}

static bool is_procedure(const struct folding *folding, uint32_t context)
{
    enum scope_kind kind = folding->cct->kind[context];
    return kind == KIND_PROCEDURE || kind == KIND_INLINED;
}

/* The node on the path of a procedure's caller to which the call leads back; NOTHING if it is not
 * recursive. */
static uint32_t recursive_node(const struct folding *folding, uint32_t context)
{
    const struct cct *cct = folding->cct;
    if (!folding->choice.recursion || !is_procedure(folding, context) ||
        !is_known(folding->db, cct->place[context]))
        return NOTHING;
    for (uint32_t node = folding->node_of[cct->parent[context]]; node != 0;
         node = folding->nodes.at[node].parent) {
        uint32_t caller = folding->nodes.at[node].context;
        if (is_procedure(folding, caller) && cct->place[caller] == cct->place[context])
            return node;
    }
    return NOTHING;
}

/* Folds a recursive call into `node`: its costs leave the contexts between. */
static void add_recursive(struct folding *folding, uint32_t context, uint32_t node)
{
    folding->node_of[context] = node;
    add_part(folding, node, context, PART_OWN);
    for (uint32_t left = folding->node_of[folding->cct->parent[context]]; left != node;
         left = folding->nodes.at[left].parent)
        add_part(folding, left, context, PART_LEFT);
}

static void add_context(struct folding *folding, uint32_t context)
{
    const struct cct *cct = folding->cct;
    uint32_t recursive;
    folding->is_folded[context] = is_folded(folding, context);
    if (folding->is_folded[context] || cct->kind[context] == KIND_INSTRUCTION) {
        folding->node_of[context] = folding->node_of[cct->parent[context]];
        if (cct->kind[context] == KIND_INLINED)
            add_inlined(folding, context);
    } else if ((recursive = recursive_node(folding, context)) != NOTHING) {
        add_recursive(folding, context, recursive);
    } else {
        folding->node_of[context] = node_for(folding, context);
        add_part(folding, folding->node_of[context], context, PART_WHOLE);
    }
}

/* Contexts are visited in preorder, so that the parent of each has its node. */
static void make_nodes(struct folding *folding)
{
    add_node(folding, 0, 0);
    add_part(folding, 0, 0, PART_WHOLE);
    for (uint32_t c = 1; c < folding->cct->n; c++)
        add_context(folding, c);
}

/* Sorts the parts by node. */
static void sort_parts(const struct folding *folding, struct fold *fold)
{
    size_t n = folding->nodes.n;
    fold->n = (uint32_t)n;
    fold->parts = mem_alloc((folding->parts.n + 1) * sizeof *fold->parts);
    fold->first_part = mem_alloc((n + 2) * sizeof *fold->first_part);
    size_t *next = mem_alloc((n + 1) * sizeof *next);
    for (size_t i = 0; i < folding->parts.n; i++)
        fold->first_part[folding->parts.at[i].node + 1]++;
    for (size_t i = 0; i < n; i++) {
        fold->first_part[i + 1] += fold->first_part[i];
        next[i] = fold->first_part[i];
    }
    for (size_t i = 0; i < folding->parts.n; i++)
        fold->parts[next[folding->parts.at[i].node]++] = folding->parts.at[i].part;
    free(next);
}

/* ---- the values ---- */

/* How to fold a value, by its id. */
struct value_role {
    uint8_t scope; /* enum metric_scope; METRIC_POINT: dropped, since nothing reads it */
    int lex_aware; /* id that an inlined procedure's exclusive value is added to as well */
};

static struct value_role *find_roles(const struct metrics *metrics)
{
    struct value_role *roles = mem_alloc(METRIC_IDS * sizeof *roles);
    for (size_t m = 0; m < metrics->n + metrics->n_hidden; m++)
        for (int scope = METRIC_FUNCTION; scope < METRIC_SCOPES; scope++) {
            const int *ids = metric_ids(&metrics->at[m])->summary;
            if (ids[scope] != METRIC_ABSENT)
                roles[ids[scope]] = (struct value_role){(uint8_t)scope, ids[METRIC_LEX_AWARE]};
        }
    return roles;
}

/* The values of the node that is being made. */
struct sums {
    double *by_id;     /* by metric id; 0 for those that are not in `ids` */
    double *added;     /* by metric id: the same without what was subtracted */
    bool *is_there;    /* by metric id: whether it is in `ids` */
    VEC(uint16_t) ids; /* in the order of their appearance */
    const struct value_role *roles;
};

static void add_value(struct sums *sums, int id, double value)
{
    if (id == METRIC_ABSENT)
        return;
    if (!sums->is_there[id])
        vec_push(&sums->ids, (uint16_t)id);
    sums->is_there[id] = true;
    sums->by_id[id] += value;
    if (value > 0)
        sums->added[id] += value;
}

/* Exclusive costs of an inlined procedure include those of its loops. They are added to a loop
 * around it as well, hence to lex_aware. */
static void add_part_values(struct sums *sums, const struct values *values, struct fold_part part)
{
    size_t n;
    const struct v4_metric_value *at = values_at(values, values_position(values, part.id, 0), &n);
    for (; n > 0; n--, at++) {
        const struct value_role *role = &sums->roles[at->metric_id];
        bool is_inclusive = role->scope == METRIC_EXECUTION;
        if (role->scope == METRIC_POINT || !fold_part_counts(part, is_inclusive) ||
            (part.role == PART_INLINED && role->scope != METRIC_FUNCTION))
            continue;
        add_value(sums, at->metric_id, part.role == PART_LEFT ? -at->value : at->value);
        if (part.role == PART_INLINED)
            add_value(sums, role->lex_aware, at->value);
    }
}

/* Takes a sum, and begins the next one. */
static double take_value(struct sums *sums, uint16_t id)
{
    double value = sums->by_id[id];
    bool is_zero = fabs(value) <= ROUNDING * sums->added[id];
    sums->by_id[id] = sums->added[id] = 0;
    sums->is_there[id] = false;
    return is_zero ? 0 : value;
}

static void fold_values(const struct folding *folding, const struct fold *fold,
                        struct values *folded)
{
    const struct database *db = folding->db;
    VEC(struct v4_context_index) index = {0};
    VEC(struct v4_metric_value) table = {0};
    struct value_role *roles = find_roles(&db->metrics);
    struct sums sums = {.by_id = mem_alloc(METRIC_IDS * sizeof *sums.by_id),
                        .added = mem_alloc(METRIC_IDS * sizeof *sums.added),
                        .is_there = mem_alloc(METRIC_IDS),
                        .roles = roles};
    for (uint32_t node = 0; node < fold->n; node++) {
        for (size_t i = fold->first_part[node]; i < fold->first_part[node + 1]; i++)
            add_part_values(&sums, &db->values, fold->parts[i]);
        size_t first = table.n;
        for (size_t i = 0; i < sums.ids.n; i++) {
            double value = take_value(&sums, sums.ids.at[i]);
            if (value != 0)
                vec_push(&table, (struct v4_metric_value){sums.ids.at[i], value});
        }
        if (table.n > first)
            vec_push(&index, (struct v4_context_index){node, first});
        folding->nodes.at[node].has_values = table.n > first;
        sums.ids.n = 0;
    }
    *folded = (struct values){.path = db->values.path};
    values_replace(folded, index.at, index.n, table.at, table.n);
    values_set_metrics(folded, &db->metrics);
    free(roles);
    free(sums.by_id);
    free(sums.added);
    free(sums.is_there);
    vec_free(&sums.ids);
}

/* Omits contexts from which recursion took all costs, except entry points. */
static void omit_empty(struct folding *folding)
{
    for (size_t i = folding->nodes.n; folding->choice.recursion && i-- > 1;) {
        struct node *node = &folding->nodes.at[i];
        node->is_omitted = !node->has_values && node->parent != 0;
        for (uint32_t n = node->first_child; n != NOTHING; n = folding->nodes.at[n].next_sibling)
            node->is_omitted &= folding->nodes.at[n].is_omitted;
    }
}

/* ---- meta.db with the folded contexts behind it ---- */

static uint64_t size_of(const struct v4_map *meta, uint64_t at)
{
    struct v4_context context;
    memcpy(&context, meta->bytes + at, sizeof context);
    return sizeof context + context.n_flex_words * UINT64_C(8);
}

/* Size in bytes of the children of each node. Entry points have a table of their own. */
static uint64_t *find_sizes(const struct folding *folding)
{
    const struct v4_map *meta = &folding->db->meta;
    uint64_t *sizes = mem_alloc((folding->nodes.n + 1) * sizeof *sizes);
    for (size_t i = 1; i < folding->nodes.n; i++) {
        const struct node *node = &folding->nodes.at[i];
        if (node->parent != 0 && !node->is_omitted)
            sizes[node->parent] += size_of(meta, folding->cct->at[node->context]);
    }
    return sizes;
}

static void write_entries(const struct folding *folding, uint8_t *out, const uint64_t *children_at,
                          const uint64_t *sizes)
{
    const struct database *db = folding->db;
    for (uint32_t i = 0; i < db->entries.n; i++) {
        struct v4_entry entry;
        if (database_entry(db, i, &entry, NULL)) {
            entry.children = entry.children_size = 0;
            entry.context_id = NOTHING;
        } else {
            memset(&entry, 0, sizeof entry);
        }
        memcpy(out + i * sizeof entry, &entry, sizeof entry);
    }
    for (uint32_t n = folding->nodes.at[0].first_child; n != NOTHING;
         n = folding->nodes.at[n].next_sibling) {
        uint8_t *at =
            out + folding->cct->place[folding->nodes.at[n].context] * sizeof(struct v4_entry);
        struct v4_entry entry;
        memcpy(&entry, at, sizeof entry);
        entry.context_id = n;
        entry.children_size = sizes[n];
        entry.children = sizes[n] ? children_at[n] : 0;
        memcpy(at, &entry, sizeof entry);
    }
}

static void write_children(const struct folding *folding, uint32_t parent, uint8_t *bytes,
                           const uint64_t *children_at, const uint64_t *sizes)
{
    uint64_t at = children_at[parent];
    for (uint32_t n = folding->nodes.at[parent].first_child; n != NOTHING;
         n = folding->nodes.at[n].next_sibling) {
        if (folding->nodes.at[n].is_omitted)
            continue;
        uint64_t from = folding->cct->at[folding->nodes.at[n].context];
        uint64_t size = size_of(&folding->db->meta, from);
        memcpy(bytes + at, folding->db->meta.bytes + from, size);
        struct v4_context context;
        memcpy(&context, bytes + at, sizeof context);
        context.context_id = n;
        context.children_size = sizes[n];
        context.children = sizes[n] ? children_at[n] : 0;
        memcpy(bytes + at, &context, sizeof context);
        at += size;
    }
}

/* Makes the map. The caller frees its bytes. */
static void fold_meta(const struct folding *folding, struct v4_map *meta, struct table *entries)
{
    const struct database *db = folding->db;
    uint64_t start = (db->meta.size + 7) / 8 * 8;
    uint64_t end = start + db->entries.n * sizeof(struct v4_entry);
    uint64_t *sizes = find_sizes(folding);
    uint64_t *children_at = mem_alloc((folding->nodes.n + 1) * sizeof *children_at);
    for (size_t i = 1; i < folding->nodes.n; i++) {
        children_at[i] = end;
        end += sizes[i];
    }
    uint8_t *bytes = mem_alloc(end + 8);
    memcpy(bytes, db->meta.bytes, db->meta.size);
    write_entries(folding, bytes + start, children_at, sizes);
    for (uint32_t i = 1; i < folding->nodes.n; i++)
        write_children(folding, i, bytes, children_at, sizes);
    *meta = db->meta;
    meta->bytes = bytes;
    meta->size = end;
    meta->sections[V4_META_CONTEXTS] = (struct v4_section){end - start, start};
    *entries = (struct table){start, db->entries.n, sizeof(struct v4_entry)};
    free(sizes);
    free(children_at);
}

/* ---- all together ---- */

static context_ids fold_no_call_site(const struct database *db, const struct fold *fold)
{
    context_ids ids = {0};
    for (uint32_t node = 0; node < fold->n; node++)
        for (size_t i = fold->first_part[node]; i < fold->first_part[node + 1]; i++)
            if (fold->parts[i].role == PART_WHOLE && database_lacks_call_site(db, fold->parts[i].id)) {
                vec_push(&ids, node);
                break;
            }
    return ids;
}

/* Replaces contexts and values by the folded ones, and keeps the old ones in `fold`. */
static void replace(struct folding *folding, struct fold *fold)
{
    struct database *db = folding->db;
    struct v4_map meta;
    struct table entries;
    struct values values;
    context_ids no_call_site = fold_no_call_site(db, fold);
    fold_values(folding, fold, &values);
    omit_empty(folding);
    fold_meta(folding, &meta, &entries);
    fold->meta = db->meta;
    fold->entries = db->entries;
    fold->values = db->values;
    fold->no_call_site = db->no_call_site;
    db->meta = meta;
    db->entries = entries;
    db->values = values;
    db->no_call_site = no_call_site;
    db->fold = fold;
}

void fold_contexts(struct database *db, struct fold_choice choice)
{
    assert(!db->fold);
    struct folding folding = {.db = db, .choice = choice};
    while (!folding.cct) /* if the user stops this, start again: a part would be of no use */
        folding.cct = cct_read_with_places(db);
    folding.is_folded = mem_alloc(folding.cct->n + 1);
    folding.node_of = mem_alloc((folding.cct->n + 1) * sizeof *folding.node_of);
    make_nodes(&folding);
    struct fold *fold = mem_alloc(sizeof *fold);
    sort_parts(&folding, fold);
    replace(&folding, fold);
    cct_free(folding.cct);
    free(folding.is_folded);
    free(folding.node_of);
    vec_free(&folding.nodes);
    vec_free(&folding.parts);
    idmap_free(&folding.known);
    idmap_free(&folding.counts);
}

void fold_undo(struct database *db)
{
    struct fold *fold = db->fold;
    if (!fold)
        return;
    free((void *)(uintptr_t)db->meta.bytes);
    values_close(&db->values);
    vec_free(&db->no_call_site);
    db->meta = fold->meta;
    db->entries = fold->entries;
    db->values = fold->values;
    db->no_call_site = fold->no_call_site;
    db->fold = NULL;
    free(fold->parts);
    free(fold->first_part);
    free(fold);
}

const struct fold_part *fold_parts(const struct database *db, uint32_t id, size_t *n)
{
    const struct fold *fold = db->fold;
    *n = 0;
    if (!fold)
        return NULL;
    if (id >= fold->n)
        return fold->parts;
    *n = fold->first_part[id + 1] - fold->first_part[id];
    return fold->parts + fold->first_part[id];
}

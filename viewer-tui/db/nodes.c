#include "viewer-tui/db/nodes.h"

#include "viewer-tui/base/task.h"
#include "viewer-tui/db/database.h"

#include <stdlib.h>
#include <string.h>

/* ---- the arrays ---- */

/* Bytes of a node in all arrays. */
#define NODE_SIZE (6 * sizeof(uint32_t) + sizeof(uint8_t) + sizeof(bool))

/* One allocation for all arrays, those of larger elements first. */
struct nodes *nodes_new(uint64_t most)
{
    static uint64_t last;
    struct nodes *nodes = mem_alloc(sizeof *nodes);
    nodes->number = ++last;
    uint32_t *words = mem_alloc(most * NODE_SIZE);
    nodes->parent = words;
    nodes->end = words + most;
    nodes->procedure = words + 2 * most;
    nodes->place = words + 3 * most;
    nodes->line = words + 4 * most;
    nodes->position = words + 5 * most;
    nodes->kind = (uint8_t *)(words + 6 * most);
    nodes->no_call_site = (bool *)(nodes->kind + most);
    return nodes;
}

void nodes_free(struct nodes *nodes)
{
    if (nodes)
        free(nodes->parent);
    free(nodes);
}

uint32_t nodes_add(struct nodes *nodes, const struct node *node)
{
    uint32_t number = nodes->n++;
    nodes->kind[number] = (uint8_t)node->kind;
    nodes->parent[number] = node->parent;
    nodes->end[number] = number + 1;
    nodes->procedure[number] = is_lexical_kind(node->kind) ? nodes->procedure[node->parent] : number;
    nodes->place[number] = node->place;
    nodes->line[number] = node->line;
    nodes->position[number] = node->position;
    nodes->no_call_site[number] = node->no_call_site;
    return number;
}

void nodes_find_ends(struct nodes *nodes)
{
    for (uint32_t c = nodes->n - 1; c > 0; c--)
        if (nodes->end[nodes->parent[c]] < nodes->end[c])
            nodes->end[nodes->parent[c]] = nodes->end[c];
}

struct nodes *nodes_select(const struct nodes *nodes, bool *is_marked)
{
    struct nodes *kept = nodes_new(nodes->n);
    autofree uint32_t *number_of = mem_alloc((nodes->n + 1) * sizeof *number_of); /* how many before are kept */
    for (uint32_t c = nodes->n - 1; c > 0; c--)
        is_marked[nodes->parent[c]] |= is_marked[c];
    is_marked[0] = true;
    for (uint32_t c = 0; c < nodes->n; c++)
        number_of[c + 1] = number_of[c] + is_marked[c];
    kept->n = number_of[nodes->n];
    for (uint32_t c = 0; c < nodes->n; c++) {
        uint32_t k = number_of[c];
        if (!is_marked[c])
            continue;
        kept->kind[k] = nodes->kind[c];
        kept->parent[k] = number_of[nodes->parent[c]];
        kept->end[k] = number_of[nodes->end[c]];
        kept->procedure[k] = number_of[nodes->procedure[c]];
        kept->place[k] = nodes->place[c];
        kept->line[k] = nodes->line[c];
        kept->position[k] = nodes->position[c];
        kept->no_call_site[k] = nodes->no_call_site[c];
    }
    return kept;
}

/* ---- contexts in meta.db ---- */

/* The part of an array of contexts that is still to be read: offsets in meta.db. The children of a context are such an
 * array somewhere in the section. */
struct context_range {
    uint64_t at, end;
};

/* The array of `size` bytes at `at`; empty if it does not lie within the section. */
static struct context_range checked_range(const struct database *db, uint64_t at, uint64_t size)
{
    const struct v4_section *section = &db->meta.sections[V4_META_CONTEXTS];
    if (size == 0)
        return (struct context_range){0, 0};
    bool inside =
        at >= section->at && at - section->at <= section->size && size <= section->size - (at - section->at);
    if (inside && at % 8 == 0 && size % 8 == 0)
        return (struct context_range){at, at + size};
    problem_found(db->meta.path, "corrupt: contexts lie outside of their section");
    return (struct context_range){0, 0};
}

/* A call leads to a procedure, even if only its first instruction is known. Unknown lexical types are taken as a part
 * of the scope around them, as instructions are. */
static enum scope_kind kind_of(const struct v4_context *context)
{
    if (context->relation == V4_CALL)
        return KIND_PROCEDURE;
    if (context->relation == V4_INLINED_CALL)
        return KIND_INLINED;
    switch (context->lexical_type) {
    case V4_FUNCTION: return KIND_PROCEDURE;
    case V4_LOOP: return KIND_LOOP;
    case V4_LINE: return KIND_STATEMENT;
    default: return KIND_INSTRUCTION;
    }
}

/* The flexible part of a context: 8-byte words. */
struct flex {
    const uint64_t *words;
    unsigned n, used;
};

/* The next word, 0 after the last one. */
static uint64_t next_word(struct flex *flex)
{
    return flex->used < flex->n ? flex->words[flex->used++] : 0;
}

/* Reads the place of a context: its procedure, or file and line; if these are unknown, the point in its module. */
static void read_place(struct database *db, const struct v4_context *from, struct flex *flex, struct node *node)
{
    uint64_t function = from->flags & V4_HAS_FUNCTION ? next_word(flex) : 0;
    uint64_t file = from->flags & V4_HAS_LOCATION ? next_word(flex) : 0;
    uint32_t line = from->flags & V4_HAS_LOCATION ? (uint32_t)next_word(flex) : 0;
    bool has_point = (from->flags & V4_HAS_POINT) != 0;
    uint64_t module = has_point ? next_word(flex) : 0;
    uint64_t offset = has_point ? next_word(flex) : 0;
    bool is_place_in_file = node->kind == KIND_LOOP || node->kind == KIND_STATEMENT;
    node->line = is_place_in_file ? line : 0;
    if (node->kind == KIND_INSTRUCTION)
        node->place = NOTHING;
    else if (is_place_in_file && !file && has_point)
        node->place = database_point_file(db, database_index(db, &db->modules, module), offset);
    else if (is_place_in_file)
        node->place = database_index(db, &db->files, file);
    else if (!function && has_point)
        node->place = database_point_procedure(db, database_index(db, &db->modules, module), offset);
    else
        node->place = database_procedure_id(db, function);
}

/* Reads the context at range->at and advances; false at the end. A damaged context ends the range, with the problem
 * noted. */
static bool next_context(struct database *db, struct context_range *range, struct node *node, uint32_t *id,
                         struct context_range *children)
{
    if (range->at >= range->end)
        return false;
    struct v4_context from = {0};
    const uint8_t *bytes = db->meta.bytes + range->at;
    uint64_t left = range->end - range->at;
    if (left >= sizeof from)
        memcpy(&from, bytes, sizeof from);
    if (left < sizeof from || from.n_flex_words * UINT64_C(8) > left - sizeof from) {
        problem_found(db->meta.path, "corrupt: a context is cut off");
        range->at = range->end;
        return false;
    }
    struct flex flex = {.words = (const uint64_t *)(bytes + sizeof from), .n = from.n_flex_words};
    *node = (struct node){.kind = kind_of(&from)};
    *id = from.context_id;
    read_place(db, &from, &flex, node);
    *children = checked_range(db, from.children, from.children_size);
    range->at += sizeof from + from.n_flex_words * UINT64_C(8);
    return true;
}

/* ---- the tree ---- */

/* A context whose children are being read. */
struct open_context {
    uint32_t number;
    struct context_range rest;
};

struct tree_reader {
    struct database *db;
    struct nodes *nodes;
    uint64_t limit; /* arrays of children may overlap or form cycles in a damaged file */
    uint64_t bytes; /* of the section read so far */
    bool *position_used;
    uint64_t next_position;
    VEC(struct open_context) open;
};

/* The position of a context's values. Two contexts must not share values. Ids often ascend in the order of the tree, so
 * the next position is tried first. */
static uint32_t take_position(struct tree_reader *reader, uint32_t id)
{
    uint64_t position = values_position(&reader->db->values, id, reader->next_position);
    if (position == NO_POSITION)
        return NOTHING;
    reader->next_position = position + 1;
    if (reader->position_used[position]) {
        problem_found(reader->db->meta.path, "corrupt: two contexts have the id %u", id);
        return NOTHING;
    }
    reader->position_used[position] = true;
    return (uint32_t)position;
}

static void add_context(struct tree_reader *reader, struct node *node, uint32_t id, struct context_range children)
{
    node->position = take_position(reader, id);
    node->no_call_site = database_lacks_call_site(reader->db, id);
    uint32_t number = nodes_add(reader->nodes, node);
    if (children.at < children.end)
        vec_push(&reader->open, ((struct open_context){number, children}));
}

/* Reads everything below the open contexts. */
static void read_below(struct tree_reader *reader)
{
    while (reader->open.n && progress_at(reader->bytes)) {
        struct open_context *innermost = &reader->open.at[reader->open.n - 1];
        struct context_range children;
        struct node node;
        uint32_t id;
        if (reader->nodes->n >= reader->limit) {
            problem_found(reader->db->meta.path, "corrupt: contexts overlap or form a cycle");
            innermost->rest.at = innermost->rest.end;
        }
        uint64_t at = innermost->rest.at;
        if (next_context(reader->db, &innermost->rest, &node, &id, &children)) {
            reader->bytes += innermost->rest.at - at;
            node.parent = innermost->number;
            add_context(reader, &node, id, children);
        } else {
            reader->open.n--;
        }
    }
}

struct nodes *nodes_read(struct database *db)
{
    uint64_t limit =
        db->meta.sections[V4_META_CONTEXTS].size / sizeof(struct v4_context) + 1 + db->entries.n + 1;
    if (limit > NOTHING)
        limit = NOTHING;
    struct tree_reader reader = {.db = db, .limit = limit, .nodes = nodes_new(limit)};
    reader.position_used = mem_alloc(db->values.n_index + 1);
    progress_begin("reading all calling contexts", db->meta.sections[V4_META_CONTEXTS].size);
    add_context(&reader, &(struct node){.kind = KIND_ROOT, .place = NOTHING}, 0, (struct context_range){0, 0});
    for (uint32_t i = 0; i < db->entries.n && reader.nodes->n < limit; i++) {
        struct v4_entry entry;
        if (!database_entry(db, i, &entry, NULL))
            continue;
        struct node node = {.kind = KIND_ROOT, .place = i};
        add_context(&reader, &node, entry.context_id, checked_range(db, entry.children, entry.children_size));
        read_below(&reader);
    }
    nodes_find_ends(reader.nodes);
    free(reader.position_used);
    vec_free(&reader.open);
    if (progress_end() == DONE)
        return reader.nodes;
    nodes_free(reader.nodes);
    return NULL;
}

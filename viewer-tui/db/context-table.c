#include "viewer-tui/db/context-table.h"

#include "viewer-tui/base/task.h"
#include "viewer-tui/db/context.h"

#include <stdlib.h>

/* A context whose children are being read. */
struct open_context {
    uint32_t number;
    struct context_range rest;
};

struct tree_reader {
    struct database *db;
    struct cct *cct;
    uint64_t limit;
    uint64_t bytes; /* of the section read so far */
    uint8_t *position_used;
    uint64_t next_position;
    VEC(struct open_context) open;
};

static struct cct *new_cct(uint64_t most)
{
    struct cct *cct = mem_alloc(sizeof *cct);
    cct->kind = mem_alloc(most * sizeof *cct->kind);
    cct->parent = mem_alloc(most * sizeof *cct->parent);
    cct->end = mem_alloc(most * sizeof *cct->end);
    cct->procedure = mem_alloc(most * sizeof *cct->procedure);
    cct->place = mem_alloc(most * sizeof *cct->place);
    cct->line = mem_alloc(most * sizeof *cct->line);
    cct->id = mem_alloc(most * sizeof *cct->id);
    cct->position = mem_alloc(most * sizeof *cct->position);
    return cct;
}

/* The position of a context's values. Two contexts must not share values. Ids often ascend in the
 * order of the tree, so the next position is tried first. */
static uint32_t take_position(struct tree_reader *reader, uint32_t id)
{
    uint64_t position = values_position(&reader->db->values, id, reader->next_position);
    if (position == NO_POSITION)
        return NOTHING;
    reader->next_position = position + 1;
    uint8_t bit = (uint8_t)(1u << position % 8);
    if (reader->position_used[position / 8] & bit) {
        problem_found(reader->db->meta.path, "corrupt: two contexts have the id %u", id);
        return NOTHING;
    }
    reader->position_used[position / 8] |= bit;
    return (uint32_t)position;
}

static bool is_procedure_or_root(enum scope_kind kind)
{
    return kind == KIND_PROCEDURE || kind == KIND_INLINED || kind == KIND_ROOT;
}

static void add_context(struct tree_reader *reader, uint32_t parent, const struct context *context,
                        uint64_t at)
{
    struct cct *cct = reader->cct;
    uint32_t position = take_position(reader, context->id);
    if (database_leaves_out(reader->db, position != NOTHING) && cct->n > 0)
        return;
    uint32_t number = cct->n++;
    cct->kind[number] = (uint8_t)context->kind;
    cct->parent[number] = parent;
    cct->end[number] = number + 1;
    cct->procedure[number] = is_procedure_or_root(context->kind) ? number : cct->procedure[parent];
    cct->place[number] = context->place;
    cct->line[number] = context->line;
    cct->id[number] = context->id;
    cct->position[number] = position;
    if (cct->at)
        cct->at[number] = at;
    if (context_has_children(context))
        vec_push(&reader->open, (struct open_context){number, context->children});
}

/* Ends the innermost open context. It contains all contexts that were added since it began. */
static void close_context(struct tree_reader *reader)
{
    struct open_context *innermost = &reader->open.at[--reader->open.n];
    reader->cct->end[innermost->number] = reader->cct->n;
}

/* Reads everything below the open contexts. */
static void read_below(struct tree_reader *reader)
{
    while (reader->open.n && progress_at(reader->bytes)) {
        struct open_context *innermost = &reader->open.at[reader->open.n - 1];
        struct context context;
        if (reader->cct->n >= reader->limit) {
            problem_found(reader->db->meta.path, "corrupt: contexts overlap or form a cycle");
            innermost->rest.at = innermost->rest.end;
        }
        uint64_t at = innermost->rest.at;
        if (context_next(reader->db, &innermost->rest, &context)) {
            reader->bytes += innermost->rest.at - at;
            add_context(reader, innermost->number, &context, at);
        } else {
            close_context(reader);
        }
    }
}

static void read_entry(struct tree_reader *reader, uint32_t index)
{
    struct v4_entry entry;
    if (!database_entry(reader->db, index, &entry, NULL))
        return;
    struct context context = {.kind = KIND_ROOT,
                              .id = entry.context_id,
                              .place = index,
                              .children = entry_children(reader->db, &entry)};
    add_context(reader, 0, &context, 0);
    read_below(reader);
}

static struct cct *read_tree(struct database *db, bool with_places)
{
    uint64_t limit = contexts_limit(db) + db->entries.n + 1;
    if (limit > NOTHING)
        limit = NOTHING;
    struct tree_reader reader = {.db = db, .limit = limit, .cct = new_cct(limit)};
    if (with_places)
        reader.cct->at = mem_alloc(limit * sizeof *reader.cct->at);
    reader.position_used = mem_alloc(db->values.n_index / 8 + 1);
    progress_begin("reading all calling contexts", db->meta.sections[V4_META_CONTEXTS].size);
    add_context(&reader, 0, &(struct context){.kind = KIND_ROOT, .place = NOTHING}, 0);
    for (uint32_t i = 0; i < db->entries.n && reader.cct->n < limit; i++)
        read_entry(&reader, i);
    reader.cct->end[0] = reader.cct->n;
    free(reader.position_used);
    vec_free(&reader.open);
    if (progress_end() == DONE)
        return reader.cct;
    cct_free(reader.cct);
    return NULL;
}

struct cct *cct_read(struct database *db)
{
    return read_tree(db, false);
}

struct cct *cct_read_with_places(struct database *db)
{
    return read_tree(db, true);
}

void cct_free(struct cct *cct)
{
    if (!cct)
        return;
    free(cct->kind);
    free(cct->parent);
    free(cct->end);
    free(cct->procedure);
    free(cct->place);
    free(cct->line);
    free(cct->id);
    free(cct->position);
    free(cct->at);
    free(cct);
}

uint32_t cct_call_site(const struct cct *cct, uint32_t context)
{
    uint32_t around = cct->parent[context];
    while (cct->kind[around] == KIND_INSTRUCTION)
        around = cct->parent[around];
    return cct->kind[around] == KIND_STATEMENT ? around : 0;
}

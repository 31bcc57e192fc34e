#include "viewer-tui/db/context-table.h"

#include "viewer-tui/base/task.h"
#include "viewer-tui/db/context.h"

#include <stdlib.h>

/* A context whose children are being read. */
struct open_context {
    uint32_t number;
    struct context_range rest;
};

struct reading {
    struct database *db;
    struct cct *cct;
    uint64_t limit;
    uint64_t bytes; /* of the section that were read */
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

/* The values of the context; two contexts cannot have the same. Ids often ascend with the order
 * of the tree, so the next position is tried first. */
static uint32_t take_position(struct reading *reading, uint32_t id)
{
    uint64_t position = values_position(&reading->db->values, id, reading->next_position);
    if (position == NO_POSITION)
        return NOTHING;
    reading->next_position = position + 1;
    uint8_t bit = (uint8_t)(1u << position % 8);
    if (reading->position_used[position / 8] & bit) {
        problem_found(reading->db->meta.path, "corrupt: two contexts have the id %u", id);
        return NOTHING;
    }
    reading->position_used[position / 8] |= bit;
    return (uint32_t)position;
}

static bool is_procedure_or_root(enum scope_kind kind)
{
    return kind == KIND_PROCEDURE || kind == KIND_INLINED || kind == KIND_ROOT;
}

static void add_context(struct reading *reading, uint32_t parent, const struct context *context,
                        uint64_t at)
{
    struct cct *cct = reading->cct;
    uint32_t position = take_position(reading, context->id);
    if (database_leaves_out(reading->db, position != NOTHING) && cct->n > 0)
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
        vec_push(&reading->open, (struct open_context){number, context->children});
}

/* Ends the innermost open context: it contains all that were added since. */
static void close_context(struct reading *reading)
{
    struct open_context *innermost = &reading->open.at[--reading->open.n];
    reading->cct->end[innermost->number] = reading->cct->n;
}

/* Reads everything below the open contexts. */
static void read_below(struct reading *reading)
{
    while (reading->open.n && progress_at(reading->bytes)) {
        struct open_context *innermost = &reading->open.at[reading->open.n - 1];
        struct context context;
        if (reading->cct->n >= reading->limit) {
            problem_found(reading->db->meta.path, "corrupt: contexts overlap or form a cycle");
            innermost->rest.at = innermost->rest.end;
        }
        uint64_t at = innermost->rest.at;
        if (context_next(reading->db, &innermost->rest, &context)) {
            reading->bytes += innermost->rest.at - at;
            add_context(reading, innermost->number, &context, at);
        } else {
            close_context(reading);
        }
    }
}

static void read_entry(struct reading *reading, uint32_t index)
{
    struct v4_entry entry;
    const char *name;
    if (!database_entry(reading->db, index, &entry, &name))
        return;
    struct context context = {.kind = KIND_ROOT,
                              .id = entry.context_id,
                              .place = index,
                              .children = entry_children(reading->db, &entry)};
    add_context(reading, 0, &context, 0);
    read_below(reading);
}

static struct cct *read_tree(struct database *db, bool with_places)
{
    uint64_t limit = contexts_limit(db) + db->entries.n + 1;
    if (limit > NOTHING)
        limit = NOTHING;
    struct reading reading = {.db = db, .limit = limit, .cct = new_cct(limit)};
    if (with_places)
        reading.cct->at = mem_alloc(limit * sizeof *reading.cct->at);
    reading.position_used = mem_alloc(db->values.n_index / 8 + 1);
    progress_begin("reading all calling contexts", db->meta.sections[V4_META_CONTEXTS].size);
    add_context(&reading, 0, &(struct context){.kind = KIND_ROOT, .place = NOTHING}, 0);
    for (uint32_t i = 0; i < db->entries.n && reading.cct->n < limit; i++)
        read_entry(&reading, i);
    reading.cct->end[0] = reading.cct->n;
    free(reading.position_used);
    vec_free(&reading.open);
    if (progress_end() == DONE)
        return reading.cct;
    cct_free(reading.cct);
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

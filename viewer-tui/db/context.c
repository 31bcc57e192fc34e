#include "viewer-tui/db/context.h"

#include "viewer-tui/base/task.h"

#include <string.h>

uint64_t contexts_limit(const struct database *db)
{
    return db->meta.sections[V4_META_CONTEXTS].size / sizeof(struct v4_context) + 1;
}

/* The array of `size` bytes at `at`; empty if it does not lie within the section. */
static struct context_range checked_range(const struct database *db, uint64_t at, uint64_t size)
{
    const struct v4_section *section = &db->meta.sections[V4_META_CONTEXTS];
    if (size == 0)
        return (struct context_range){0, 0};
    bool inside = at >= section->at && at - section->at <= section->size &&
                  size <= section->size - (at - section->at);
    if (inside && at % 8 == 0 && size % 8 == 0)
        return (struct context_range){at, at + size};
    problem_found(db->meta.path, "corrupt: contexts lie outside of their section");
    return (struct context_range){0, 0};
}

struct context_range entry_children(const struct database *db, const struct v4_entry *entry)
{
    return checked_range(db, entry->children, entry->children_size);
}

/* A call leads to a procedure, even if only its first instruction is known. Unknown lexical types
 * are taken as a part of the scope around them, as instructions are. */
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

/* Reads the place of a context: its procedure, or file and line; if these are unknown, the point in
 * its module. */
static void read_place(struct database *db, const struct v4_context *from, struct flex *flex,
                       struct context *context)
{
    uint64_t function = from->flags & V4_HAS_FUNCTION ? next_word(flex) : 0;
    uint64_t file = from->flags & V4_HAS_LOCATION ? next_word(flex) : 0;
    uint32_t line = from->flags & V4_HAS_LOCATION ? (uint32_t)next_word(flex) : 0;
    bool has_point = (from->flags & V4_HAS_POINT) != 0;
    uint64_t module = has_point ? next_word(flex) : 0;
    uint64_t offset = has_point ? next_word(flex) : 0;
    bool is_place_in_file = context->kind == KIND_LOOP || context->kind == KIND_STATEMENT;
    context->line = is_place_in_file ? line : 0;
    if (context->kind == KIND_INSTRUCTION)
        context->place = NOTHING;
    else if (is_place_in_file && !file && has_point)
        context->place = database_point_file(db, database_module_index(db, module), offset);
    else if (is_place_in_file)
        context->place = database_file_index(db, file);
    else if (!function && has_point)
        context->place = database_point_procedure(db, database_module_index(db, module), offset);
    else
        context->place = database_procedure_id(db, function);
}

bool context_next(struct database *db, struct context_range *range, struct context *context)
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
    *context = (struct context){.kind = kind_of(&from), .id = from.context_id};
    read_place(db, &from, &flex, context);
    context->children = checked_range(db, from.children, from.children_size);
    range->at += sizeof from + from.n_flex_words * UINT64_C(8);
    return true;
}

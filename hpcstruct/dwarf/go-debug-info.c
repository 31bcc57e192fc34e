#include "hpcstruct/dwarf/go-debug-info.h"

#include "hpcstruct/elf/names.h"

#include "lib/path.h"

#include <stdlib.h>

/* Values that hold up to some addresses. */
struct values {
    VEC(struct {
        uint64_t end;
        int64_t value;
    })
    all;
};

/* A function being read. */
struct reader {
    struct debug_info *info;
    const struct go_program *go;
    struct go_function function;
    struct values files, lines, calls;
    VEC(uint32_t) scopes; /* of its inlined calls, in debug_info.scopes; DEBUG_NONE: not added */
    uint32_t outermost;   /* the scope of the function itself */
    int64_t file_number;  /* the last one that was looked up */
    uint32_t file;        /* its number in debug_info.files, or DEBUG_NONE */
};

#define MOST_NESTED 64 /* more are damage */

static void read_values(const struct reader *r, uint32_t offset, struct values *values)
{
    struct go_values from = go_values_of(&r->go->table, &r->function, offset);
    values->all.n = 0;
    while (go_values_next(&from))
        vec_push(&values->all, (__typeof__(*values->all.at)){from.end, from.value});
}

/* The value at an address; -1: none. */
static int64_t value_at(const struct values *values, uint64_t address)
{
    size_t i = sorted_up_to(&values->all, end, address);
    return i < values->all.n ? values->all.at[i].value : -1;
}

/* Rows follow each other with the same file mostly. */
static uint32_t file_of(struct reader *r, int64_t number)
{
    if (number == r->file_number)
        return r->file;
    const char *name = go_table_file(&r->go->table, &r->function, number);
    autofree char *path = name ? xml_safe_text(path_normalize(name)) : NULL;
    r->file_number = number;
    r->file = path ? strtab_id(&r->info->files, path) : DEBUG_NONE;
    return r->file;
}

/* ---- lines ---- */

static void read_lines(struct reader *r)
{
    uint64_t at = r->function.begin;
    for (size_t file = 0, line = 0; file < r->files.all.n && line < r->lines.all.n;) {
        uint64_t file_end = r->files.all.at[file].end, line_end = r->lines.all.at[line].end;
        int64_t number = r->lines.all.at[line].value;
        debug_info_add_line(r->info, at, file_of(r, r->files.all.at[file].value),
                            number > 0 && number < UINT32_MAX ? (uint32_t)number : 0);
        at = file_end < line_end ? file_end : line_end;
        file += file_end == at;
        line += line_end == at;
    }
    debug_info_end_sequence(r->info, at, r->go->image);
}

/* ---- inlined calls ---- */

static uint32_t new_scope(struct reader *r, uint32_t function, uint32_t parent)
{
    struct debug_scope scope = {.function = function, .parent = parent, .call_file = DEBUG_NONE};
    if (parent != DEBUG_NONE)
        scope.depth = r->info->scopes.at[parent].depth + 1;
    vec_push(&r->info->scopes, scope);
    return (uint32_t)r->info->scopes.n - 1;
}

/* A function that is declared in the file of the code at an address. Before 1.20, its line is unknown: the
 * smallest one of its code is taken (debug_info_finish). */
static uint32_t function_at(struct reader *r, const char *name, uint32_t line, uint64_t address)
{
    uint32_t file = line ? file_of(r, value_at(&r->files, address)) : DEBUG_NONE;
    return debug_info_function(r->info, name, file, file == DEBUG_NONE ? 0 : line);
}

/* From 1.20 on, the instruction at call_at is one of the caller, from the line of the call. */
static void complete(const struct reader *r, struct go_call *call)
{
    if (!call->call_at)
        return;
    call->parent = (int32_t)value_at(&r->calls, call->call_at);
    call->call_file = (int32_t)value_at(&r->files, call->call_at);
    call->call_line = (int32_t)value_at(&r->lines, call->call_at);
}

/* Calls have code: there are not more of them than bytes. */
static bool is_number(const struct reader *r, int64_t number)
{
    return number >= 0 && (uint64_t)number < r->function.end - r->function.begin;
}

static uint32_t known_scope(const struct reader *r, int64_t number)
{
    return number >= 0 && (size_t)number < r->scopes.n ? r->scopes.at[number] : DEBUG_NONE;
}

/* The calls around call `number`, innermost first, up to one that has a scope. Returns their number. */
static unsigned calls_around(const struct reader *r, int64_t number, struct go_call *calls,
                             int64_t *numbers)
{
    unsigned count = 0;
    while (count < MOST_NESTED && is_number(r, number) && known_scope(r, number) == DEBUG_NONE &&
           go_program_call(r->go, &r->function, number, &calls[count])) {
        complete(r, &calls[count]);
        numbers[count] = number;
        number = calls[count++].parent;
    }
    numbers[count] = number;
    return count;
}

static void note_scope(struct reader *r, int64_t number, uint32_t scope)
{
    while (r->scopes.n <= (size_t)number)
        vec_push(&r->scopes, DEBUG_NONE);
    r->scopes.at[number] = scope;
}

/* The scope of an inlined call with code at an address. */
static uint32_t scope_of(struct reader *r, int64_t number, uint64_t address)
{
    struct go_call calls[MOST_NESTED];
    int64_t numbers[MOST_NESTED + 1];
    unsigned count = calls_around(r, number, calls, numbers);
    uint32_t scope = known_scope(r, numbers[count]);
    if (scope == DEBUG_NONE)
        scope = r->outermost;
    while (count-- > 0) {
        const struct go_call *call = &calls[count];
        uint64_t at = count ? calls[count - 1].call_at : address; /* in the called function */
        uint32_t function = function_at(r, call->name, call->line, at);
        scope = new_scope(r, function, scope);
        r->info->scopes.at[scope].call_file = file_of(r, call->call_file);
        r->info->scopes.at[scope].call_line = call->call_line > 0 ? (uint32_t)call->call_line : 0;
        note_scope(r, numbers[count], scope);
    }
    return scope;
}

static void read_calls(struct reader *r)
{
    const struct go_function *function = &r->function;
    uint64_t at = function->begin;
    r->scopes.n = 0;
    r->outermost = new_scope(r, function_at(r, function->name, function->line, at), DEBUG_NONE);
    debug_info_add_range(r->info, at, function->end, r->outermost, r->go->image);
    for (size_t i = 0; i < r->calls.all.n; at = r->calls.all.at[i++].end)
        if (r->calls.all.at[i].value >= 0)
            debug_info_add_range(r->info, at, r->calls.all.at[i].end,
                                 scope_of(r, r->calls.all.at[i].value, at), r->go->image);
}

void go_debug_info_read(struct debug_info *info, const struct go_program *go,
                        const struct code_ranges *wanted)
{
    struct reader r = {.info = info, .go = go};
    for (uint64_t i = 0; i < go->table.count; i++) {
        if (!go_program_function(go, i, &r.function) ||
            (wanted && !code_ranges_overlap(wanted, r.function.begin, r.function.end)))
            continue;
        r.file_number = -1; /* numbers are of the function's unit */
        r.file = DEBUG_NONE;
        read_values(&r, r.function.file_values, &r.files);
        read_values(&r, r.function.line_values, &r.lines);
        read_values(&r, r.function.call_values, &r.calls);
        read_lines(&r);
        read_calls(&r);
    }
    vec_free(&r.files.all);
    vec_free(&r.lines.all);
    vec_free(&r.calls.all);
    vec_free(&r.scopes);
}

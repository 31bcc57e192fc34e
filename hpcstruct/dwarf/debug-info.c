#include "hpcstruct/dwarf/debug-info.h"

#include "hpcstruct/elf/sorted-addresses.h"

#include <stdlib.h>

/* ---- filling ---- */

uint32_t debug_info_function(struct debug_info *info, const char *name, uint32_t file,
                             uint32_t line)
{
    const struct debug_function new = {strtab_id(&info->names, name), file, line};
    uint64_t name_and_file = (uint64_t) new.name << 32 | file;
    uint32_t known = idmap_get(&info->function_ids, name_and_file, line);
    if (known != IDMAP_NONE)
        return known;
    idmap_put(&info->function_ids, name_and_file, line, (uint32_t)info->functions.n);
    vec_push(&info->functions, new);
    return (uint32_t)info->functions.n - 1;
}

uint32_t debug_info_local_function(struct debug_info *info, const char *name)
{
    const struct debug_function local = {strtab_id(&info->names, name), DEBUG_NONE, 0};
    vec_push(&info->functions, local);
    return (uint32_t)info->functions.n - 1;
}

/* The sequence that is being filled: rows behind the last complete one. */
static size_t sequence_start(const struct debug_info *info)
{
    if (info->sequences.n == 0)
        return 0;
    const struct line_sequence *last = &info->sequences.at[info->sequences.n - 1];
    return last->first + last->count;
}

void debug_info_add_line(struct debug_info *info, uint64_t address, uint32_t file, uint32_t line)
{
    const struct line_mark mark = {address, file, line};
    size_t start = sequence_start(info);
    struct line_mark *last =
        info->raw_lines.n > start ? &info->raw_lines.at[info->raw_lines.n - 1] : NULL;
    if (last && address < last->address)
        return;
    /* Of several rows for an address only the last has any bytes. */
    if (last && address == last->address)
        *last = mark;
    else if (!last || last->file != file || last->line != line)
        vec_push(&info->raw_lines, mark);
}

void debug_info_end_sequence(struct debug_info *info, uint64_t end, const struct elf_image *image)
{
    size_t start = sequence_start(info);
    if (info->raw_lines.n == start)
        return;
    uint64_t begin = info->raw_lines.at[start].address;
    const struct elf_code *code = elf_code_at(image, begin);
    if (!code || end <= begin) {
        info->raw_lines.n = start;
        return;
    }
    const struct line_sequence sequence = {begin, end < code->end ? end : code->end, start,
                                           info->raw_lines.n - start};
    vec_push(&info->sequences, sequence);
}

void debug_info_add_range(struct debug_info *info, uint64_t begin, uint64_t end, uint32_t scope,
                          const struct elf_image *image)
{
    const struct elf_code *code = elf_code_at(image, begin);
    if (!code || end <= begin)
        return;
    const struct scope_range range = {begin, end < code->end ? end : code->end, scope};
    vec_push(&info->ranges, range);
}

/* ---- bringing into order ---- */

static int sequence_order(const void *a, const void *b)
{
    const struct line_sequence *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static void finish_lines(struct debug_info *info)
{
    if (info->sequences.n)
        qsort(info->sequences.at, info->sequences.n, sizeof *info->sequences.at, sequence_order);
    vec_reserve(&info->lines, info->raw_lines.n + info->sequences.n);
    uint64_t covered = 0;
    for (size_t i = 0; i < info->sequences.n; i++) {
        const struct line_sequence *sequence = &info->sequences.at[i];
        if (sequence->end <= covered)
            continue;
        if (info->lines.n && sequence->begin <= covered)
            info->lines.n--; /* the mark at the end of the one before */
        for (size_t k = sequence->first; k < sequence->first + sequence->count; k++) {
            struct line_mark mark = info->raw_lines.at[k];
            uint64_t end = k + 1 < sequence->first + sequence->count
                               ? info->raw_lines.at[k + 1].address
                               : sequence->end;
            if (end <= covered || mark.address >= sequence->end)
                continue;
            if (mark.address < covered)
                mark.address = covered;
            vec_push(&info->lines, mark);
        }
        covered = sequence->end;
        const struct line_mark unknown = {covered, DEBUG_NONE, 0};
        vec_push(&info->lines, unknown);
    }
    vec_free(&info->raw_lines);
    vec_free(&info->sequences);
}

/* Scopes are numbered parents first, so that of ranges with one begin the deepest comes last. */
static int range_order(const void *a, const void *b)
{
    const struct scope_range *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->scope != y->scope)
        return x->scope < y->scope ? -1 : 1;
    return (x->end < y->end) - (x->end > y->end);
}

static void mark_scope(struct debug_info *info, uint64_t address, uint32_t scope)
{
    struct scope_mark *last = info->marks.n ? &info->marks.at[info->marks.n - 1] : NULL;
    if (last && last->address == address)
        last->scope = scope;
    else if (!last || last->scope != scope)
        vec_push(&info->marks, (struct scope_mark){address, scope});
}

static void finish_scopes(struct debug_info *info)
{
    VEC(struct scope_range) open = {0}; /* around the address at hand, innermost last */
    if (info->ranges.n)
        qsort(info->ranges.at, info->ranges.n, sizeof *info->ranges.at, range_order);
    for (size_t i = 0; i <= info->ranges.n; i++) {
        const struct scope_range *next = i < info->ranges.n ? &info->ranges.at[i] : NULL;
        while (open.n && (!next || open.at[open.n - 1].end <= next->begin)) {
            uint64_t end = open.at[--open.n].end;
            while (open.n && open.at[open.n - 1].end <= end)
                open.n--;
            mark_scope(info, end, open.n ? open.at[open.n - 1].scope : DEBUG_NONE);
        }
        if (next) {
            mark_scope(info, next->begin, next->scope);
            vec_push(&open, *next);
        }
    }
    vec_free(&open);
    vec_free(&info->ranges);
}

/* Takes the smallest line from `begin` to `end` in the file that code of the function was first
 * seen in. */
static void place_by_code(const struct debug_info *info, struct debug_function *function,
                          uint64_t begin, uint64_t end)
{
    uint32_t first = debug_info_line_index(info, begin);
    for (size_t i = first == DEBUG_NONE ? 0 : first;
         i < info->lines.n && info->lines.at[i].address < end; i++) {
        const struct line_mark *mark = &info->lines.at[i];
        if (mark->line == 0)
            continue;
        if (function->line == 0 || (function->file == mark->file && mark->line < function->line)) {
            function->file = mark->file;
            function->line = mark->line;
        }
    }
}

static void place_functions(struct debug_info *info)
{
    bool *declared = mem_alloc(info->functions.n * sizeof *declared);
    for (size_t i = 0; i < info->functions.n; i++)
        declared[i] = info->functions.at[i].file != DEBUG_NONE || info->functions.at[i].line;
    for (size_t i = 0; i + 1 < info->marks.n; i++) {
        const struct scope_mark *mark = &info->marks.at[i];
        if (mark->scope == DEBUG_NONE)
            continue;
        uint32_t function = info->scopes.at[mark->scope].function;
        if (!declared[function])
            place_by_code(info, &info->functions.at[function], mark->address,
                          info->marks.at[i + 1].address);
    }
    free(declared);
}

void debug_info_finish(struct debug_info *info)
{
    finish_lines(info);
    finish_scopes(info);
    place_functions(info);
    idmap_free(&info->function_ids);
}

void debug_info_free(struct debug_info *info)
{
    strtab_free(&info->files);
    strtab_free(&info->directories);
    strtab_free(&info->names);
    vec_free(&info->functions);
    vec_free(&info->scopes);
    vec_free(&info->lines);
    vec_free(&info->marks);
    vec_free(&info->links);
    vec_free(&info->raw_lines);
    vec_free(&info->sequences);
    vec_free(&info->ranges);
    idmap_free(&info->function_ids);
}

/* ---- asking ---- */

uint32_t debug_info_line_index(const struct debug_info *info, uint64_t address)
{
    return (uint32_t)sorted_up_to(&info->lines, address, address) - 1;
}

uint32_t debug_info_scope_index(const struct debug_info *info, uint64_t address)
{
    return (uint32_t)sorted_up_to(&info->marks, address, address) - 1;
}

const struct debug_function *debug_info_function_at(const struct debug_info *info, uint64_t address)
{
    uint32_t mark = debug_info_scope_index(info, address);
    if (mark == DEBUG_NONE || info->marks.at[mark].scope == DEBUG_NONE)
        return NULL;
    uint32_t scope = info->marks.at[mark].scope;
    while (info->scopes.at[scope].parent != DEBUG_NONE)
        scope = info->scopes.at[scope].parent;
    return &info->functions.at[info->scopes.at[scope].function];
}

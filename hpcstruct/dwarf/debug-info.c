#include "hpcstruct/dwarf/debug-info.h"

#include "hpcstruct/elf/sorted-addresses.h"

#include "lib/parallel.h"

#include <assert.h>
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

/* The index in raw_lines at which the current sequence starts. */
static size_t sequence_start(const struct debug_info *info)
{
    if (info->sequences.n == 0)
        return 0;
    const struct line_sequence *last = &info->sequences.at[info->sequences.n - 1];
    return last->first + last->count;
}

void debug_info_add_line(struct debug_info *info, uint64_t address, uint32_t file, uint32_t line)
{
    const struct line_row row = {address, file, line};
    size_t start = sequence_start(info);
    struct line_row *last =
        info->raw_lines.n > start ? &info->raw_lines.at[info->raw_lines.n - 1] : NULL;
    if (last && address < last->address)
        return;
    /* Only the last of several rows with one address covers any bytes. */
    if (last && address == last->address)
        *last = row;
    else if (!last || last->file != file || last->line != line)
        vec_push(&info->raw_lines, row);
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

void debug_info_merge_lines(struct debug_info *info, struct debug_info *part, uint32_t *ids,
                            size_t n_ids)
{
    autofree uint32_t *files = mem_alloc(part->files.count * sizeof *files); /* by id in `part` */
    size_t first = info->raw_lines.n;
    for (uint32_t i = 0; i < part->files.count; i++)
        files[i] = strtab_id(&info->files, strtab_string(&part->files, i));
    for (size_t i = 0; i < n_ids; i++)
        if (ids[i] != DEBUG_NONE)
            ids[i] = files[ids[i]];
    vec_reserve(&info->raw_lines, part->raw_lines.n);
    for (size_t i = 0; i < part->raw_lines.n; i++) {
        struct line_row row = part->raw_lines.at[i];
        if (row.file != DEBUG_NONE)
            row.file = files[row.file];
        vec_push(&info->raw_lines, row);
    }
    for (size_t i = 0; i < part->sequences.n; i++) {
        struct line_sequence sequence = part->sequences.at[i];
        sequence.first += first;
        vec_push(&info->sequences, sequence);
    }
    debug_info_free(part);
    *part = (struct debug_info){0};
}

void debug_info_add_range(struct debug_info *info, uint64_t begin, uint64_t end, uint32_t scope,
                          const struct elf_image *image)
{
    const struct elf_code *code = elf_code_at(image, begin);
    if (!code || end <= begin)
        return;
    assert(scope < info->scopes.n);
    const struct scope_range range = {begin, end < code->end ? end : code->end, scope};
    vec_push(&info->ranges, range);
}

/* ---- finishing ---- */

static int sequence_order(const void *a, const void *b)
{
    const struct line_sequence *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static void finish_lines(struct debug_info *info)
{
    vec_sort(&info->sequences, sequence_order);
    vec_reserve(&info->lines, info->raw_lines.n + info->sequences.n);
    uint64_t covered = 0;
    for (size_t i = 0; i < info->sequences.n; i++) {
        const struct line_sequence *sequence = &info->sequences.at[i];
        if (sequence->end <= covered)
            continue;
        if (info->lines.n && sequence->begin <= covered)
            info->lines.n--; /* the row that ended the sequence before */
        for (size_t k = sequence->first; k < sequence->first + sequence->count; k++) {
            struct line_row row = info->raw_lines.at[k];
            uint64_t end = k + 1 < sequence->first + sequence->count
                               ? info->raw_lines.at[k + 1].address
                               : sequence->end;
            if (end <= covered || row.address >= sequence->end)
                continue;
            if (row.address < covered)
                row.address = covered;
            vec_push(&info->lines, row);
        }
        covered = sequence->end;
        const struct line_row unknown = {covered, DEBUG_NONE, 0};
        vec_push(&info->lines, unknown);
    }
    vec_free(&info->raw_lines);
    vec_free(&info->sequences);
}

/* By begin, then the deepest last: parents have smaller numbers. */
static int range_order(const void *a, const void *b)
{
    const struct scope_range *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->scope != y->scope)
        return x->scope < y->scope ? -1 : 1;
    return (x->end < y->end) - (x->end > y->end);
}

static void add_scope_row(struct debug_info *info, uint64_t address, uint32_t scope)
{
    struct scope_row *last =
        info->scope_rows.n ? &info->scope_rows.at[info->scope_rows.n - 1] : NULL;
    if (last && last->address == address)
        last->scope = scope;
    else if (!last || last->scope != scope)
        vec_push(&info->scope_rows, (struct scope_row){address, scope});
}

static void finish_scopes(struct debug_info *info)
{
    VEC(struct scope_range) open = {0}; /* that contain the current address, innermost last */
    vec_sort(&info->ranges, range_order);
    for (size_t i = 0; i <= info->ranges.n; i++) {
        const struct scope_range *next = i < info->ranges.n ? &info->ranges.at[i] : NULL;
        while (open.n && (!next || open.at[open.n - 1].end <= next->begin)) {
            uint64_t end = open.at[--open.n].end;
            while (open.n && open.at[open.n - 1].end <= end)
                open.n--;
            add_scope_row(info, end, open.n ? open.at[open.n - 1].scope : DEBUG_NONE);
        }
        if (next) {
            add_scope_row(info, next->begin, next->scope);
            vec_push(&open, *next);
        }
    }
    vec_free(&open);
    vec_free(&info->ranges);
}

/* Declares a function at the smallest line of its code from `begin` to `end`. The first line found
 * decides the file. */
static void declare_by_code(const struct debug_info *info, struct debug_function *function,
                            uint64_t begin, uint64_t end)
{
    uint32_t first = debug_info_line_index(info, begin);
    for (size_t i = first == DEBUG_NONE ? 0 : first;
         i < info->lines.n && info->lines.at[i].address < end; i++) {
        const struct line_row *row = &info->lines.at[i];
        if (row->line == 0)
            continue;
        if (function->line == 0 || (function->file == row->file && row->line < function->line)) {
            function->file = row->file;
            function->line = row->line;
        }
    }
}

static void declare_functions(struct debug_info *info)
{
    autofree bool *declared = mem_alloc(info->functions.n * sizeof *declared);
    for (size_t i = 0; i < info->functions.n; i++)
        declared[i] = info->functions.at[i].file != DEBUG_NONE || info->functions.at[i].line;
    for (size_t i = 0; i + 1 < info->scope_rows.n; i++) {
        const struct scope_row *row = &info->scope_rows.at[i];
        if (row->scope == DEBUG_NONE)
            continue;
        uint32_t function = info->scopes.at[row->scope].function;
        if (!declared[function])
            declare_by_code(info, &info->functions.at[function], row->address,
                            info->scope_rows.at[i + 1].address);
    }
}

enum { FINISH_SCOPES, FINISH_LINES, FINISH_PARTS };

/* Scopes and lines share nothing until both are finished. */
static void finish_part(void *context, unsigned worker, size_t which)
{
    (void)worker;
    if (which == FINISH_SCOPES)
        finish_scopes(context);
    else
        finish_lines(context);
}

void debug_info_finish(struct debug_info *info, unsigned workers)
{
    parallel_for(FINISH_PARTS, workers, finish_part, info);
    declare_functions(info);
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
    vec_free(&info->scope_rows);
    vec_free(&info->links);
    vec_free(&info->raw_lines);
    vec_free(&info->sequences);
    vec_free(&info->ranges);
    idmap_free(&info->function_ids);
}

/* ---- lookup ---- */

uint32_t debug_info_line_index(const struct debug_info *info, uint64_t address)
{
    return (uint32_t)sorted_up_to(&info->lines, address, address) - 1;
}

uint32_t debug_info_scope_index(const struct debug_info *info, uint64_t address)
{
    return (uint32_t)sorted_up_to(&info->scope_rows, address, address) - 1;
}

const struct debug_function *debug_info_function_at(const struct debug_info *info, uint64_t address)
{
    uint32_t row = debug_info_scope_index(info, address);
    if (row == DEBUG_NONE || info->scope_rows.at[row].scope == DEBUG_NONE)
        return NULL;
    uint32_t scope = info->scope_rows.at[row].scope;
    while (info->scopes.at[scope].parent != DEBUG_NONE)
        scope = info->scopes.at[scope].parent;
    return &info->functions.at[info->scopes.at[scope].function];
}

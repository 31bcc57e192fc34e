#include "hpcstruct/dwarf/debug-info.h"

#include "hpcstruct/elf/byte-reader.h"

#include <assert.h>
#include <string.h>

/* ---- saving ---- */

static void save_number(FILE *out, uint64_t number)
{
    fwrite(&number, sizeof number, 1, out);
}

static void save_strings(FILE *out, const struct strtab *table)
{
    save_number(out, table->count);
    for (uint32_t i = 0; i < table->count; i++)
        fwrite(strtab_string(table, i), strlen(strtab_string(table, i)) + 1, 1, out);
}

#define save_array(out, v)                                                                         \
    do {                                                                                           \
        save_number(out, (v)->n);                                                                  \
        if ((v)->n)                                                                                \
            fwrite((v)->at, sizeof *(v)->at, (v)->n, out);                                         \
    } while (0)

bool debug_info_save(const struct debug_info *info, FILE *out)
{
    save_strings(out, &info->files);
    save_strings(out, &info->directories);
    save_strings(out, &info->names);
    save_array(out, &info->functions);
    save_array(out, &info->scopes);
    save_array(out, &info->lines);
    save_array(out, &info->scope_rows);
    save_array(out, &info->links);
    save_number(out, info->n_units);
    save_number(out, info->n_unoptimized);
    return fflush(out) == 0 && !ferror(out);
}

/* ---- loading ---- */

static void load_strings(struct byte_reader *from, struct strtab *table)
{
    uint64_t count = read_uint(from, 8);
    for (uint64_t i = 0; i < count && !from->failed; i++)
        if (strtab_id(table, read_cstring(from)) != i)
            from->failed = true;
}

#define load_array(from, v)                                                                        \
    do {                                                                                           \
        uint64_t count_ = read_uint(from, 8);                                                      \
        const uint8_t *start_ = (from)->bytes.at + (from)->at;                                     \
        if (count_ > (from)->bytes.size / sizeof *(v)->at)                                         \
            (from)->failed = true;                                                                 \
        else                                                                                       \
            skip_bytes(from, count_ * sizeof *(v)->at);                                            \
        if (!(from)->failed && count_) {                                                           \
            vec_reserve(v, count_);                                                                \
            memcpy((v)->at, start_, count_ * sizeof *(v)->at);                                     \
            (v)->n = count_;                                                                       \
        }                                                                                          \
    } while (0)

/* Whether a number is DEBUG_NONE or below `count`. */
static bool is_index(uint32_t number, size_t count)
{
    return number == DEBUG_NONE || number < count;
}

static bool functions_are_valid(const struct debug_info *info)
{
    for (size_t i = 0; i < info->functions.n; i++) {
        const struct debug_function *function = &info->functions.at[i];
        if (function->name >= info->names.count || !is_index(function->file, info->files.count))
            return false;
    }
    return true;
}

static bool scopes_are_valid(const struct debug_info *info)
{
    for (size_t i = 0; i < info->scopes.n; i++) {
        const struct debug_scope *scope = &info->scopes.at[i];
        if (scope->function >= info->functions.n || !is_index(scope->parent, i) ||
            !is_index(scope->call_file, info->files.count))
            return false;
    }
    return true;
}

static bool lines_are_valid(const struct debug_info *info)
{
    for (size_t i = 0; i < info->lines.n; i++)
        if (!is_index(info->lines.at[i].file, info->files.count) ||
            (i && info->lines.at[i].address <= info->lines.at[i - 1].address))
            return false;
    return true;
}

static bool scope_rows_are_valid(const struct debug_info *info)
{
    for (size_t i = 0; i < info->scope_rows.n; i++)
        if (!is_index(info->scope_rows.at[i].scope, info->scopes.n) ||
            (i && info->scope_rows.at[i].address <= info->scope_rows.at[i - 1].address))
            return false;
    return true;
}

bool debug_info_load(struct debug_info *info, struct elf_bytes bytes)
{
    assert(info->functions.n == 0 && info->scopes.n == 0 && info->lines.n == 0);
    struct byte_reader from = {.bytes = bytes};
    load_strings(&from, &info->files);
    load_strings(&from, &info->directories);
    load_strings(&from, &info->names);
    load_array(&from, &info->functions);
    load_array(&from, &info->scopes);
    load_array(&from, &info->lines);
    load_array(&from, &info->scope_rows);
    load_array(&from, &info->links);
    info->n_units = (uint32_t)read_uint(&from, 8);
    info->n_unoptimized = (uint32_t)read_uint(&from, 8);
    if (!from.failed && functions_are_valid(info) && scopes_are_valid(info) &&
        lines_are_valid(info) && scope_rows_are_valid(info))
        return true;
    debug_info_free(info);
    *info = (struct debug_info){0};
    return false;
}

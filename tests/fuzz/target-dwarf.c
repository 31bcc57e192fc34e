/* DWARF: line tables, the frame of split DWARF, and debug information as a whole. */
#include "tests/fuzz/fuzz-target.h"

#include "hpcstruct/dwarf/dwarf-reader.h"
#include "hpcstruct/dwarf/line-table.h"
#include "hpcstruct/dwarf/range-list.h"
#include "hpcstruct/dwarf/unit-head.h"
#include "hpcstruct/dwarf/unit-index.h"

#include "lib/bytes.h"

#include <stdlib.h>

static void check_info(const struct debug_info *info)
{
    for (size_t i = 0; i < info->lines.n; i++) {
        const struct line_row *row = &info->lines.at[i];
        PROMISE(i == 0 || row[-1].address < row->address);
        PROMISE(row->file == DEBUG_NONE || row->file < info->files.count);
    }
    for (size_t i = 0; i < info->scopes.n; i++) {
        const struct debug_scope *scope = &info->scopes.at[i];
        PROMISE(scope->function < info->functions.n);
        PROMISE(scope->parent == DEBUG_NONE || scope->parent < i);
        PROMISE(scope->call_file == DEBUG_NONE || scope->call_file < info->files.count);
    }
    for (size_t i = 0; i < info->scope_rows.n; i++) {
        const struct scope_row *row = &info->scope_rows.at[i];
        PROMISE(i == 0 || row[-1].address < row->address);
        PROMISE(row->scope == DEBUG_NONE || row->scope < info->scopes.n);
        debug_info_function_at(info, row->address);
    }
}

/* ---- line tables ---- */

/* The input: the sizes of .debug_line_str and .debug_str (16 bits each), these, .debug_line. */
static void run_debug_line(const uint8_t *data, size_t size)
{
    const struct elf_code code = {0, UINT64_C(1) << 32, NULL};
    struct elf_image image = {0};
    struct debug_info info = {0};
    if (size < 4)
        return;
    size_t line_strings = get_u16(data), strings = get_u16(data + 2);
    if (line_strings + strings > size - 4)
        return;
    const struct line_sections sections = {
        .line_strings = {data + 4, line_strings},
        .strings = {data + 4 + line_strings, strings},
        .lines = {data + 4 + line_strings + strings, size - 4 - line_strings - strings},
    };
    vec_push(&image.code, code);
    line_tables_read_all(&sections, &info, &image);
    debug_info_finish(&info, 1);
    check_info(&info);
    debug_info_free(&info);
    vec_free(&image.code);
}

/* A file of 4 bytes can have a path of 4,096 (line-table.c). */
const struct fuzz_target debug_line_target = {"debug-line", run_debug_line, 1 << 20, 1536};

/* ---- split debug information ---- */

static void check_ranges(struct address_ranges *ranges)
{
    for (size_t i = 0; i < ranges->all.n; i++)
        PROMISE(ranges->all.at[i].begin < ranges->all.at[i].end);
    ranges->all.n = 0;
}

/* The input: the sizes of .debug_abbrev, .debug_str and .debug_addr (16 bits each), these,
 * .debug_info; or as a whole a list of ranges and an index of a .dwp file. */
static void run_split_debug(const uint8_t *data, size_t size)
{
    struct unit_heads heads = {0};
    struct address_ranges ranges = {0};
    struct unit_parts parts;
    const struct range_lists lists = {{data, size}, {data, size}, 0, 0, 0};
    ranges.list_entries_left = size;
    range_list_read(&lists, 0, &ranges);
    check_ranges(&ranges);
    old_range_list_read(&lists, 0, &ranges);
    check_ranges(&ranges);
    vec_free(&ranges.all);
    unit_index_find((struct elf_bytes){data, size}, size < 24 ? 0 : get_u64(data + 16), &parts);
    if (size < 6)
        return;
    size_t abbreviations = get_u16(data), strings = get_u16(data + 2), rest = size - 6;
    size_t addresses = get_u16(data + 4);
    if (abbreviations + strings + addresses > rest)
        return;
    const struct elf_bytes string_bytes = {data + 6 + abbreviations, strings};
    const struct unit_sections sections = {
        .abbreviations = {data + 6, abbreviations},
        .strings = string_bytes,
        .line_strings = string_bytes,
        .string_offsets = string_bytes,
        .addresses = {string_bytes.at + strings, addresses},
        .info = {string_bytes.at + strings + addresses, rest - abbreviations - strings - addresses},
    };
    unit_heads_read(&sections, &heads);
    for (size_t i = 0; i < heads.all.n; i++) {
        const struct unit_head *head = &heads.all.at[i];
        PROMISE(head->begin < head->end && head->end <= sections.info.size);
        PROMISE(!head->dwo_name || head->dwo_name[0]);
    }
    vec_free(&heads.all);
}

const struct fuzz_target split_debug_target = {"split-debug", run_split_debug, 1 << 20, 64};

/* ---- debug information ---- */

/* The input is an ELF file. All of its code is wanted, then a part. */
static void run_debug_info(const uint8_t *data, size_t size)
{
    static struct code_range range = {0x1000, 0x1180};
    const struct code_ranges part = {{&range, 1, 1}}, *const wanted[] = {NULL, &part};
    for (size_t i = 0; i < 2; i++) {
        char *cause = NULL;
        struct elf_image *image = elf_open(input_file(data, size), &cause);
        free(cause);
        if (image && dwarf_is_in(image)) {
            struct debug_info info = {0};
            struct split_debug split = {0};
            const struct dwarf_inputs inputs = {image, image, NULL, &split, wanted[i]};
            free(dwarf_read(&info, &inputs, 1));
            check_info(&info);
            debug_info_free(&info);
        }
        elf_close(image);
    }
}

const struct fuzz_target debug_info_target = {"debug-info", run_debug_info, 1 << 24, 8192};

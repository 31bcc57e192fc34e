#include "hpcstruct/dwarf/line-table.h"

#include "hpcstruct/elf/byte-reader.h"
#include "hpcstruct/elf/names.h"

#include "lib/path.h"

#include <libdwarf/dwarf.h>
#include <stdlib.h>

struct table {
    const struct line_sections *sections;
    const char *directory; /* of the compilation */
    struct debug_info *info;
    const struct elf_image *image;
    struct file_table *files;
    /* The header. */
    unsigned version, offset_size;
    unsigned instruction_length, opcode_base, line_range;
    int line_base;
    const uint8_t *opcode_lengths; /* of opcodes 1 .. opcode_base - 1 */
    VEC(const char *) directories; /* as the table counts them */
};

/* ---- file names ---- */

/* A path is relative to its directory, which is relative to that of the compilation. */
static uint32_t file_id(const struct table *t, const char *name, uint64_t directory)
{
    const char *of_file = directory < t->directories.n ? t->directories.at[directory] : "";
    const char *parts[] = {t->directory, of_file, name};
    size_t first = 2;
    while (first > 0 && parts[first][0] != '/')
        first--;
    for (size_t i = 0; i < first; i++)
        parts[i] = "";
    char *raw = mem_printf("%s%s%s%s%s", parts[0], parts[0][0] ? "/" : "", parts[1],
                           parts[1][0] ? "/" : "", parts[2]);
    char *path = clean_text(path_normalize(raw));
    uint32_t id = strtab_id(&t->info->files, path);
    free(raw);
    free(path);
    return id;
}

static void add_file(struct table *t, const char *name, uint64_t directory)
{
    vec_push(&t->files->ids, name[0] ? file_id(t, name, directory) : DEBUG_NONE);
}

/* Up to version 4: directories and files count from 1. */
static void read_old_names(struct table *t, struct cursor *c)
{
    vec_push(&t->directories, "");
    for (const char *name; (name = cursor_string(c))[0] != '\0';)
        vec_push(&t->directories, name);
    vec_push(&t->files->ids, DEBUG_NONE);
    for (const char *name; (name = cursor_string(c))[0] != '\0';) {
        uint64_t directory = cursor_uleb(c);
        cursor_uleb(c); /* time of modification */
        cursor_uleb(c); /* size */
        add_file(t, name, directory);
    }
}

/* A column of the tables of names in version 5. */
struct column {
    uint64_t content, form;
};

/* Reads a value; strings are returned, numbers stored. */
static const char *read_column(const struct table *t, struct cursor *c, uint64_t form,
                               uint64_t *number)
{
    switch (form) {
    case DW_FORM_string: return cursor_string(c);
    case DW_FORM_line_strp:
        return elf_string(t->sections->line_strings, cursor_unsigned(c, t->offset_size));
    case DW_FORM_strp: return elf_string(t->sections->strings, cursor_unsigned(c, t->offset_size));
    case DW_FORM_strp_sup: cursor_skip(c, t->offset_size); break;
    case DW_FORM_udata:
    case DW_FORM_strx: *number = cursor_uleb(c); break;
    case DW_FORM_data1:
    case DW_FORM_strx1: *number = cursor_unsigned(c, 1); break;
    case DW_FORM_data2:
    case DW_FORM_strx2: *number = cursor_unsigned(c, 2); break;
    case DW_FORM_strx3: cursor_skip(c, 3); break;
    case DW_FORM_data4:
    case DW_FORM_strx4: *number = cursor_unsigned(c, 4); break;
    case DW_FORM_data8: *number = cursor_unsigned(c, 8); break;
    case DW_FORM_data16: cursor_skip(c, 16); break;
    case DW_FORM_block: cursor_skip(c, cursor_uleb(c)); break;
    case DW_FORM_block1: cursor_skip(c, cursor_unsigned(c, 1)); break;
    case DW_FORM_block2: cursor_skip(c, cursor_unsigned(c, 2)); break;
    case DW_FORM_block4: cursor_skip(c, cursor_unsigned(c, 4)); break;
    default: c->bad = true;
    }
    return "";
}

/* Version 5: reads the directories, or the files; both count from 0. */
static void read_new_names(struct table *t, struct cursor *c, bool files)
{
    struct column columns[256];
    unsigned column_count = (unsigned)cursor_unsigned(c, 1);
    for (unsigned i = 0; i < column_count; i++) {
        columns[i].content = cursor_uleb(c);
        columns[i].form = cursor_uleb(c);
    }
    uint64_t count = cursor_uleb(c);
    if (column_count == 0)
        return;
    for (uint64_t i = 0; i < count && !c->bad; i++) {
        const char *name = "";
        uint64_t directory = 0, unused = 0;
        for (unsigned k = 0; k < column_count; k++) {
            uint64_t *number = columns[k].content == DW_LNCT_directory_index ? &directory : &unused;
            const char *text = read_column(t, c, columns[k].form, number);
            if (columns[k].content == DW_LNCT_path)
                name = text;
        }
        if (files)
            add_file(t, name, directory);
        else
            vec_push(&t->directories, name);
    }
}

/* ---- rows ---- */

/* The registers of the line number program that matter. */
struct registers {
    uint64_t address, file, line;
};

static const struct registers initial = {0, 1, 1};

static void add_row(const struct table *t, const struct registers *r)
{
    uint32_t file = r->file < t->files->ids.n ? t->files->ids.at[r->file] : DEBUG_NONE;
    bool known = file != DEBUG_NONE && r->line <= INT32_MAX;
    debug_info_add_line(t->info, r->address, file, known ? (uint32_t)r->line : 0);
}

static void run_extended(struct table *t, struct cursor *c, struct registers *r)
{
    struct cursor operands = cursor_part(c, cursor_uleb(c));
    size_t left = operands.bytes.size - operands.at;
    switch (cursor_unsigned(&operands, 1)) {
    case DW_LNE_end_sequence:
        debug_info_end_sequence(t->info, r->address, t->image);
        *r = initial;
        break;
    case DW_LNE_set_address: r->address = cursor_unsigned(&operands, left - 1 == 4 ? 4 : 8); break;
    case DW_LNE_define_file: {
        const char *name = cursor_string(&operands);
        add_file(t, name, cursor_uleb(&operands));
        break;
    }
    }
}

static void run_standard(struct table *t, struct cursor *c, unsigned opcode, struct registers *r)
{
    switch (opcode) {
    case DW_LNS_copy: add_row(t, r); break;
    case DW_LNS_advance_pc: r->address += cursor_uleb(c) * t->instruction_length; break;
    case DW_LNS_advance_line: r->line += (uint64_t)cursor_sleb(c); break;
    case DW_LNS_set_file: r->file = cursor_uleb(c); break;
    case DW_LNS_const_add_pc:
        r->address += (uint64_t)((255 - t->opcode_base) / t->line_range) * t->instruction_length;
        break;
    case DW_LNS_fixed_advance_pc: r->address += cursor_unsigned(c, 2); break;
    default: /* about columns, statements and the like */
        for (unsigned i = 0; i < t->opcode_lengths[opcode - 1]; i++)
            cursor_uleb(c);
    }
}

static void run_program(struct table *t, struct cursor *c)
{
    struct registers r = initial;
    while (cursor_has_more(c)) {
        unsigned opcode = (unsigned)cursor_unsigned(c, 1);
        if (opcode >= t->opcode_base) {
            unsigned advance = opcode - t->opcode_base;
            r.address += (uint64_t)(advance / t->line_range) * t->instruction_length;
            r.line += (uint64_t)(t->line_base + (int)(advance % t->line_range));
            add_row(t, &r);
        } else if (opcode == 0) {
            run_extended(t, c, &r);
        } else {
            run_standard(t, c, opcode, &r);
        }
    }
    /* Rows without an end, in a damaged table, are no sequence. */
    debug_info_end_sequence(t->info, 0, t->image);
}

/* ---- the whole ---- */

/* The length of a table, and the size of offsets in it. */
static uint64_t read_length(struct cursor *c, unsigned *offset_size)
{
    uint64_t length = cursor_unsigned(c, 4);
    *offset_size = 4;
    if (length != UINT32_MAX)
        return length;
    *offset_size = 8;
    return cursor_unsigned(c, 8);
}

/* Reads the header; `c` then stands at the program, and ends with it. */
static bool read_header(struct table *t, struct cursor *c)
{
    uint64_t length = read_length(c, &t->offset_size);
    *c = cursor_part(c, length);
    t->version = (unsigned)cursor_unsigned(c, 2);
    if (t->version < 2 || t->version > 5)
        return false;
    if (t->version >= 5)
        cursor_skip(c, 2); /* sizes of addresses and segment selectors */
    uint64_t rest = cursor_unsigned(c, t->offset_size);
    struct cursor header = cursor_part(c, rest);
    t->instruction_length = (unsigned)cursor_unsigned(&header, 1);
    if (t->version >= 4)
        cursor_skip(&header, 1); /* operations per instruction: 1 */
    cursor_skip(&header, 1);     /* whether rows are statements */
    t->line_base = (int8_t)cursor_unsigned(&header, 1);
    t->line_range = (unsigned)cursor_unsigned(&header, 1);
    t->opcode_base = (unsigned)cursor_unsigned(&header, 1);
    if (header.bad || t->line_range == 0 || t->opcode_base == 0)
        return false;
    t->opcode_lengths = header.bytes.at + header.at;
    cursor_skip(&header, t->opcode_base - 1);
    if (t->version >= 5) {
        read_new_names(t, &header, false);
        /* Not every unit with this table names the directory: units of types do not. */
        if (t->directory[0] == '\0' && t->directories.n && t->directories.at[0][0] == '/')
            t->directory = t->directories.at[0];
        read_new_names(t, &header, true);
    } else {
        read_old_names(t, &header);
    }
    return !header.bad;
}

bool line_table_read(const struct line_sections *sections, uint64_t offset, const char *directory,
                     struct debug_info *info, const struct elf_image *image,
                     struct file_table *files)
{
    struct table t = {.sections = sections, .directory = directory, .info = info, .image = image};
    struct cursor c = {.bytes = sections->lines, .at = offset};
    t.files = files;
    bool good = offset < sections->lines.size && read_header(&t, &c);
    if (good && image) {
        run_program(&t, &c);
        good = !c.bad;
    }
    vec_free(&t.directories);
    return good;
}

void line_tables_read_all(const struct line_sections *sections, struct debug_info *info,
                          const struct elf_image *image)
{
    struct cursor c = {.bytes = sections->lines};
    while (cursor_has_more(&c)) {
        struct file_table files = {0};
        unsigned offset_size;
        line_table_read(sections, c.at, "", info, image, &files);
        cursor_skip(&c, read_length(&c, &offset_size));
        vec_free(&files.ids);
    }
}

#include "hpcstruct/dwarf/line-table.h"

#include "hpcstruct/elf/byte-reader.h"
#include "hpcstruct/elf/names.h"

#include "lib/path.h"

#include <assert.h>
#include <libdwarf/dwarf.h>
#include <stdlib.h>
#include <string.h>

struct line_table {
    const struct line_sections *sections;
    const char *directory; /* working directory of the compiler */
    struct debug_info *info;
    const struct elf_image *image;
    struct file_table *files;
    /* The header. */
    unsigned version, offset_size;
    unsigned instruction_length, opcode_base, line_range;
    int line_base;
    const uint8_t *opcode_lengths; /* of opcodes 1 .. opcode_base - 1 */
    VEC(const char *) directories; /* by their number in the table */
};

/* ---- file names ---- */

/* Bytes of a path. No file can be opened by a longer one. Without a limit, a damaged table with one
 * long directory and many files would take memory of the square of its size. */
#define MOST_OF_PATH 4096

/* A path is relative to its directory, and that one to the working directory of the compiler. */
static uint32_t file_id(const struct line_table *t, const char *name, uint64_t directory)
{
    const char *file_directory = directory < t->directories.n ? t->directories.at[directory] : "";
    const char *parts[] = {t->directory, file_directory, name};
    size_t first = 2;
    while (first > 0 && parts[first][0] != '/')
        first--;
    for (size_t i = 0; i < first; i++)
        parts[i] = "";
    if (strlen(parts[0]) + strlen(parts[1]) + strlen(name) > MOST_OF_PATH)
        return DEBUG_NONE;
    char *raw = mem_printf("%s%s%s%s%s", parts[0], parts[0][0] ? "/" : "", parts[1],
                           parts[1][0] ? "/" : "", parts[2]);
    autofree char *path = xml_safe_text(path_normalize(raw));
    uint32_t id = strtab_id(&t->info->files, path);
    free(raw);
    return id;
}

static void add_file(struct line_table *t, const char *name, uint64_t directory)
{
    vec_push(&t->files->ids, name[0] ? file_id(t, name, directory) : DEBUG_NONE);
}

/* Up to version 4: directories and files are numbered from 1. */
static void read_old_names(struct line_table *t, struct byte_reader *c)
{
    vec_push(&t->directories, "");
    for (const char *name; (name = read_cstring(c))[0] != '\0';)
        vec_push(&t->directories, name);
    vec_push(&t->files->ids, DEBUG_NONE);
    for (const char *name; (name = read_cstring(c))[0] != '\0';) {
        uint64_t directory = read_uleb128(c);
        read_uleb128(c); /* time of modification */
        read_uleb128(c); /* size */
        add_file(t, name, directory);
    }
}

/* A column of the tables of names in version 5. */
struct name_column {
    uint64_t content, form;
};

/* Reads a value: returns a string, or stores a number. */
static const char *read_column(const struct line_table *t, struct byte_reader *c, uint64_t form,
                               uint64_t *number)
{
    switch (form) {
    case DW_FORM_string: return read_cstring(c);
    case DW_FORM_line_strp:
        return elf_string(t->sections->line_strings, read_uint(c, t->offset_size));
    case DW_FORM_strp: return elf_string(t->sections->strings, read_uint(c, t->offset_size));
    case DW_FORM_strp_sup: skip_bytes(c, t->offset_size); break;
    case DW_FORM_udata:
    case DW_FORM_strx: *number = read_uleb128(c); break;
    case DW_FORM_data1:
    case DW_FORM_strx1: *number = read_uint(c, 1); break;
    case DW_FORM_data2:
    case DW_FORM_strx2: *number = read_uint(c, 2); break;
    case DW_FORM_strx3: skip_bytes(c, 3); break;
    case DW_FORM_data4:
    case DW_FORM_strx4: *number = read_uint(c, 4); break;
    case DW_FORM_data8: *number = read_uint(c, 8); break;
    case DW_FORM_data16: skip_bytes(c, 16); break;
    case DW_FORM_block: skip_bytes(c, read_uleb128(c)); break;
    case DW_FORM_block1: skip_bytes(c, read_uint(c, 1)); break;
    case DW_FORM_block2: skip_bytes(c, read_uint(c, 2)); break;
    case DW_FORM_block4: skip_bytes(c, read_uint(c, 4)); break;
    default: c->failed = true;
    }
    return "";
}

/* Version 5: reads the directories, or the files; both are numbered from 0. */
static void read_new_names(struct line_table *t, struct byte_reader *c, bool files)
{
    struct name_column columns[256];
    unsigned column_count = (unsigned)read_uint(c, 1);
    for (unsigned i = 0; i < column_count; i++) {
        columns[i].content = read_uleb128(c);
        columns[i].form = read_uleb128(c);
    }
    uint64_t count = read_uleb128(c);
    if (column_count == 0)
        return;
    for (uint64_t i = 0; i < count && !c->failed; i++) {
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

/* The registers of the line number program that we need. */
struct registers {
    uint64_t address, file, line;
};

static const struct registers initial = {0, 1, 1};

static void add_row(const struct line_table *t, const struct registers *r)
{
    uint32_t file = r->file < t->files->ids.n ? t->files->ids.at[r->file] : DEBUG_NONE;
    bool known = file != DEBUG_NONE && r->line <= INT32_MAX;
    debug_info_add_line(t->info, r->address, file, known ? (uint32_t)r->line : 0);
}

static void run_extended(struct line_table *t, struct byte_reader *c, struct registers *r)
{
    struct byte_reader operands = sub_reader(c, read_uleb128(c));
    size_t left = operands.bytes.size - operands.at;
    switch (read_uint(&operands, 1)) {
    case DW_LNE_end_sequence:
        debug_info_end_sequence(t->info, r->address, t->image);
        *r = initial;
        break;
    case DW_LNE_set_address: r->address = read_uint(&operands, left - 1 == 4 ? 4 : 8); break;
    case DW_LNE_define_file: {
        const char *name = read_cstring(&operands);
        add_file(t, name, read_uleb128(&operands));
        break;
    }
    }
}

static void run_standard(struct line_table *t, struct byte_reader *c, unsigned opcode,
                         struct registers *r)
{
    switch (opcode) {
    case DW_LNS_copy: add_row(t, r); break;
    case DW_LNS_advance_pc: r->address += read_uleb128(c) * t->instruction_length; break;
    case DW_LNS_advance_line: r->line += (uint64_t)read_sleb128(c); break;
    case DW_LNS_set_file: r->file = read_uleb128(c); break;
    case DW_LNS_const_add_pc:
        r->address += (uint64_t)((255 - t->opcode_base) / t->line_range) * t->instruction_length;
        break;
    case DW_LNS_fixed_advance_pc: r->address += read_uint(c, 2); break;
    default: /* sets a column, a statement flag and the like */
        for (unsigned i = 0; i < t->opcode_lengths[opcode - 1]; i++)
            read_uleb128(c);
    }
}

static void run_program(struct line_table *t, struct byte_reader *c)
{
    struct registers r = initial;
    while (has_more_bytes(c)) {
        unsigned opcode = (unsigned)read_uint(c, 1);
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
    /* A damaged table may lack the end of its last sequence: drop that. */
    debug_info_end_sequence(t->info, 0, t->image);
}

/* ---- the whole ---- */

/* The length of a table, and the size of offsets in it. */
static uint64_t read_length(struct byte_reader *c, unsigned *offset_size)
{
    uint64_t length = read_uint(c, 4);
    *offset_size = 4;
    if (length != UINT32_MAX)
        return length;
    *offset_size = 8;
    return read_uint(c, 8);
}

/* Reads the header; `c` then contains the rest, the line number program. */
static bool read_header(struct line_table *t, struct byte_reader *c)
{
    uint64_t length = read_length(c, &t->offset_size);
    *c = sub_reader(c, length);
    t->version = (unsigned)read_uint(c, 2);
    if (t->version < 2 || t->version > 5)
        return false;
    if (t->version >= 5)
        skip_bytes(c, 2); /* sizes of addresses and segment selectors */
    uint64_t rest = read_uint(c, t->offset_size);
    struct byte_reader header = sub_reader(c, rest);
    t->instruction_length = (unsigned)read_uint(&header, 1);
    if (t->version >= 4)
        skip_bytes(&header, 1); /* operations per instruction: 1 */
    skip_bytes(&header, 1);     /* initial value of the statement flag */
    t->line_base = (int8_t)read_uint(&header, 1);
    t->line_range = (unsigned)read_uint(&header, 1);
    t->opcode_base = (unsigned)read_uint(&header, 1);
    if (header.failed || t->line_range == 0 || t->opcode_base == 0)
        return false;
    t->opcode_lengths = header.bytes.at + header.at;
    skip_bytes(&header, t->opcode_base - 1);
    if (t->version >= 5) {
        read_new_names(t, &header, false);
        /* Type units share the table, but do not name the directory. */
        if (t->directory[0] == '\0' && t->directories.n && t->directories.at[0][0] == '/')
            t->directory = t->directories.at[0];
        read_new_names(t, &header, true);
    } else {
        read_old_names(t, &header);
    }
    return !header.failed;
}

bool line_table_read(const struct line_sections *sections, uint64_t offset, const char *directory,
                     struct debug_info *info, const struct elf_image *image,
                     struct file_table *files)
{
    struct line_table t = {
        .sections = sections, .directory = directory, .info = info, .image = image};
    struct byte_reader c = {.bytes = sections->lines, .at = offset};
    assert(files->ids.n == 0);
    t.files = files;
    bool good = offset < sections->lines.size && read_header(&t, &c);
    if (good && image) {
        run_program(&t, &c);
        good = !c.failed;
    }
    vec_free(&t.directories);
    return good;
}

void line_tables_read_all(const struct line_sections *sections, struct debug_info *info,
                          const struct elf_image *image)
{
    struct byte_reader c = {.bytes = sections->lines};
    while (has_more_bytes(&c)) {
        struct file_table files = {0};
        unsigned offset_size;
        line_table_read(sections, c.at, "", info, image, &files);
        skip_bytes(&c, read_length(&c, &offset_size));
        vec_free(&files.ids);
    }
}

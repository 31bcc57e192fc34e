#include "hpcstruct/dwarf-internal.h"

#include "lib/path.h"

#include <stdlib.h>

static struct file_table read_table(struct dwarf_reader *reader, const struct dwarf_source *source,
                                    Dwarf_Die unit, uint64_t offset)
{
    struct file_table files = {0};
    const char *directory = dwarf_string(reader, source, unit, DW_AT_comp_dir);
    const struct elf_image *rows_for = source == &reader->main ? reader->image : NULL;
    if (!line_table_read(&source->line_sections, offset, directory ? directory : "", reader->info,
                         rows_for, &files))
        dwarf_problem(reader, "a line table cannot be read");
    return files;
}

static void add_directory(struct dwarf_reader *reader, const struct dwarf_source *source,
                          Dwarf_Die unit)
{
    const char *directory = dwarf_string(reader, source, unit, DW_AT_comp_dir);
    if (!directory || directory[0] != '/')
        return;
    char *normal = path_normalize(directory);
    strtab_id(&reader->info->directories, normal);
    free(normal);
}

void dwarf_read_lines(struct dwarf_reader *reader, struct dwarf_source *source, Dwarf_Die unit)
{
    Dwarf_Error error = NULL;
    Dwarf_Off offset = 0;
    uint64_t table_offset = 0;
    struct dwarf_source *in;
    add_directory(reader, source, unit);
    if (!dwarf_ok(reader, source, dwarf_dieoffset(unit, &offset, &error), &error) ||
        !dwarf_reference(reader, source, unit, DW_AT_stmt_list, &table_offset, &in))
        return;
    /* Units may share a table. */
    uint32_t table = idmap_get(&source->line_tables, table_offset, 0);
    if (table == IDMAP_NONE) {
        table = (uint32_t)reader->file_tables.n;
        vec_push(&reader->file_tables, read_table(reader, source, unit, table_offset));
        idmap_put(&source->line_tables, table_offset, 0, table);
    }
    idmap_put(&source->units, offset, 0, table);
}

uint32_t dwarf_file(struct dwarf_reader *reader, struct dwarf_source *source, Dwarf_Die die,
                    uint64_t number)
{
    Dwarf_Off unit = 0;
    Dwarf_Error error = NULL;
    if (!dwarf_ok(reader, source, dwarf_CU_dieoffset_given_die(die, &unit, &error), &error))
        return DEBUG_NONE;
    uint32_t table = idmap_get(&source->units, unit, 0);
    if (table == IDMAP_NONE || number >= reader->file_tables.at[table].ids.n)
        return DEBUG_NONE;
    return reader->file_tables.at[table].ids.at[number];
}

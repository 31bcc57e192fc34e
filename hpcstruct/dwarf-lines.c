#include "hpcstruct/dwarf-internal.h"

#include "lib/path.h"

#include <stdlib.h>
#include <string.h>

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

/* Counts a unit by the options that gcc records in its name, "GNU C17 12.2.0 -mtune=generic -g
 * -O2"; other compilers do not say them unless they are asked to. */
static void count_optimization(struct dwarf_reader *reader, const struct dwarf_source *source,
                               Dwarf_Die unit)
{
    const char *producer = dwarf_string(reader, source, unit, DW_AT_producer);
    if (!producer || strncmp(producer, "GNU ", 4) != 0 || strncmp(producer, "GNU AS", 6) == 0 ||
        !strstr(producer, " -m"))
        return;
    bool is_optimized = false;
    for (const char *at = strstr(producer, " -O"); at; at = strstr(at + 1, " -O"))
        is_optimized = at[3] != '0';
    reader->info->n_units++;
    reader->info->n_unoptimized += !is_optimized;
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
    count_optimization(reader, source, unit);
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

/* Reads line tables of DWARF 2 to 5 (.debug_line): the file names of a unit, and its rows.
 *
 * Does not use libdwarf, because its release 20210528 starts the file register at 0 in DWARF 5,
 * where the standard (6.2.2) says 1: rows would name the wrong file. */
#ifndef HPCSTRUCT_LINE_TABLE_H
#define HPCSTRUCT_LINE_TABLE_H

#include "hpcstruct/dwarf/debug-info.h"

/* Contents of the sections; empty if the file lacks one. */
struct line_sections {
    struct elf_bytes lines, line_strings, strings;
};

/* Maps the file numbers of a unit to those of debug_info.files, or to DEBUG_NONE. */
struct file_table {
    VEC(uint32_t) ids;
};

/* Reads the table at an offset of the section. `directory` is the working directory of the
 * compiler. Adds the rows to `info` unless `image`, the binary with the code, is NULL. False if the
 * table is damaged; everything before the damage is used. */
bool line_table_read(const struct line_sections *sections, uint64_t offset, const char *directory,
                     struct debug_info *info, const struct elf_image *image,
                     struct file_table *files);

/* Reads the rows of all tables of the section, if the units that they belong to are unknown. */
void line_tables_read_all(const struct line_sections *sections, struct debug_info *info,
                          const struct elf_image *image);

#endif

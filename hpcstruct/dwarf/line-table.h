/* Line tables of DWARF 2 to 5 (.debug_line): the file names of a unit, and its rows.
 *
 * A reader of our own, because libdwarf 20210528 starts the rows of DWARF 5 with file 0 where the
 * standard (6.2.2) says 1: rows would name another file. */
#ifndef HPCSTRUCT_LINE_TABLE_H
#define HPCSTRUCT_LINE_TABLE_H

#include "hpcstruct/dwarf/debug-info.h"

/* The sections; none where a file lacks one. */
struct line_sections {
    struct elf_bytes lines, line_strings, strings;
};

/* Numbers of files as a unit counts them -> in debug_info.files, or DEBUG_NONE. */
struct file_table {
    VEC(uint32_t) ids;
};

/* Reads the table at an offset of the section. `directory` is that of the compilation. Adds rows to
 * `info` unless `image`, the binary with the code, is NULL. False when the table is damaged; what
 * came before the damage is used. */
bool line_table_read(const struct line_sections *sections, uint64_t offset, const char *directory,
                     struct debug_info *info, const struct elf_image *image,
                     struct file_table *files);

/* Reads the rows of all tables of the section, for when nothing is known of the units. */
void line_tables_read_all(const struct line_sections *sections, struct debug_info *info,
                          const struct elf_image *image);

#endif

/* A file with DWARF 2 to 5, or one unit of a .dwo or .dwp file: its sections, units and
 * abbreviations. Does not change after it is opened, so that several threads can read it. */
#ifndef HPCSTRUCT_DWARF_SOURCE_H
#define HPCSTRUCT_DWARF_SOURCE_H

#include "hpcstruct/dwarf/abbreviations.h"
#include "hpcstruct/dwarf/line-table.h"
#include "hpcstruct/dwarf/range-list.h"
#include "hpcstruct/dwarf/split-units.h"

struct dwarf_unit {
    struct unit_head head;
    const struct abbreviation_table *abbreviations;
    const struct file_table *files; /* NULL: unknown */
};

struct dwarf_source {
    uint32_t number; /* tells sources apart */
    struct unit_sections sections;
    struct line_sections line_sections;
    struct elf_bytes range_lists;     /* .debug_rnglists (DWARF 5) */
    struct elf_bytes old_range_lists; /* .debug_ranges (up to DWARF 4) */
    const struct dwarf_source
        *supplement;              /* has the entries that dwz moved out of this file; NULL: none */
    VEC(struct dwarf_unit) units; /* sorted by head.begin */
    VEC(struct abbreviation_table) tables; /* sorted by offset */
};

/* Opens the DWARF of a file; a supplement, if any, before the file that refers to it. Sets *problem,
 * unless it is set, to the first section that cannot be read; the caller frees it. */
void dwarf_source_open(struct dwarf_source *source, const struct elf_image *image,
                       const struct dwarf_source *supplement, unsigned workers, char **problem);

/* Opens one unit of a .dwo or .dwp file. `linked` has the rest of its debug information. */
void dwarf_source_open_split(struct dwarf_source *source, const struct split_unit *split,
                             const struct split_sections *sections,
                             const struct dwarf_source *linked);

void dwarf_source_close(struct dwarf_source *source);

/* The unit that contains an offset of .debug_info, or NULL. */
const struct dwarf_unit *dwarf_source_unit_at(const struct dwarf_source *source, uint64_t offset);

#endif

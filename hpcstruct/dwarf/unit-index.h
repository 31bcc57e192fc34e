/* The index of a .dwp file (.debug_cu_index): which parts of its sections belong to a unit. */
#ifndef HPCSTRUCT_UNIT_INDEX_H
#define HPCSTRUCT_UNIT_INDEX_H

#include "hpcstruct/elf/elf-image.h"

/* A part of a section; empty if the unit has none. */
struct section_part {
    uint64_t offset, size;
};

/* The parts of a unit, by the sections that we read. */
struct unit_parts {
    struct section_part info, abbreviations, string_offsets, range_lists;
};

/* Finds the unit with an id. False if the index does not list it or is damaged. Version 2 (GNU's
 * extension of DWARF 4) and 5. */
bool unit_index_find(struct elf_bytes index, uint64_t id, struct unit_parts *parts);

#endif

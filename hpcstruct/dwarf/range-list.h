/* Lists of address ranges, read without libdwarf: release 20210528 does not find those of split
 * DWARF. */
#ifndef HPCSTRUCT_RANGE_LIST_H
#define HPCSTRUCT_RANGE_LIST_H

#include "hpcstruct/elf/elf-image.h"

struct address_range {
    uint64_t begin, end;
};

struct address_ranges {
    VEC(struct address_range) all;
};

struct range_lists {
    struct elf_bytes lists;     /* .debug_rnglists or, up to DWARF 4, .debug_ranges */
    struct elf_bytes addresses; /* .debug_addr */
    uint64_t address_base;      /* offset of the unit's part of `addresses` */
    uint64_t base;              /* first address of the unit */
};

/* Adds a range, unless it is empty. */
void address_ranges_add(struct address_ranges *ranges, uint64_t begin, uint64_t end);

/* Adds the ranges of a list of DWARF 5 at an offset. False if it is damaged; the ranges before the
 * damage are added. */
bool range_list_read(const struct range_lists *from, uint64_t offset,
                     struct address_ranges *ranges);

/* The same for the list with an index in the table at the start of `lists`. */
bool range_list_read_indexed(const struct range_lists *from, uint64_t index,
                             struct address_ranges *ranges);

/* The same for a list of DWARF 3 or 4. */
bool old_range_list_read(const struct range_lists *from, uint64_t offset,
                         struct address_ranges *ranges);

#endif

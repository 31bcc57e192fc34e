/* Lists of address ranges (.debug_rnglists, .debug_ranges). */
#ifndef HPCSTRUCT_RANGE_LIST_H
#define HPCSTRUCT_RANGE_LIST_H

#include "hpcstruct/elf/elf-image.h"

struct address_range {
    uint64_t begin, end;
};

struct address_ranges {
    VEC(struct address_range) all;
    /* Number of list entries that may still be read. In a damaged file, many entries of functions
     * could refer to one long list. */
    uint64_t list_entries_left;
};

struct range_lists {
    struct elf_bytes lists;     /* .debug_rnglists or, up to DWARF 4, .debug_ranges */
    struct elf_bytes addresses; /* .debug_addr */
    uint64_t address_base;      /* offset of the unit's part of `addresses` */
    uint64_t table;             /* offset of the unit's table of lists in `lists` */
    uint64_t base;              /* first address of the unit */
};

/* Adds a range, unless it is empty. */
void address_ranges_add(struct address_ranges *ranges, uint64_t begin, uint64_t end);

/* Adds the ranges of a list of DWARF 5 at an offset. False if it is damaged, or longer than
 * ranges->list_entries_left; the ranges before that are added. */
bool range_list_read(const struct range_lists *from, uint64_t offset,
                     struct address_ranges *ranges);

/* The same for the list with an index in the unit's table. */
bool range_list_read_indexed(const struct range_lists *from, uint64_t index,
                             struct address_ranges *ranges);

/* The same for a list of DWARF 3 or 4. */
bool old_range_list_read(const struct range_lists *from, uint64_t offset,
                         struct address_ranges *ranges);

#endif

/* The units of .debug_info, and what their first entries say of split DWARF: which .dwo file has
 * the other entries, and which parts of the linked file these refer to.
 *
 * Does not use libdwarf: this runs in the main process, where damage must do no harm. */
#ifndef HPCSTRUCT_UNIT_HEAD_H
#define HPCSTRUCT_UNIT_HEAD_H

#include "hpcstruct/elf/elf-image.h"

/* Contents of the sections; empty if the file lacks one. */
struct unit_sections {
    struct elf_bytes info, abbreviations, strings, line_strings, string_offsets, addresses;
};

struct unit_head {
    uint64_t begin, end; /* offsets of the unit in .debug_info */
    uint64_t entry;      /* offset of its first entry */
    unsigned version;
    bool is_type; /* it describes a type, no code */
    bool has_id;
    uint64_t id;          /* the same in the linked file and in the .dwo file */
    const char *dwo_name; /* path of the .dwo file; NULL: the unit is not split */
    const char *directory; /* working directory of the compiler; NULL: unknown */
    uint64_t low;          /* first address, to which range lists are relative; 0: none */
    /* Offset of the unit's part of .debug_addr; of .debug_ranges (DWARF 4). */
    uint64_t address_base, ranges_base;
};

struct unit_heads {
    VEC(struct unit_head) all;
};

/* Reads the heads of all units up to the first one that is damaged. */
void unit_heads_read(const struct unit_sections *sections, struct unit_heads *heads);

/* The address with this index in a part of .debug_addr; false if there is none. */
bool address_by_index(struct elf_bytes addresses, uint64_t base, uint64_t index,
                      uint64_t *address);

/* The string with this index. `base` is the offset of the unit's part of `offsets`; "" if there is
 * none. */
const char *string_by_index(struct elf_bytes offsets, uint64_t base, struct elf_bytes strings,
                            uint64_t index);

#endif

/* The units of .debug_info, and what their first entries say: the line table, the compiler, and of
 * split DWARF which .dwo file has the other entries. */
#ifndef HPCSTRUCT_UNIT_HEAD_H
#define HPCSTRUCT_UNIT_HEAD_H

#include "hpcstruct/dwarf/attribute-value.h"

#define NO_LINE_TABLE UINT64_MAX

struct unit_head {
    uint64_t begin, end;    /* offsets of the unit in .debug_info */
    uint64_t entry;         /* offset of its first entry */
    uint64_t abbreviations; /* offset of its table in .debug_abbrev */
    unsigned version, offset_size, address_size;
    bool is_type; /* it describes a type, no code */
    bool has_id;
    uint64_t id;           /* the same in the linked file and in the .dwo file */
    const char *dwo_name;  /* path of the .dwo file; NULL: the unit is not split */
    const char *directory; /* working directory of the compiler; NULL: unknown */
    const char *producer;  /* name and options of the compiler; NULL: unknown */
    uint64_t language;     /* DW_LANG_...; 0: unknown */
    uint64_t lines;        /* offset of its line table in .debug_line, or NO_LINE_TABLE */
    uint64_t low;          /* first address, to which range lists are relative; 0: none */
    /* Offsets of the unit's part of .debug_addr, .debug_str_offsets, .debug_rnglists, and
     * .debug_ranges (split DWARF 4). */
    uint64_t address_base, string_base, lists_base, ranges_base;
};

struct unit_heads {
    VEC(struct unit_head) all;
};

/* Reads the heads of all units up to the first one that is damaged. */
void unit_heads_read(const struct unit_sections *sections, struct unit_heads *heads);

#endif

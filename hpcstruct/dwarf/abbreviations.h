/* Tables of .debug_abbrev: the tag and the attributes of the entries with a code. */
#ifndef HPCSTRUCT_ABBREVIATIONS_H
#define HPCSTRUCT_ABBREVIATIONS_H

#include "hpcstruct/dwarf/attribute-value.h"

#include "lib/hash-tables.h"

struct abbreviation_attribute {
    uint16_t name, form; /* UINT16_MAX: larger than any that we know */
};

struct abbreviation {
    uint64_t code;
    uint32_t first, count;   /* range of table.attributes */
    uint32_t first_constant; /* in table.constants */
    uint16_t tag;
    bool has_children;
    bool has_sibling; /* DW_AT_sibling */
    /* Size of the values: bytes + offsets * size of an offset + addresses * size of an address. */
    bool is_fixed; /* else it depends on the entry */
    uint16_t offsets, addresses;
    uint32_t bytes;
};

struct abbreviation_table {
    uint64_t offset; /* in .debug_abbrev */
    VEC(struct abbreviation) all;
    VEC(struct abbreviation_attribute) attributes;
    VEC(int64_t) constants; /* values of DW_FORM_implicit_const */
    struct idmap by_code;   /* code -> index in `all`, if codes are not 1, 2, 3, ... */
};

/* Reads the table at an offset of the section, up to `end` at most (the start of the next table). */
void abbreviation_table_read(struct abbreviation_table *table, struct elf_bytes section,
                             uint64_t offset, uint64_t end);

void abbreviation_table_free(struct abbreviation_table *table);

/* NULL: the table lacks this code. */
const struct abbreviation *abbreviation_find(const struct abbreviation_table *table, uint64_t code);

#endif

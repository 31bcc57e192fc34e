/* Values of attributes in .debug_info, by their form.
 *
 * Our own code reads entries, not libdwarf: release 20210528 frees memory twice and loops forever on
 * damaged files, serves one thread, and takes several times as long. */
#ifndef HPCSTRUCT_ATTRIBUTE_VALUE_H
#define HPCSTRUCT_ATTRIBUTE_VALUE_H

#include "hpcstruct/elf/byte-reader.h"

/* Contents of the sections; empty if the file lacks one. */
struct unit_sections {
    struct elf_bytes info, abbreviations, strings, line_strings, string_offsets, addresses;
    struct elf_bytes supplement_strings; /* of the file with the parts that dwz moved */
};

struct attribute_value {
    enum {
        VALUE_OTHER,
        VALUE_NUMBER,
        VALUE_TEXT,
        VALUE_TEXT_INDEX,
        VALUE_ADDRESS,
        VALUE_ADDRESS_INDEX,
        VALUE_LIST_INDEX,     /* of a list of address ranges */
        VALUE_UNIT_REFERENCE, /* an offset from the start of the unit */
        VALUE_FILE_REFERENCE, /* an offset in .debug_info */
        VALUE_SUPPLEMENT_REFERENCE,
    } kind;
    uint64_t number;  /* or the index, address or offset */
    const char *text; /* VALUE_TEXT */
};

/* Reads the entries of one unit. */
struct entry_reader {
    const struct unit_sections *sections;
    struct byte_reader bytes; /* up to the end of the unit */
    unsigned version, offset_size, address_size;
};

/* Reads the value of an attribute with this form, which is not DW_FORM_implicit_const. An unknown
 * form sets bytes.failed: its size is unknown, too. */
struct attribute_value attribute_value_read(struct entry_reader *r, uint64_t form);

/* The size of the values of a form, if all have the same: in bytes, or one of these. */
enum { SIZE_OF_OFFSET = 0x100, SIZE_OF_ADDRESS, SIZE_VARIES };
unsigned attribute_form_size(uint64_t form);

/* The address with this index in a part of .debug_addr; false if there is none. */
bool address_by_index(struct elf_bytes addresses, uint64_t base, uint64_t index, uint64_t *address);

/* The string with this index. `base` is the offset of the unit's part of `offsets`; "" if there is
 * none. */
const char *string_by_index(struct elf_bytes offsets, uint64_t base, struct elf_bytes strings,
                            uint64_t index);

#endif

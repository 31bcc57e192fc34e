#include "hpcstruct/dwarf/attribute-value.h"

#include <libdwarf/dwarf.h>

/* ---- indices ---- */

bool address_by_index(struct elf_bytes addresses, uint64_t base, uint64_t index, uint64_t *address)
{
    const unsigned size = 8;
    if (index > addresses.size / size || base > addresses.size)
        return false;
    struct byte_reader reader = {.bytes = addresses, .at = base + index * size};
    *address = read_uint(&reader, size);
    return !reader.failed;
}

const char *string_by_index(struct elf_bytes offsets, uint64_t base, struct elf_bytes strings,
                            uint64_t index)
{
    const unsigned size = 4;
    if (index > offsets.size / size || base > offsets.size)
        return "";
    struct byte_reader reader = {.bytes = offsets, .at = base + index * size};
    uint64_t offset = read_uint(&reader, size);
    return reader.failed ? "" : elf_string(strings, offset);
}

/* ---- sizes ---- */

unsigned attribute_form_size(uint64_t form)
{
    switch (form) {
    case DW_FORM_flag_present: return 0;
    case DW_FORM_flag:
    case DW_FORM_data1:
    case DW_FORM_ref1:
    case DW_FORM_strx1:
    case DW_FORM_addrx1: return 1;
    case DW_FORM_data2:
    case DW_FORM_ref2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2: return 2;
    case DW_FORM_strx3:
    case DW_FORM_addrx3: return 3;
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_ref_sup4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4: return 4;
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sup8:
    case DW_FORM_ref_sig8: return 8;
    case DW_FORM_data16: return 16;
    case DW_FORM_addr: return SIZE_OF_ADDRESS;
    case DW_FORM_sec_offset:
    case DW_FORM_strp:
    case DW_FORM_line_strp:
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_strp_alt:
    case DW_FORM_GNU_ref_alt: return SIZE_OF_OFFSET;
    }
    return SIZE_VARIES;
}

/* ---- values ---- */

static struct attribute_value other(void)
{
    return (struct attribute_value){.kind = VALUE_OTHER};
}

static struct attribute_value number_of(uint64_t number)
{
    return (struct attribute_value){.kind = VALUE_NUMBER, .number = number};
}

static struct attribute_value skip_block(struct entry_reader *r, uint64_t size)
{
    skip_bytes(&r->bytes, size);
    return other();
}

static struct attribute_value text_at(struct entry_reader *r, struct elf_bytes strings)
{
    uint64_t offset = read_uint(&r->bytes, r->offset_size);
    return (struct attribute_value){.kind = VALUE_TEXT, .text = elf_string(strings, offset)};
}

static struct attribute_value text_index(uint64_t index)
{
    return (struct attribute_value){.kind = VALUE_TEXT_INDEX, .number = index};
}

static struct attribute_value address_index(uint64_t index)
{
    return (struct attribute_value){.kind = VALUE_ADDRESS_INDEX, .number = index};
}

static struct attribute_value in_unit(uint64_t offset)
{
    return (struct attribute_value){.kind = VALUE_UNIT_REFERENCE, .number = offset};
}

static struct attribute_value in_supplement(uint64_t offset)
{
    return (struct attribute_value){.kind = VALUE_SUPPLEMENT_REFERENCE, .number = offset};
}

/* The values whose size depends on the unit. */
static struct attribute_value read_sized_by_unit(struct entry_reader *r, uint64_t form)
{
    struct byte_reader *c = &r->bytes;
    switch (form) {
    case DW_FORM_addr:
        return (struct attribute_value){.kind = VALUE_ADDRESS,
                                        .number = read_uint(c, r->address_size)};
    case DW_FORM_sec_offset: return number_of(read_uint(c, r->offset_size));
    case DW_FORM_strp: return text_at(r, r->sections->strings);
    case DW_FORM_line_strp: return text_at(r, r->sections->line_strings);
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_strp_alt: return text_at(r, r->sections->supplement_strings);
    case DW_FORM_GNU_ref_alt: return in_supplement(read_uint(c, r->offset_size));
    case DW_FORM_ref_addr: {
        unsigned size = r->version <= 2 ? r->address_size : r->offset_size;
        return (struct attribute_value){.kind = VALUE_FILE_REFERENCE, .number = read_uint(c, size)};
    }
    }
    c->failed = true;
    return other();
}

/* The values whose size depends on their contents. */
static struct attribute_value read_sized_by_contents(struct entry_reader *r, uint64_t form)
{
    struct byte_reader *c = &r->bytes;
    switch (form) {
    case DW_FORM_string:
        return (struct attribute_value){.kind = VALUE_TEXT, .text = read_cstring(c)};
    case DW_FORM_udata:
    case DW_FORM_loclistx: return number_of(read_uleb128(c));
    case DW_FORM_sdata: return number_of((uint64_t)read_sleb128(c));
    case DW_FORM_ref_udata: return in_unit(read_uleb128(c));
    case DW_FORM_rnglistx:
        return (struct attribute_value){.kind = VALUE_LIST_INDEX, .number = read_uleb128(c)};
    case DW_FORM_strx:
    case DW_FORM_GNU_str_index: return text_index(read_uleb128(c));
    case DW_FORM_addrx:
    case DW_FORM_GNU_addr_index: return address_index(read_uleb128(c));
    case DW_FORM_block:
    case DW_FORM_exprloc: return skip_block(r, read_uleb128(c));
    case DW_FORM_block1: return skip_block(r, read_uint(c, 1));
    case DW_FORM_block2: return skip_block(r, read_uint(c, 2));
    case DW_FORM_block4: return skip_block(r, read_uint(c, 4));
    }
    return read_sized_by_unit(r, form);
}

struct attribute_value attribute_value_read(struct entry_reader *r, uint64_t form)
{
    unsigned size = attribute_form_size(form);
    if (size > 16)
        return read_sized_by_contents(r, form);
    switch (form) {
    case DW_FORM_flag_present: return number_of(1);
    case DW_FORM_data16:
    case DW_FORM_ref_sig8: return skip_block(r, size); /* ref_sig8: a type, never a function */
    }
    uint64_t value = read_uint(&r->bytes, size);
    switch (form) {
    case DW_FORM_ref1:
    case DW_FORM_ref2:
    case DW_FORM_ref4:
    case DW_FORM_ref8: return in_unit(value);
    case DW_FORM_ref_sup4:
    case DW_FORM_ref_sup8: return in_supplement(value);
    case DW_FORM_strx1:
    case DW_FORM_strx2:
    case DW_FORM_strx3:
    case DW_FORM_strx4: return text_index(value);
    case DW_FORM_addrx1:
    case DW_FORM_addrx2:
    case DW_FORM_addrx3:
    case DW_FORM_addrx4: return address_index(value);
    }
    return number_of(value);
}

#include "hpcstruct/dwarf/unit-head.h"

#include "hpcstruct/elf/byte-reader.h"

#include <libdwarf/dwarf.h>
#include <stdlib.h>

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

/* ---- attribute values ---- */

/* An attribute of the first entry. */
struct value {
    enum { OTHER, NUMBER, TEXT, TEXT_INDEX, ADDRESS_INDEX } kind;
    uint64_t number;  /* or the index */
    const char *text; /* TEXT */
};

struct head_reader {
    const struct unit_sections *sections;
    struct byte_reader entry; /* of the unit */
    unsigned version, offset_size, address_size;
};

static struct value number_of_size(struct head_reader *r, unsigned size)
{
    return (struct value){.kind = NUMBER, .number = read_uint(&r->entry, size)};
}

static struct value skip_block(struct head_reader *r, uint64_t size)
{
    skip_bytes(&r->entry, size);
    return (struct value){.kind = OTHER};
}

static struct value text_at(struct head_reader *r, struct elf_bytes strings)
{
    uint64_t offset = read_uint(&r->entry, r->offset_size);
    return (struct value){.kind = TEXT, .text = elf_string(strings, offset)};
}

static struct value text_index(uint64_t index)
{
    return (struct value){.kind = TEXT_INDEX, .number = index};
}

static struct value address_index(uint64_t index)
{
    return (struct value){.kind = ADDRESS_INDEX, .number = index};
}

/* The values whose size depends on their contents or on the unit. */
static struct value read_other_form(struct head_reader *r, uint64_t form)
{
    struct byte_reader *c = &r->entry;
    switch (form) {
    case DW_FORM_addr: return number_of_size(r, r->address_size);
    case DW_FORM_sec_offset:
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_GNU_strp_alt: return number_of_size(r, r->offset_size);
    case DW_FORM_ref_addr:
        return number_of_size(r, r->version <= 2 ? r->address_size : r->offset_size);
    case DW_FORM_strp: return text_at(r, r->sections->strings);
    case DW_FORM_line_strp: return text_at(r, r->sections->line_strings);
    case DW_FORM_string: return (struct value){.kind = TEXT, .text = read_cstring(c)};
    case DW_FORM_udata:
    case DW_FORM_sdata: /* as a number never used */
    case DW_FORM_ref_udata:
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx: return (struct value){.kind = NUMBER, .number = read_uleb128(c)};
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
    c->failed = true;
    return (struct value){.kind = OTHER};
}

static struct value read_form(struct head_reader *r, uint64_t form)
{
    struct byte_reader *c = &r->entry;
    switch (form) {
    case DW_FORM_flag_present: return (struct value){.kind = NUMBER, .number = 1};
    case DW_FORM_flag:
    case DW_FORM_data1:
    case DW_FORM_ref1: return number_of_size(r, 1);
    case DW_FORM_data2:
    case DW_FORM_ref2: return number_of_size(r, 2);
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_ref_sup4: return number_of_size(r, 4);
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sup8:
    case DW_FORM_ref_sig8: return number_of_size(r, 8);
    case DW_FORM_data16: return skip_block(r, 16);
    case DW_FORM_strx1: return text_index(read_uint(c, 1));
    case DW_FORM_strx2: return text_index(read_uint(c, 2));
    case DW_FORM_strx3: return text_index(read_uint(c, 3));
    case DW_FORM_strx4: return text_index(read_uint(c, 4));
    case DW_FORM_addrx1: return address_index(read_uint(c, 1));
    case DW_FORM_addrx2: return address_index(read_uint(c, 2));
    case DW_FORM_addrx3: return address_index(read_uint(c, 3));
    case DW_FORM_addrx4: return address_index(read_uint(c, 4));
    }
    return read_other_form(r, form);
}

/* ---- the first entry ---- */

/* The attributes that we need. */
struct wanted {
    struct value dwo_name, directory, low, address_base, ranges_base, string_base, id;
};

static void keep_value(struct wanted *wanted, uint64_t attribute, struct value value)
{
    switch (attribute) {
    case DW_AT_dwo_name:
    case DW_AT_GNU_dwo_name: wanted->dwo_name = value; break;
    case DW_AT_comp_dir: wanted->directory = value; break;
    case DW_AT_low_pc: wanted->low = value; break;
    case DW_AT_addr_base:
    case DW_AT_GNU_addr_base: wanted->address_base = value; break;
    case DW_AT_GNU_ranges_base: wanted->ranges_base = value; break;
    case DW_AT_str_offsets_base: wanted->string_base = value; break;
    case DW_AT_GNU_dwo_id: wanted->id = value; break;
    }
}

/* Reads the description of an attribute; false at the end of the list. */
static bool next_attribute(struct byte_reader *abbreviations, uint64_t *attribute, uint64_t *form)
{
    *attribute = read_uleb128(abbreviations);
    *form = read_uleb128(abbreviations);
    if (*form == DW_FORM_implicit_const)
        read_sleb128(abbreviations);
    return !abbreviations->failed && (*attribute || *form);
}

/* Moves to the attributes of the abbreviation with this code. */
static bool find_abbreviation(struct byte_reader *abbreviations, uint64_t code)
{
    while (has_more_bytes(abbreviations)) {
        uint64_t found = read_uleb128(abbreviations), attribute, form;
        if (found == 0)
            return false;
        read_uleb128(abbreviations); /* tag */
        read_uint(abbreviations, 1); /* whether it has children */
        if (found == code)
            return !abbreviations->failed;
        while (next_attribute(abbreviations, &attribute, &form))
            ;
    }
    return false;
}

static struct wanted read_entry(struct head_reader *r, uint64_t abbreviations_at)
{
    struct wanted wanted = {0};
    struct byte_reader c = {.bytes = r->sections->abbreviations, .at = abbreviations_at};
    uint64_t code = read_uleb128(&r->entry), attribute, form;
    if (code == 0 || abbreviations_at >= c.bytes.size || !find_abbreviation(&c, code))
        return wanted;
    while (!r->entry.failed && next_attribute(&c, &attribute, &form)) {
        struct value value = {.kind = OTHER};
        if (form == DW_FORM_indirect)
            form = read_uleb128(&r->entry);
        if (form != DW_FORM_implicit_const)
            value = read_form(r, form);
        if (!r->entry.failed)
            keep_value(&wanted, attribute, value);
    }
    return wanted;
}

/* The text of an attribute, or NULL. */
static const char *text_of(const struct head_reader *r, const struct wanted *wanted,
                           struct value value)
{
    const char *text = value.text;
    if (value.kind == TEXT_INDEX)
        text = string_by_index(r->sections->string_offsets, wanted->string_base.number,
                               r->sections->strings, value.number);
    else if (value.kind != TEXT)
        return NULL;
    return text[0] ? text : NULL;
}

static void fill_head(struct unit_head *head, const struct head_reader *r,
                      const struct wanted *wanted)
{
    head->dwo_name = text_of(r, wanted, wanted->dwo_name);
    head->directory = text_of(r, wanted, wanted->directory);
    head->address_base = wanted->address_base.number;
    head->ranges_base = wanted->ranges_base.number;
    if (wanted->low.kind == NUMBER)
        head->low = wanted->low.number;
    else if (wanted->low.kind == ADDRESS_INDEX)
        address_by_index(r->sections->addresses, head->address_base, wanted->low.number,
                         &head->low);
    if (wanted->id.kind == NUMBER) {
        head->has_id = true;
        head->id = wanted->id.number;
    }
}

/* ---- units ---- */

/* Reads the head of the unit at `c`, which then is at the next one. */
static bool read_head(const struct unit_sections *sections, struct byte_reader *c,
                      struct unit_head *head)
{
    struct head_reader r = {.sections = sections, .offset_size = 4};
    *head = (struct unit_head){.begin = c->at};
    uint64_t length = read_uint(c, 4), abbreviations_at;
    if (length == UINT32_MAX) {
        length = read_uint(c, 8);
        r.offset_size = 8;
    }
    r.entry = sub_reader(c, length);
    head->end = c->at;
    head->version = r.version = (unsigned)read_uint(&r.entry, 2);
    if (r.version >= 5) {
        unsigned type = (unsigned)read_uint(&r.entry, 1);
        r.address_size = (unsigned)read_uint(&r.entry, 1);
        abbreviations_at = read_uint(&r.entry, r.offset_size);
        head->is_type = type == DW_UT_type || type == DW_UT_split_type;
        head->has_id = type == DW_UT_skeleton || type == DW_UT_split_compile;
        if (head->has_id || head->is_type)
            head->id = read_uint(&r.entry, 8);
        if (head->is_type)
            read_uint(&r.entry, r.offset_size); /* offset of the type */
    } else {
        abbreviations_at = read_uint(&r.entry, r.offset_size);
        r.address_size = (unsigned)read_uint(&r.entry, 1);
    }
    if (r.entry.failed || r.version < 2 || r.version > 5 || r.address_size > 8)
        return false;
    head->entry = r.entry.at;
    const struct wanted wanted = read_entry(&r, abbreviations_at);
    fill_head(head, &r, &wanted);
    return true;
}

void unit_heads_read(const struct unit_sections *sections, struct unit_heads *heads)
{
    struct byte_reader c = {.bytes = sections->info};
    struct unit_head head;
    while (has_more_bytes(&c) && read_head(sections, &c, &head))
        vec_push(&heads->all, head);
}

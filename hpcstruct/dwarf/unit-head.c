#include "hpcstruct/dwarf/unit-head.h"

#include <libdwarf/dwarf.h>
#include <stdlib.h>

/* Sizes of the headers before the parts of a unit, which its first entry need not name if they are
 * the only ones in a .dwo file (DWARF 5, 7.26 and 7.28). */
#define STRING_OFFSETS_HEADER 8
#define RANGE_LISTS_HEADER    12

/* ---- the first entry ---- */

/* The attributes that we need. */
struct wanted {
    struct attribute_value dwo_name, directory, producer, language, lines, low, id;
    struct attribute_value address_base, string_base, lists_base, ranges_base;
};

static void keep_value(struct wanted *wanted, uint64_t attribute, struct attribute_value value)
{
    switch (attribute) {
    case DW_AT_dwo_name:
    case DW_AT_GNU_dwo_name: wanted->dwo_name = value; break;
    case DW_AT_comp_dir: wanted->directory = value; break;
    case DW_AT_producer: wanted->producer = value; break;
    case DW_AT_language: wanted->language = value; break;
    case DW_AT_stmt_list: wanted->lines = value; break;
    case DW_AT_low_pc: wanted->low = value; break;
    case DW_AT_addr_base:
    case DW_AT_GNU_addr_base: wanted->address_base = value; break;
    case DW_AT_GNU_ranges_base: wanted->ranges_base = value; break;
    case DW_AT_rnglists_base: wanted->lists_base = value; break;
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

static struct wanted read_entry(struct entry_reader *r, uint64_t abbreviations_at)
{
    struct wanted wanted = {0};
    struct byte_reader c = {.bytes = r->sections->abbreviations, .at = abbreviations_at};
    uint64_t code = read_uleb128(&r->bytes), attribute, form;
    if (code == 0 || abbreviations_at >= c.bytes.size || !find_abbreviation(&c, code))
        return wanted;
    while (!r->bytes.failed && next_attribute(&c, &attribute, &form)) {
        struct attribute_value value = {.kind = VALUE_OTHER};
        if (form == DW_FORM_indirect)
            form = read_uleb128(&r->bytes);
        if (form != DW_FORM_implicit_const)
            value = attribute_value_read(r, form);
        if (!r->bytes.failed)
            keep_value(&wanted, attribute, value);
    }
    return wanted;
}

/* The text of an attribute, or NULL. */
static const char *text_of(const struct entry_reader *r, const struct unit_head *head,
                           struct attribute_value value)
{
    const char *text = value.text;
    if (value.kind == VALUE_TEXT_INDEX)
        text = string_by_index(r->sections->string_offsets, head->string_base, r->sections->strings,
                               value.number);
    else if (value.kind != VALUE_TEXT)
        return NULL;
    return text[0] ? text : NULL;
}

static uint64_t number_or(struct attribute_value value, uint64_t otherwise)
{
    return value.kind == VALUE_NUMBER ? value.number : otherwise;
}

static void fill_head(struct unit_head *head, const struct entry_reader *r,
                      const struct wanted *wanted)
{
    bool is_new = head->version >= 5;
    head->address_base = number_or(wanted->address_base, 0);
    head->string_base = number_or(wanted->string_base, is_new ? STRING_OFFSETS_HEADER : 0);
    head->lists_base = number_or(wanted->lists_base, RANGE_LISTS_HEADER);
    head->ranges_base = number_or(wanted->ranges_base, 0);
    head->lines = number_or(wanted->lines, NO_LINE_TABLE);
    head->language = number_or(wanted->language, 0);
    head->dwo_name = text_of(r, head, wanted->dwo_name);
    head->directory = text_of(r, head, wanted->directory);
    head->producer = text_of(r, head, wanted->producer);
    if (wanted->low.kind == VALUE_ADDRESS)
        head->low = wanted->low.number;
    else if (wanted->low.kind == VALUE_ADDRESS_INDEX)
        address_by_index(r->sections->addresses, head->address_base, wanted->low.number,
                         &head->low);
    if (wanted->id.kind == VALUE_NUMBER) {
        head->has_id = true;
        head->id = wanted->id.number;
    }
}

/* ---- units ---- */

/* Reads the head of the unit at `c`, which then is at the next one. */
static bool read_head(const struct unit_sections *sections, struct byte_reader *c,
                      struct unit_head *head)
{
    struct entry_reader r = {.sections = sections, .offset_size = 4};
    *head = (struct unit_head){.begin = c->at};
    uint64_t length = read_uint(c, 4);
    if (length == UINT32_MAX) {
        length = read_uint(c, 8);
        r.offset_size = 8;
    }
    r.bytes = sub_reader(c, length);
    head->end = c->at;
    r.version = (unsigned)read_uint(&r.bytes, 2);
    if (r.version >= 5) {
        unsigned type = (unsigned)read_uint(&r.bytes, 1);
        r.address_size = (unsigned)read_uint(&r.bytes, 1);
        head->abbreviations = read_uint(&r.bytes, r.offset_size);
        head->is_type = type == DW_UT_type || type == DW_UT_split_type;
        head->has_id = type == DW_UT_skeleton || type == DW_UT_split_compile;
        if (head->has_id || head->is_type)
            head->id = read_uint(&r.bytes, 8);
        if (head->is_type)
            read_uint(&r.bytes, r.offset_size); /* offset of the type */
    } else {
        head->abbreviations = read_uint(&r.bytes, r.offset_size);
        r.address_size = (unsigned)read_uint(&r.bytes, 1);
    }
    if (r.bytes.failed || r.version < 2 || r.version > 5 || r.address_size > 8)
        return false;
    head->version = r.version;
    head->offset_size = r.offset_size;
    head->address_size = r.address_size;
    head->entry = r.bytes.at;
    const struct wanted wanted = read_entry(&r, head->abbreviations);
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

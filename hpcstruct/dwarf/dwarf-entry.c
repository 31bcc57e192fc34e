#include "hpcstruct/dwarf/dwarf-entry.h"

#include <libdwarf/dwarf.h>

/* ---- reading ---- */

struct entry_reader entry_reader_at(const struct dwarf_source *source,
                                    const struct dwarf_unit *unit, uint64_t offset)
{
    return (struct entry_reader){
        .sections = &source->sections,
        .bytes = {.bytes = {source->sections.info.at, unit->head.end}, .at = offset},
        .version = unit->head.version,
        .offset_size = unit->head.offset_size,
        .address_size = unit->head.address_size,
    };
}

bool entry_begin(struct entry_reader *r, const struct dwarf_unit *unit, struct dwarf_entry *entry)
{
    if (!has_more_bytes(&r->bytes))
        return false;
    entry->offset = r->bytes.at;
    entry->abbreviation = NULL;
    uint64_t code = read_uleb128(&r->bytes);
    if (code == 0)
        return !r->bytes.failed;
    entry->abbreviation = abbreviation_find(unit->abbreviations, code);
    r->bytes.failed |= !entry->abbreviation;
    return !r->bytes.failed;
}

/* The place of an attribute in dwarf_entry.values; ENTRY_ATTRIBUTES: not wanted. */
static enum entry_attribute place_of(unsigned name)
{
    switch (name) {
    case DW_AT_name: return ENTRY_NAME;
    case DW_AT_linkage_name:
    case DW_AT_MIPS_linkage_name: return ENTRY_LINKAGE_NAME;
    case DW_AT_decl_file: return ENTRY_DECL_FILE;
    case DW_AT_decl_line: return ENTRY_DECL_LINE;
    case DW_AT_low_pc: return ENTRY_LOW_PC;
    case DW_AT_high_pc: return ENTRY_HIGH_PC;
    case DW_AT_ranges: return ENTRY_RANGES;
    case DW_AT_abstract_origin: return ENTRY_ABSTRACT_ORIGIN;
    case DW_AT_specification: return ENTRY_SPECIFICATION;
    case DW_AT_call_file: return ENTRY_CALL_FILE;
    case DW_AT_call_line: return ENTRY_CALL_LINE;
    }
    return ENTRY_ATTRIBUTES;
}

/* The value of an attribute. `constant` is the next of the abbreviation's constants. */
static struct attribute_value read_attribute(struct entry_reader *r, const struct dwarf_unit *unit,
                                             unsigned form, uint32_t *constant)
{
    if (form == DW_FORM_implicit_const) {
        int64_t number = unit->abbreviations->constants.at[(*constant)++];
        return (struct attribute_value){.kind = VALUE_NUMBER, .number = (uint64_t)number};
    }
    return attribute_value_read(r, form == DW_FORM_indirect ? read_uleb128(&r->bytes) : form);
}

/* NULL, if the abbreviation has none. */
static const struct abbreviation_attribute *attributes_of(const struct dwarf_unit *unit,
                                                          const struct abbreviation *abbreviation)
{
    return abbreviation->count ? &unit->abbreviations->attributes.at[abbreviation->first] : NULL;
}

void entry_read(struct entry_reader *r, const struct dwarf_unit *unit, struct dwarf_entry *entry)
{
    const struct abbreviation *abbreviation = entry->abbreviation;
    const struct abbreviation_attribute *attribute = attributes_of(unit, abbreviation);
    uint32_t constant = abbreviation->first_constant;
    entry->present = 0;
    for (uint32_t i = 0; i < abbreviation->count && !r->bytes.failed; i++) {
        enum entry_attribute place = place_of(attribute[i].name);
        struct attribute_value value = read_attribute(r, unit, attribute[i].form, &constant);
        if (place == ENTRY_ATTRIBUTES || r->bytes.failed)
            continue;
        entry->values[place] = value;
        entry->present |= 1u << place;
    }
}

/* ---- skipping ---- */

/* Skips the attributes of an entry, and also its children if it says where its sibling is: true. */
static bool skip_to_sibling(struct entry_reader *r, const struct dwarf_unit *unit,
                            const struct abbreviation *abbreviation)
{
    const struct abbreviation_attribute *attribute = attributes_of(unit, abbreviation);
    uint32_t constant = abbreviation->first_constant;
    bool wants_sibling = abbreviation->has_children && abbreviation->has_sibling;
    if (abbreviation->is_fixed && !wants_sibling) {
        skip_bytes(&r->bytes, abbreviation->bytes +
                                  (uint64_t)abbreviation->offsets * r->offset_size +
                                  (uint64_t)abbreviation->addresses * r->address_size);
        return false;
    }
    for (uint32_t i = 0; i < abbreviation->count && !r->bytes.failed; i++) {
        struct attribute_value value = read_attribute(r, unit, attribute[i].form, &constant);
        if (!wants_sibling || attribute[i].name != DW_AT_sibling ||
            value.kind != VALUE_UNIT_REFERENCE)
            continue;
        uint64_t sibling = unit->head.begin + value.number;
        if (sibling > r->bytes.at && sibling <= r->bytes.bytes.size) {
            r->bytes.at = sibling;
            return true;
        }
    }
    return false;
}

/* Skips entries until `depth` lists of siblings have ended. */
static void skip_lists(struct entry_reader *r, const struct dwarf_unit *unit, uint64_t depth)
{
    struct dwarf_entry entry;
    while (depth > 0 && entry_begin(r, unit, &entry)) {
        if (!entry.abbreviation)
            depth--;
        else if (!skip_to_sibling(r, unit, entry.abbreviation) && entry.abbreviation->has_children)
            depth++;
    }
}

void entry_skip(struct entry_reader *r, const struct dwarf_unit *unit,
                const struct dwarf_entry *entry)
{
    if (!skip_to_sibling(r, unit, entry->abbreviation) && entry->abbreviation->has_children)
        skip_lists(r, unit, 1);
}

void entry_skip_siblings(struct entry_reader *r, const struct dwarf_unit *unit)
{
    skip_lists(r, unit, 1);
}

/* ---- attributes ---- */

static const struct attribute_value *value_of(const struct dwarf_entry *entry,
                                              enum entry_attribute attribute)
{
    return entry->present & 1u << attribute ? &entry->values[attribute] : NULL;
}

bool entry_number(const struct dwarf_entry *entry, enum entry_attribute attribute, uint64_t *number)
{
    const struct attribute_value *value = value_of(entry, attribute);
    if (!value || value->kind != VALUE_NUMBER)
        return false;
    *number = value->number;
    return true;
}

const char *entry_text(const struct dwarf_source *source, const struct dwarf_unit *unit,
                       const struct dwarf_entry *entry, enum entry_attribute attribute)
{
    const struct attribute_value *value = value_of(entry, attribute);
    if (value && value->kind == VALUE_TEXT)
        return value->text;
    if (value && value->kind == VALUE_TEXT_INDEX)
        return string_by_index(source->sections.string_offsets, unit->head.string_base,
                               source->sections.strings, value->number);
    return NULL;
}

bool entry_reference(const struct dwarf_source *source, const struct dwarf_unit *unit,
                     const struct dwarf_entry *entry, enum entry_attribute attribute,
                     uint64_t *offset, const struct dwarf_source **in)
{
    const struct attribute_value *value = value_of(entry, attribute);
    if (!value)
        return false;
    *in = source;
    *offset = value->number;
    switch (value->kind) {
    case VALUE_UNIT_REFERENCE: *offset += unit->head.begin; return true;
    case VALUE_FILE_REFERENCE: return true;
    case VALUE_SUPPLEMENT_REFERENCE: *in = source->supplement; return *in != NULL;
    default: return false;
    }
}

/* ---- address ranges ---- */

static bool address_of(const struct dwarf_source *source, const struct dwarf_unit *unit,
                       const struct attribute_value *value, uint64_t *address)
{
    if (value->kind == VALUE_ADDRESS_INDEX)
        return address_by_index(source->sections.addresses, unit->head.address_base, value->number,
                                address);
    *address = value->number;
    return value->kind == VALUE_ADDRESS;
}

static bool read_list(const struct dwarf_source *source, const struct dwarf_unit *unit,
                      const struct attribute_value *value, struct address_ranges *ranges)
{
    bool is_new = unit->head.version >= 5;
    const struct range_lists lists = {
        .lists = is_new ? source->range_lists : source->old_range_lists,
        .addresses = source->sections.addresses,
        .address_base = unit->head.address_base,
        .table = unit->head.lists_base,
        .base = unit->head.low,
    };
    if (value->kind == VALUE_LIST_INDEX)
        return range_list_read_indexed(&lists, value->number, ranges);
    if (value->kind != VALUE_NUMBER)
        return false;
    return is_new ? range_list_read(&lists, value->number, ranges)
                  : old_range_list_read(&lists, unit->head.ranges_base + value->number, ranges);
}

bool entry_ranges(const struct dwarf_source *source, const struct dwarf_unit *unit,
                  const struct dwarf_entry *entry, struct address_ranges *ranges)
{
    const struct attribute_value *list = value_of(entry, ENTRY_RANGES);
    const struct attribute_value *low = value_of(entry, ENTRY_LOW_PC);
    const struct attribute_value *high = value_of(entry, ENTRY_HIGH_PC);
    uint64_t begin, end;
    if (list)
        return read_list(source, unit, list, ranges);
    if (!low || !high || !address_of(source, unit, low, &begin))
        return true;
    if (high->kind == VALUE_NUMBER)
        address_ranges_add(ranges, begin, begin + high->number);
    else if (address_of(source, unit, high, &end))
        address_ranges_add(ranges, begin, end);
    return true;
}

#include "hpcstruct/dwarf/abbreviations.h"

#include <libdwarf/dwarf.h>
#include <stdlib.h>

static uint16_t bounded(uint64_t number)
{
    return number < UINT16_MAX ? (uint16_t)number : UINT16_MAX;
}

static void count_size(struct abbreviation *abbreviation, uint64_t form)
{
    unsigned size = form == DW_FORM_implicit_const ? 0 : attribute_form_size(form);
    bool is_full = abbreviation->offsets == UINT16_MAX || abbreviation->addresses == UINT16_MAX;
    if (size == SIZE_VARIES || is_full)
        abbreviation->is_fixed = false;
    else if (size == SIZE_OF_OFFSET)
        abbreviation->offsets++;
    else if (size == SIZE_OF_ADDRESS)
        abbreviation->addresses++;
    else
        abbreviation->bytes += size;
}

static void add_attribute(struct abbreviation_table *table, struct abbreviation *abbreviation,
                          uint64_t name, uint64_t form)
{
    vec_push(&table->attributes, (struct abbreviation_attribute){bounded(name), bounded(form)});
    abbreviation->count++;
    abbreviation->has_sibling |= name == DW_AT_sibling;
    count_size(abbreviation, form);
}

static void add_abbreviation(struct abbreviation_table *table,
                             const struct abbreviation *abbreviation)
{
    uint32_t index = (uint32_t)table->all.n;
    /* The first of several with one code counts. */
    if (abbreviation->code != index + 1 &&
        idmap_get(&table->by_code, abbreviation->code, 0) == IDMAP_NONE)
        idmap_put(&table->by_code, abbreviation->code, 0, index);
    vec_push(&table->all, *abbreviation);
}

void abbreviation_table_read(struct abbreviation_table *table, struct elf_bytes section,
                             uint64_t offset, uint64_t end)
{
    struct byte_reader c = {.bytes = {section.at, end < section.size ? end : section.size},
                            .at = offset};
    *table = (struct abbreviation_table){.offset = offset};
    while (has_more_bytes(&c)) {
        struct abbreviation abbreviation = {
            .code = read_uleb128(&c),
            .first = (uint32_t)table->attributes.n,
            .first_constant = (uint32_t)table->constants.n,
            .is_fixed = true,
        };
        if (abbreviation.code == 0)
            return;
        abbreviation.tag = bounded(read_uleb128(&c));
        abbreviation.has_children = read_uint(&c, 1) != 0;
        for (;;) {
            uint64_t name = read_uleb128(&c), form = read_uleb128(&c);
            if (c.failed || (name == 0 && form == 0))
                break;
            if (form == DW_FORM_implicit_const)
                vec_push(&table->constants, read_sleb128(&c));
            add_attribute(table, &abbreviation, name, form);
        }
        if (!c.failed)
            add_abbreviation(table, &abbreviation);
    }
}

void abbreviation_table_free(struct abbreviation_table *table)
{
    vec_free(&table->all);
    vec_free(&table->attributes);
    vec_free(&table->constants);
    idmap_free(&table->by_code);
}

const struct abbreviation *abbreviation_find(const struct abbreviation_table *table, uint64_t code)
{
    if (code - 1 < table->all.n && table->all.at[code - 1].code == code)
        return &table->all.at[code - 1];
    uint32_t index = idmap_get(&table->by_code, code, 0);
    return index == IDMAP_NONE ? NULL : &table->all.at[index];
}

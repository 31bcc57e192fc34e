#include "hpcstruct/dwarf-internal.h"

static void add(struct dwarf_ranges *ranges, uint64_t begin, uint64_t end)
{
    if (begin < end)
        vec_push(&ranges->all, (struct elf_code){.begin = begin, .end = end});
}

/* DWARF 3 and 4: .debug_ranges. */
static void read_old_list(struct dwarf_reader *reader, const struct dwarf_source *source,
                          Dwarf_Die die, uint64_t offset, uint64_t base,
                          struct dwarf_ranges *ranges)
{
    Dwarf_Ranges *list = NULL;
    Dwarf_Signed count = 0;
    Dwarf_Off real_offset = 0;
    Dwarf_Error error = NULL;
    if (!dwarf_ok(reader, source,
                  dwarf_get_ranges_b(source->debug, offset, die, &real_offset, &list, &count, NULL,
                                     &error),
                  &error))
        return;
    for (Dwarf_Signed i = 0; i < count && list[i].dwr_type != DW_RANGES_END; i++) {
        if (list[i].dwr_type == DW_RANGES_ADDRESS_SELECTION)
            base = list[i].dwr_addr2;
        else
            add(ranges, base + list[i].dwr_addr1, base + list[i].dwr_addr2);
    }
    dwarf_ranges_dealloc(source->debug, list, count);
}

/* DWARF 5: .debug_rnglists. */
static void read_new_list(struct dwarf_reader *reader, const struct dwarf_source *source,
                          Dwarf_Attribute attribute, Dwarf_Half form, uint64_t value,
                          struct dwarf_ranges *ranges)
{
    Dwarf_Rnglists_Head head = NULL;
    Dwarf_Unsigned count = 0, offset = 0;
    Dwarf_Error error = NULL;
    if (!dwarf_ok(
            reader, source,
            dwarf_rnglists_get_rle_head(attribute, form, value, &head, &count, &offset, &error),
            &error))
        return;
    for (Dwarf_Unsigned i = 0; i < count; i++) {
        unsigned length = 0, kind = 0;
        Dwarf_Unsigned raw1 = 0, raw2 = 0, begin = 0, end = 0;
        Dwarf_Bool no_address = 0;
        if (!dwarf_ok(reader, source,
                      dwarf_get_rnglists_entry_fields_a(head, i, &length, &kind, &raw1, &raw2,
                                                        &no_address, &begin, &end, &error),
                      &error) ||
            kind == DW_RLE_end_of_list)
            break;
        if (kind != DW_RLE_base_address && kind != DW_RLE_base_addressx && !no_address)
            add(ranges, begin, end);
    }
    dwarf_dealloc_rnglists_head(head);
}

static void read_list(struct dwarf_reader *reader, const struct dwarf_source *source, Dwarf_Die die,
                      Dwarf_Attribute attribute, uint64_t base, struct dwarf_ranges *ranges)
{
    Dwarf_Half form = 0, version = 0, offset_size = 0;
    Dwarf_Off offset = 0;
    Dwarf_Unsigned index = 0;
    Dwarf_Error error = NULL;
    if (dwarf_get_version_of_die(die, &version, &offset_size) != DW_DLV_OK ||
        !dwarf_ok(reader, source, dwarf_whatform(attribute, &form, &error), &error))
        return;
    bool ok =
        form == DW_FORM_rnglistx
            ? dwarf_ok(reader, source, dwarf_formudata(attribute, &index, &error), &error)
            : dwarf_ok(reader, source, dwarf_global_formref(attribute, &offset, &error), &error);
    if (ok && version >= 5)
        read_new_list(reader, source, attribute, form, form == DW_FORM_rnglistx ? index : offset,
                      ranges);
    else if (ok)
        read_old_list(reader, source, die, offset, base, ranges);
}

void dwarf_entry_ranges(struct dwarf_reader *reader, const struct dwarf_source *source,
                        Dwarf_Die die, uint64_t unit_base, struct dwarf_ranges *ranges)
{
    ranges->all.n = 0;
    Dwarf_Attribute attribute = dwarf_attribute(reader, source, die, DW_AT_ranges);
    if (attribute) {
        read_list(reader, source, die, attribute, unit_base, ranges);
        dwarf_dealloc_attribute(attribute);
        return;
    }
    uint64_t low;
    Dwarf_Addr high = 0;
    Dwarf_Half form = 0;
    enum Dwarf_Form_Class class = DW_FORM_CLASS_UNKNOWN;
    Dwarf_Error error = NULL;
    if (!dwarf_address(reader, source, die, DW_AT_low_pc, &low) ||
        !dwarf_ok(reader, source, dwarf_highpc_b(die, &high, &form, &class, &error), &error))
        return;
    add(ranges, low, class == DW_FORM_CLASS_CONSTANT ? low + high : high);
}

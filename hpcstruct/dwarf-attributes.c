#include "hpcstruct/dwarf-internal.h"

Dwarf_Attribute dwarf_attribute(struct dwarf_reader *reader, const struct dwarf_source *source,
                                Dwarf_Die die, Dwarf_Half number)
{
    Dwarf_Attribute attribute = NULL;
    Dwarf_Error error = NULL;
    if (!dwarf_ok(reader, source, dwarf_attr(die, number, &attribute, &error), &error))
        return NULL;
    return attribute;
}

bool dwarf_number(struct dwarf_reader *reader, const struct dwarf_source *source, Dwarf_Die die,
                  Dwarf_Half number, uint64_t *value)
{
    Dwarf_Attribute attribute = dwarf_attribute(reader, source, die, number);
    Dwarf_Error error = NULL;
    Dwarf_Half form = 0;
    Dwarf_Unsigned as_unsigned = 0;
    Dwarf_Signed as_signed = 0;
    bool ok =
        attribute && dwarf_ok(reader, source, dwarf_whatform(attribute, &form, &error), &error);
    if (ok && (form == DW_FORM_implicit_const || form == DW_FORM_sdata)) {
        /* libdwarf 20210528 knows these as signed numbers only. */
        ok = dwarf_ok(reader, source, dwarf_formsdata(attribute, &as_signed, &error), &error);
        *value = (uint64_t)as_signed;
    } else if (ok) {
        ok = dwarf_ok(reader, source, dwarf_formudata(attribute, &as_unsigned, &error), &error);
        *value = as_unsigned;
    }
    dwarf_dealloc_attribute(attribute);
    return ok;
}

bool dwarf_address(struct dwarf_reader *reader, const struct dwarf_source *source, Dwarf_Die die,
                   Dwarf_Half number, uint64_t *value)
{
    Dwarf_Attribute attribute = dwarf_attribute(reader, source, die, number);
    Dwarf_Error error = NULL;
    Dwarf_Addr address = 0;
    if (!attribute)
        return false;
    bool ok = dwarf_ok(reader, source, dwarf_formaddr(attribute, &address, &error), &error);
    *value = address;
    dwarf_dealloc_attribute(attribute);
    return ok;
}

const char *dwarf_string(struct dwarf_reader *reader, const struct dwarf_source *source,
                         Dwarf_Die die, Dwarf_Half number)
{
    Dwarf_Attribute attribute = dwarf_attribute(reader, source, die, number);
    Dwarf_Error error = NULL;
    char *text = NULL;
    if (!attribute)
        return NULL;
    if (!dwarf_ok(reader, source, dwarf_formstring(attribute, &text, &error), &error))
        text = NULL;
    dwarf_dealloc_attribute(attribute);
    return text;
}

bool dwarf_reference(struct dwarf_reader *reader, struct dwarf_source *source, Dwarf_Die die,
                     Dwarf_Half number, uint64_t *offset, struct dwarf_source **in)
{
    Dwarf_Attribute attribute = dwarf_attribute(reader, source, die, number);
    Dwarf_Error error = NULL;
    Dwarf_Half form = 0;
    Dwarf_Off target = 0;
    if (!attribute)
        return false;
    bool ok = dwarf_ok(reader, source, dwarf_whatform(attribute, &form, &error), &error) &&
              form != DW_FORM_ref_sig8 && /* only types are referred to in this way */
              dwarf_ok(reader, source, dwarf_global_formref(attribute, &target, &error), &error);
    dwarf_dealloc_attribute(attribute);
    *offset = target;
    *in = source;
    if (form == DW_FORM_GNU_ref_alt || form == DW_FORM_ref_sup4 || form == DW_FORM_ref_sup8) {
        *in = &reader->supplement;
        ok = ok && reader->supplement.debug;
    }
    return ok;
}

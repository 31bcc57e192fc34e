#include "hpcstruct/dwarf/dwarf-file.h"

#include <stdlib.h>
#include <string.h>

struct exposed_section {
    const char *name;
    struct elf_bytes bytes;
};

struct dwarf_object {
    VEC(struct exposed_section) sections; /* the first is the null section */
    Dwarf_Obj_Access_Interface interface;
    Dwarf_Debug debug;
};

/* Those that we need, and that libdwarf needs to read them. */
static const char *const wanted[] = {
    ".debug_info", ".debug_abbrev",   ".debug_line",        ".debug_str",    ".debug_line_str",
    ".debug_addr", ".debug_rnglists", ".debug_str_offsets", ".debug_ranges",
};

static int get_section_info(void *object, Dwarf_Half index, Dwarf_Obj_Access_Section *out,
                            int *error)
{
    const struct dwarf_object *from = object;
    (void)error;
    if (index >= from->sections.n)
        return DW_DLV_NO_ENTRY;
    *out = (Dwarf_Obj_Access_Section){.type = 1,
                                      .size = from->sections.at[index].bytes.size,
                                      .name = from->sections.at[index].name};
    return DW_DLV_OK;
}

static int load_section(void *object, Dwarf_Half index, Dwarf_Small **data, int *error)
{
    const struct dwarf_object *from = object;
    (void)error;
    if (index >= from->sections.n)
        return DW_DLV_NO_ENTRY;
    *data = (Dwarf_Small *)from->sections.at[index].bytes.at;
    return DW_DLV_OK;
}

static Dwarf_Endianness get_byte_order(void *object)
{
    (void)object;
    return DW_OBJECT_LSB;
}

static Dwarf_Small get_eight(void *object)
{
    (void)object;
    return 8;
}

static Dwarf_Unsigned get_section_count(void *object)
{
    return ((const struct dwarf_object *)object)->sections.n;
}

static const Dwarf_Obj_Access_Methods methods = {
    .get_section_info = get_section_info,
    .get_byte_order = get_byte_order,
    .get_length_size = get_eight,
    .get_pointer_size = get_eight,
    .get_section_count = get_section_count,
    .load_section = load_section,
};

static void expose_sections(struct dwarf_object *object, const struct elf_image *image,
                            char **problem)
{
    vec_push(&object->sections, (struct exposed_section){.name = ""});
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        struct elf_section *section = elf_section(image, wanted[i]);
        char *cause = NULL;
        struct elf_bytes bytes = {0};
        if (section)
            bytes = elf_section_data(section, &cause);
        if (cause && !*problem)
            *problem = mem_printf("%s: %s", wanted[i], cause);
        free(cause);
        if (!bytes.size)
            continue;
        vec_push(&object->sections, (struct exposed_section){wanted[i], bytes});
    }
}

struct elf_bytes dwarf_object_section(const struct dwarf_object *object, const char *name)
{
    for (size_t i = 0; i < object->sections.n; i++)
        if (strcmp(object->sections.at[i].name, name) == 0)
            return object->sections.at[i].bytes;
    return (struct elf_bytes){0};
}

struct dwarf_object *dwarf_object_open(const struct elf_image *image, char **problem)
{
    struct dwarf_object *object = mem_alloc(sizeof *object);
    *problem = NULL;
    expose_sections(object, image, problem);
    object->interface = (Dwarf_Obj_Access_Interface){object, &methods};
    Dwarf_Error error = NULL;
    int result = DW_DLV_NO_ENTRY;
    if (dwarf_object_section(object, ".debug_info").size) {
        /* We free what we take; libdwarf need not keep a list of it. */
        dwarf_set_de_alloc_flag(0);
        result = dwarf_object_init_b(&object->interface, NULL, NULL, DW_GROUPNUMBER_ANY,
                                     &object->debug, &error);
    }
    if (result == DW_DLV_OK)
        return object;
    if (result == DW_DLV_ERROR && !*problem)
        *problem = mem_strdup(dwarf_errmsg(error));
    dwarf_object_close(object);
    return NULL;
}

void dwarf_object_close(struct dwarf_object *object)
{
    Dwarf_Error error;
    if (!object)
        return;
    if (object->debug)
        dwarf_object_finish(object->debug, &error);
    vec_free(&object->sections);
    free(object);
}

Dwarf_Debug dwarf_object_debug(const struct dwarf_object *object)
{
    return object->debug;
}

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

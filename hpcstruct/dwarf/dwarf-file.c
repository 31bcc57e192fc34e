#include "hpcstruct/dwarf/dwarf-file.h"

#include <stdlib.h>
#include <string.h>

/* ---- problems ---- */

void dwarf_file_problem(const struct dwarf_file *file, const char *text)
{
    if (!*file->problem)
        *file->problem = mem_strdup(text);
}

bool dwarf_file_ok(const struct dwarf_file *file, int result, Dwarf_Error *error)
{
    if (result == DW_DLV_ERROR) {
        dwarf_file_problem(file, dwarf_errmsg(*error));
        dwarf_dealloc_error(file->debug, *error);
        *error = NULL;
    }
    return result == DW_DLV_OK;
}

/* ---- sections for libdwarf ---- */

/* The sections that we read, and those that libdwarf needs to read them. */
static const char *const needed[] = {
    ".debug_info", ".debug_abbrev",   ".debug_line",        ".debug_str",    ".debug_line_str",
    ".debug_addr", ".debug_rnglists", ".debug_str_offsets", ".debug_ranges",
};

static int get_section_info(void *object, Dwarf_Half index, Dwarf_Obj_Access_Section *out,
                            int *error)
{
    const struct dwarf_file *file = object;
    (void)error;
    if (index >= file->sections.n)
        return DW_DLV_NO_ENTRY;
    *out = (Dwarf_Obj_Access_Section){.type = 1,
                                      .size = file->sections.at[index].bytes.size,
                                      .name = file->sections.at[index].name};
    return DW_DLV_OK;
}

static int load_section(void *object, Dwarf_Half index, Dwarf_Small **data, int *error)
{
    const struct dwarf_file *file = object;
    (void)error;
    if (index >= file->sections.n)
        return DW_DLV_NO_ENTRY;
    *data = (Dwarf_Small *)file->sections.at[index].bytes.at;
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
    return ((const struct dwarf_file *)object)->sections.n;
}

static const Dwarf_Obj_Access_Methods methods = {
    .get_section_info = get_section_info,
    .get_byte_order = get_byte_order,
    .get_length_size = get_eight,
    .get_pointer_size = get_eight,
    .get_section_count = get_section_count,
    .load_section = load_section,
};

static void add_sections(struct dwarf_file *file, const struct elf_image *image)
{
    vec_push(&file->sections, (struct dwarf_section){.name = ""});
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        struct elf_section *section = elf_section(image, needed[i]);
        char *cause = NULL;
        struct elf_bytes bytes = {0};
        if (section)
            bytes = elf_section_data(section, &cause);
        if (cause) {
            char *problem = mem_printf("%s: %s", needed[i], cause);
            dwarf_file_problem(file, problem);
            free(problem);
            free(cause);
        }
        if (bytes.size)
            vec_push(&file->sections, (struct dwarf_section){needed[i], bytes});
    }
}

struct elf_bytes dwarf_file_section(const struct dwarf_file *file, const char *name)
{
    for (size_t i = 0; i < file->sections.n; i++)
        if (strcmp(file->sections.at[i].name, name) == 0)
            return file->sections.at[i].bytes;
    return (struct elf_bytes){0};
}

static bool open_sections(struct dwarf_file *file)
{
    if (!dwarf_file_section(file, ".debug_info").size)
        return false;
    Dwarf_Error error = NULL;
    /* We free what libdwarf hands out, so it need not keep a list. */
    dwarf_set_de_alloc_flag(0);
    int result =
        dwarf_object_init_b(&file->interface, NULL, NULL, DW_GROUPNUMBER_ANY, &file->debug, &error);
    if (result == DW_DLV_ERROR)
        dwarf_file_problem(file, dwarf_errmsg(error));
    return result == DW_DLV_OK;
}

bool dwarf_file_open(struct dwarf_file *file, const struct elf_image *image, char **problem)
{
    *file = (struct dwarf_file){.problem = problem, .interface = {file, &methods}};
    add_sections(file, image);
    return open_sections(file);
}

/* libdwarf 20210528 does not find strings, addresses and range lists of split DWARF, whose forms
 * are indices. It gets the entries only, as those of an ordinary file; the rest is looked up here.
 */
bool dwarf_file_open_split(struct dwarf_file *file, const struct split_unit *split,
                           const struct dwarf_file *linked, char **problem)
{
    char *cause;
    *file = (struct dwarf_file){.problem = problem, .interface = {file, &methods}, .split = split};
    file->split_sections = split_unit_sections(split, &cause);
    if (cause)
        dwarf_file_problem(file, cause);
    free(cause);
    file->range_lists = (struct range_lists){
        .lists = split->skeleton.version >= 5 ? file->split_sections.range_lists
                                              : dwarf_file_section(linked, ".debug_ranges"),
        .addresses = dwarf_file_section(linked, ".debug_addr"),
        .address_base = split->skeleton.address_base,
        .base = split->skeleton.low,
    };
    vec_push(&file->sections, (struct dwarf_section){.name = ""});
    vec_push(&file->sections, (struct dwarf_section){".debug_info", file->split_sections.info});
    vec_push(&file->sections,
             (struct dwarf_section){".debug_abbrev", file->split_sections.abbreviations});
    vec_push(&file->sections, (struct dwarf_section){".debug_str", file->split_sections.strings});
    /* libdwarf checks its header. */
    vec_push(&file->sections,
             (struct dwarf_section){".debug_str_offsets", file->split_sections.string_offsets});
    return open_sections(file);
}

void dwarf_file_close(struct dwarf_file *file)
{
    Dwarf_Error error;
    if (file->debug)
        dwarf_object_finish(file->debug, &error);
    vec_free(&file->sections);
}

void dwarf_file_each_unit(const struct dwarf_file *file,
                          void (*visit)(void *context, Dwarf_Die unit), void *context)
{
    for (;;) {
        Dwarf_Unsigned length, type_offset, next;
        Dwarf_Off abbreviations;
        Dwarf_Half version, address_size, length_size, extension_size, kind;
        Dwarf_Sig8 signature;
        Dwarf_Error error = NULL;
        Dwarf_Die unit = NULL;
        if (!dwarf_file_ok(file,
                           dwarf_next_cu_header_d(file->debug, 1, &length, &version, &abbreviations,
                                                  &address_size, &length_size, &extension_size,
                                                  &signature, &type_offset, &next, &kind, &error),
                           &error))
            return;
        if (!dwarf_file_ok(file, dwarf_siblingof_b(file->debug, NULL, 1, &unit, &error), &error))
            continue;
        visit(context, unit);
        dwarf_dealloc_die(unit);
    }
}

/* ---- attributes ---- */

/* To be freed by dwarf_dealloc_attribute. */
static Dwarf_Attribute find_attribute(const struct dwarf_file *file, Dwarf_Die die,
                                      Dwarf_Half number)
{
    Dwarf_Attribute attribute = NULL;
    Dwarf_Error error = NULL;
    if (!dwarf_file_ok(file, dwarf_attr(die, number, &attribute, &error), &error))
        return NULL;
    return attribute;
}

bool die_offset(const struct dwarf_file *file, Dwarf_Die die, uint64_t *offset)
{
    Dwarf_Off found = 0;
    Dwarf_Error error = NULL;
    bool ok = dwarf_file_ok(file, dwarf_dieoffset(die, &found, &error), &error);
    *offset = found;
    return ok;
}

bool die_has(const struct dwarf_file *file, Dwarf_Die die, Dwarf_Half attribute)
{
    Dwarf_Attribute found = find_attribute(file, die, attribute);
    dwarf_dealloc_attribute(found);
    return found != NULL;
}

bool die_number(const struct dwarf_file *file, Dwarf_Die die, Dwarf_Half attribute, uint64_t *value)
{
    Dwarf_Attribute found = find_attribute(file, die, attribute);
    Dwarf_Error error = NULL;
    Dwarf_Half form = 0;
    Dwarf_Unsigned as_unsigned = 0;
    Dwarf_Signed as_signed = 0;
    bool ok = found && dwarf_file_ok(file, dwarf_whatform(found, &form, &error), &error);
    if (ok && (form == DW_FORM_implicit_const || form == DW_FORM_sdata)) {
        /* libdwarf 20210528 returns these as signed numbers only. */
        ok = dwarf_file_ok(file, dwarf_formsdata(found, &as_signed, &error), &error);
        *value = (uint64_t)as_signed;
    } else if (ok) {
        ok = dwarf_file_ok(file, dwarf_formudata(found, &as_unsigned, &error), &error);
        *value = as_unsigned;
    }
    dwarf_dealloc_attribute(found);
    return ok;
}

/* 0: unknown. */
static Dwarf_Half form_of(const struct dwarf_file *file, Dwarf_Attribute attribute)
{
    Dwarf_Error error = NULL;
    Dwarf_Half form = 0;
    return dwarf_file_ok(file, dwarf_whatform(attribute, &form, &error), &error) ? form : 0;
}

static bool is_address_index(const struct dwarf_file *file, Dwarf_Attribute attribute)
{
    Dwarf_Half form = form_of(file, attribute);
    return form == DW_FORM_addrx || form == DW_FORM_GNU_addr_index ||
           (form >= DW_FORM_addrx1 && form <= DW_FORM_addrx4);
}

static bool is_string_index(const struct dwarf_file *file, Dwarf_Attribute attribute)
{
    Dwarf_Half form = form_of(file, attribute);
    return form == DW_FORM_strx || form == DW_FORM_GNU_str_index ||
           (form >= DW_FORM_strx1 && form <= DW_FORM_strx4);
}

bool die_address(const struct dwarf_file *file, Dwarf_Die die, Dwarf_Half attribute,
                 uint64_t *value)
{
    Dwarf_Attribute found = find_attribute(file, die, attribute);
    Dwarf_Error error = NULL;
    Dwarf_Addr address = 0;
    Dwarf_Unsigned index = 0;
    if (!found)
        return false;
    if (file->split && is_address_index(file, found)) {
        bool known =
            dwarf_file_ok(file, dwarf_get_debug_addr_index(found, &index, &error), &error) &&
            address_by_index(file->range_lists.addresses, file->range_lists.address_base, index,
                             value);
        dwarf_dealloc_attribute(found);
        return known;
    }
    bool ok = dwarf_file_ok(file, dwarf_formaddr(found, &address, &error), &error);
    *value = address;
    dwarf_dealloc_attribute(found);
    return ok;
}

const char *die_string(const struct dwarf_file *file, Dwarf_Die die, Dwarf_Half attribute)
{
    Dwarf_Attribute found = find_attribute(file, die, attribute);
    Dwarf_Error error = NULL;
    char *text = NULL;
    Dwarf_Unsigned index = 0;
    if (!found)
        return NULL;
    if (file->split && is_string_index(file, found)) {
        bool ok = dwarf_file_ok(file, dwarf_get_debug_str_index(found, &index, &error), &error);
        dwarf_dealloc_attribute(found);
        return ok ? split_unit_string(file->split, &file->split_sections, index) : NULL;
    }
    if (!dwarf_file_ok(file, dwarf_formstring(found, &text, &error), &error))
        text = NULL;
    dwarf_dealloc_attribute(found);
    return text;
}

bool die_reference(const struct dwarf_file *file, Dwarf_Die die, Dwarf_Half attribute,
                   uint64_t *offset, const struct dwarf_file **in)
{
    Dwarf_Attribute found = find_attribute(file, die, attribute);
    Dwarf_Error error = NULL;
    Dwarf_Half form = 0;
    Dwarf_Off target = 0;
    if (!found)
        return false;
    bool ok = dwarf_file_ok(file, dwarf_whatform(found, &form, &error), &error) &&
              form != DW_FORM_ref_sig8 && /* refers to a type unit: never to a function */
              dwarf_file_ok(file, dwarf_global_formref(found, &target, &error), &error);
    dwarf_dealloc_attribute(found);
    bool in_supplement =
        form == DW_FORM_GNU_ref_alt || form == DW_FORM_ref_sup4 || form == DW_FORM_ref_sup8;
    *offset = target;
    *in = in_supplement ? file->supplement : file;
    return ok && *in;
}

/* ---- address ranges ---- */

/* DWARF 3 and 4: a list in .debug_ranges. */
static void read_old_list(const struct dwarf_file *file, Dwarf_Die die, uint64_t offset,
                          uint64_t base, struct address_ranges *ranges)
{
    Dwarf_Ranges *list = NULL;
    Dwarf_Signed count = 0;
    Dwarf_Off real_offset = 0;
    Dwarf_Error error = NULL;
    if (!dwarf_file_ok(
            file,
            dwarf_get_ranges_b(file->debug, offset, die, &real_offset, &list, &count, NULL, &error),
            &error))
        return;
    for (Dwarf_Signed i = 0; i < count && list[i].dwr_type != DW_RANGES_END; i++) {
        if (list[i].dwr_type == DW_RANGES_ADDRESS_SELECTION)
            base = list[i].dwr_addr2;
        else
            address_ranges_add(ranges, base + list[i].dwr_addr1, base + list[i].dwr_addr2);
    }
    dwarf_ranges_dealloc(file->debug, list, count);
}

/* DWARF 5: a list in .debug_rnglists. */
static void read_new_list(const struct dwarf_file *file, Dwarf_Attribute attribute, Dwarf_Half form,
                          uint64_t value, struct address_ranges *ranges)
{
    Dwarf_Rnglists_Head head = NULL;
    Dwarf_Unsigned count = 0, offset = 0;
    Dwarf_Error error = NULL;
    if (!dwarf_file_ok(
            file,
            dwarf_rnglists_get_rle_head(attribute, form, value, &head, &count, &offset, &error),
            &error))
        return;
    for (Dwarf_Unsigned i = 0; i < count; i++) {
        unsigned length = 0, kind = 0;
        Dwarf_Unsigned raw1 = 0, raw2 = 0, begin = 0, end = 0;
        Dwarf_Bool no_address = 0;
        if (!dwarf_file_ok(file,
                           dwarf_get_rnglists_entry_fields_a(head, i, &length, &kind, &raw1, &raw2,
                                                             &no_address, &begin, &end, &error),
                           &error) ||
            kind == DW_RLE_end_of_list)
            break;
        if (kind != DW_RLE_base_address && kind != DW_RLE_base_addressx && !no_address)
            address_ranges_add(ranges, begin, end);
    }
    dwarf_dealloc_rnglists_head(head);
}

/* A list of split DWARF. `value`: its index (DW_FORM_rnglistx) or offset. */
static void read_split_list(const struct dwarf_file *file, Dwarf_Half form, uint64_t value,
                            struct address_ranges *ranges)
{
    bool good;
    if (form == DW_FORM_rnglistx)
        good = range_list_read_indexed(&file->range_lists, value, ranges);
    else if (file->split->skeleton.version >= 5)
        good = range_list_read(&file->range_lists, value, ranges);
    else
        good = old_range_list_read(&file->range_lists, file->split->skeleton.ranges_base + value,
                                   ranges);
    if (!good)
        dwarf_file_problem(file, "a list of address ranges cannot be read");
}

static void read_list(const struct dwarf_file *file, Dwarf_Die die, Dwarf_Attribute attribute,
                      uint64_t base, struct address_ranges *ranges)
{
    Dwarf_Half form = 0, version = 0, offset_size = 0;
    Dwarf_Off offset = 0;
    Dwarf_Unsigned index = 0;
    Dwarf_Error error = NULL;
    if (dwarf_get_version_of_die(die, &version, &offset_size) != DW_DLV_OK ||
        !dwarf_file_ok(file, dwarf_whatform(attribute, &form, &error), &error))
        return;
    bool ok = form == DW_FORM_rnglistx
                  ? dwarf_file_ok(file, dwarf_formudata(attribute, &index, &error), &error)
                  : dwarf_file_ok(file, dwarf_global_formref(attribute, &offset, &error), &error);
    if (ok && file->split)
        read_split_list(file, form, form == DW_FORM_rnglistx ? index : offset, ranges);
    else if (ok && version >= 5)
        read_new_list(file, attribute, form, form == DW_FORM_rnglistx ? index : offset, ranges);
    else if (ok)
        read_old_list(file, die, offset, base, ranges);
}

void die_ranges(const struct dwarf_file *file, Dwarf_Die die, uint64_t unit_base,
                struct address_ranges *ranges)
{
    ranges->all.n = 0;
    Dwarf_Attribute attribute = find_attribute(file, die, DW_AT_ranges);
    if (attribute) {
        read_list(file, die, attribute, unit_base, ranges);
        dwarf_dealloc_attribute(attribute);
        return;
    }
    uint64_t low;
    Dwarf_Addr high = 0;
    Dwarf_Half form = 0;
    enum Dwarf_Form_Class class = DW_FORM_CLASS_UNKNOWN;
    Dwarf_Error error = NULL;
    if (die_address(file, die, DW_AT_low_pc, &low) &&
        dwarf_file_ok(file, dwarf_highpc_b(die, &high, &form, &class, &error), &error))
        address_ranges_add(ranges, low, class == DW_FORM_CLASS_CONSTANT ? low + high : high);
}

#include "hpcstruct/dwarf-internal.h"

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

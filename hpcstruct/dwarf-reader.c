#include "hpcstruct/dwarf-internal.h"

#include <stdlib.h>

void dwarf_problem(struct dwarf_reader *reader, const char *text)
{
    if (!reader->report.problem)
        reader->report.problem = mem_strdup(text);
}

bool dwarf_ok(struct dwarf_reader *reader, const struct dwarf_source *source, int result,
              Dwarf_Error *error)
{
    if (result == DW_DLV_ERROR) {
        dwarf_problem(reader, dwarf_errmsg(*error));
        dwarf_dealloc_error(source->debug, *error);
        *error = NULL;
    }
    return result == DW_DLV_OK;
}

void dwarf_each_unit(struct dwarf_reader *reader, struct dwarf_source *source,
                     dwarf_unit_visitor *visit)
{
    for (;;) {
        Dwarf_Unsigned length, type_offset, next;
        Dwarf_Off abbreviations;
        Dwarf_Half version, address_size, length_size, extension_size, kind;
        Dwarf_Sig8 signature;
        Dwarf_Error error = NULL;
        Dwarf_Die unit = NULL;
        if (!dwarf_ok(reader, source,
                      dwarf_next_cu_header_d(source->debug, 1, &length, &version, &abbreviations,
                                             &address_size, &length_size, &extension_size,
                                             &signature, &type_offset, &next, &kind, &error),
                      &error))
            return;
        if (!dwarf_ok(reader, source, dwarf_siblingof_b(source->debug, NULL, 1, &unit, &error),
                      &error))
            continue;
        visit(reader, source, unit);
        dwarf_dealloc_die(unit);
    }
}

static struct dwarf_object *open_source(struct dwarf_reader *reader, struct dwarf_source *source,
                                        const struct elf_image *image)
{
    char *problem = NULL;
    struct dwarf_object *object = image ? dwarf_object_open(image, &problem) : NULL;
    if (problem)
        dwarf_problem(reader, problem);
    free(problem);
    if (object) {
        source->debug = dwarf_object_debug(object);
        source->line_sections = (struct line_sections){
            .lines = dwarf_object_section(object, ".debug_line"),
            .line_strings = dwarf_object_section(object, ".debug_line_str"),
            .strings = dwarf_object_section(object, ".debug_str"),
        };
        reader->entries_left += dwarf_object_section(object, ".debug_info").size;
    }
    return object;
}

static void close_source(struct dwarf_source *source, struct dwarf_object *object)
{
    idmap_free(&source->units);
    idmap_free(&source->line_tables);
    idmap_free(&source->functions);
    idmap_free(&source->prefixes);
    dwarf_object_close(object);
}

struct dwarf_report dwarf_read_here(struct debug_info *info, const struct dwarf_files *files)
{
    struct dwarf_reader reader = {.info = info, .image = files->image};
    struct dwarf_object *main = open_source(&reader, &reader.main, files->from);
    struct dwarf_object *other =
        main ? open_source(&reader, &reader.supplement, files->supplement) : NULL;
    if (other) {
        Dwarf_Error error = NULL;
        dwarf_ok(&reader, &reader.main,
                 dwarf_set_tied_dbg(reader.main.debug, reader.supplement.debug, &error), &error);
        dwarf_each_unit(&reader, &reader.supplement, dwarf_read_lines);
    }
    if (main) {
        dwarf_each_unit(&reader, &reader.main, dwarf_read_lines);
        dwarf_each_unit(&reader, &reader.main, dwarf_read_scopes);
        dwarf_qualify_names(&reader);
    }
    close_source(&reader.main, main);
    close_source(&reader.supplement, other);
    for (size_t i = 0; i < reader.file_tables.n; i++)
        vec_free(&reader.file_tables.at[i].ids);
    vec_free(&reader.file_tables);
    strtab_free(&reader.prefixes);
    vec_free(&reader.unqualified);
    debug_info_finish(info);
    return reader.report;
}

bool dwarf_is_in(const struct elf_image *image)
{
    const struct elf_section *section = elf_section(image, ".debug_info");
    return section && section->stored.size;
}

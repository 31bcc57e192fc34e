#include "hpcstruct/dwarf/dwarf-file.h"
#include "hpcstruct/elf/names.h"

#include "lib/path.h"

#include <stdlib.h>
#include <string.h>

/* Deeper nests of entries are damage. */
#define MAX_DEPTH 256
/* References from a function to its abstract origin, from that to its specification, ... */
#define MAX_REFERENCES 8

/* ---- which function an entry speaks of ---- */

/* What the entries along the references say; the first that says something counts. */
struct description {
    const char *linkage_name, *name;
    const struct dwarf_source *source; /* the last of the entries: where it is */
    uint64_t offset;
    uint32_t file;
    uint64_t line;
};

static void describe(struct dwarf_reader *reader, struct dwarf_source *source, Dwarf_Die die,
                     struct description *d)
{
    uint64_t number;
    if (!d->linkage_name)
        d->linkage_name = dwarf_string(reader, source, die, DW_AT_linkage_name);
    if (!d->linkage_name)
        d->linkage_name = dwarf_string(reader, source, die, DW_AT_MIPS_linkage_name);
    if (!d->name)
        d->name = dwarf_string(reader, source, die, DW_AT_name);
    if (d->file == DEBUG_NONE && dwarf_number(reader, source, die, DW_AT_decl_file, &number))
        d->file = dwarf_file(reader, source, die, number);
    if (d->line == 0 && dwarf_number(reader, source, die, DW_AT_decl_line, &number))
        d->line = number < UINT32_MAX ? number : 0;
}

static void describe_all(struct dwarf_reader *reader, struct dwarf_source *source, uint64_t offset,
                         struct description *d)
{
    for (unsigned i = 0; i < MAX_REFERENCES; i++) {
        Dwarf_Die die = NULL;
        Dwarf_Error error = NULL;
        struct dwarf_source *next = source;
        if (!dwarf_ok(reader, source, dwarf_offdie_b(source->debug, offset, 1, &die, &error),
                      &error))
            return;
        describe(reader, source, die, d);
        d->source = source;
        d->offset = offset;
        bool refers = dwarf_reference(reader, source, die, DW_AT_abstract_origin, &offset, &next) ||
                      dwarf_reference(reader, source, die, DW_AT_specification, &offset, &next);
        dwarf_dealloc_die(die);
        if (!refers)
            return;
        source = next;
    }
}

static uint32_t function_of(struct dwarf_reader *reader, struct dwarf_source *source,
                            uint64_t offset)
{
    uint32_t known = idmap_get(&source->functions, offset, 0);
    if (known != IDMAP_NONE)
        return known;
    struct description d = {.file = DEBUG_NONE};
    describe_all(reader, source, offset, &d);
    char *name = d.linkage_name ? demangled_name(d.linkage_name)
                                : mem_strdup(d.name ? d.name : "<unknown procedure>");
    name = clean_text(name);
    bool is_local = !d.linkage_name && d.file == DEBUG_NONE;
    uint32_t function = is_local
                            ? debug_info_local_function(reader->info, name)
                            : debug_info_function(reader->info, name, d.file, (uint32_t)d.line);
    free(name);
    if (!d.linkage_name && d.source)
        vec_push(&reader->unqualified, (struct unqualified){function, d.source, d.offset});
    idmap_put(&source->functions, offset, 0, function);
    return function;
}

void dwarf_qualify_names(struct dwarf_reader *reader)
{
    struct debug_info *info = reader->info;
    struct idmap done = {0};
    for (size_t i = 0; i < reader->unqualified.n; i++) {
        const struct unqualified *u = &reader->unqualified.at[i];
        uint32_t prefix = idmap_get(&u->source->prefixes, u->offset, 0);
        if (prefix == IDMAP_NONE || idmap_get(&done, u->function, 0) != IDMAP_NONE)
            continue;
        struct debug_function *function = &info->functions.at[u->function];
        char *name = clean_text(mem_printf("%s%s", strtab_string(&reader->prefixes, prefix),
                                           strtab_string(&info->names, function->name)));
        function->name = strtab_id(&info->names, name);
        idmap_put(&done, u->function, 0, 0);
        free(name);
    }
    idmap_free(&done);
}

/* ---- scopes ---- */

/* Where the walk through a unit's entries is. */
struct walk {
    struct dwarf_reader *reader;
    struct dwarf_source *source;
    uint64_t unit_base;
    struct dwarf_ranges ranges; /* of the entry at hand */
};

static uint32_t add_scope(struct walk *walk, struct debug_scope scope)
{
    struct debug_info *info = walk->reader->info;
    uint32_t number = (uint32_t)info->scopes.n;
    if (scope.parent != DEBUG_NONE)
        scope.depth = info->scopes.at[scope.parent].depth + 1;
    vec_push(&info->scopes, scope);
    for (size_t i = 0; i < walk->ranges.all.n; i++) {
        const struct elf_code *range = &walk->ranges.all.at[i];
        debug_info_add_range(info, range->begin, range->end, number, walk->reader->image);
        if (i > 0 && scope.parent == DEBUG_NONE)
            vec_push(&info->links, (struct code_link){range->begin, walk->ranges.all.at[0].begin});
    }
    return number;
}

/* The scope of a function that was compiled out of line; `around` for one without code. */
static uint32_t enter_function(struct walk *walk, Dwarf_Die die, uint32_t around)
{
    Dwarf_Off offset = 0;
    Dwarf_Error error = NULL;
    dwarf_entry_ranges(walk->reader, walk->source, die, walk->unit_base, &walk->ranges);
    if (walk->ranges.all.n == 0 ||
        !dwarf_ok(walk->reader, walk->source, dwarf_dieoffset(die, &offset, &error), &error))
        return around;
    const struct debug_scope scope = {
        .function = function_of(walk->reader, walk->source, offset),
        .parent = DEBUG_NONE,
        .call_file = DEBUG_NONE,
    };
    return add_scope(walk, scope);
}

static uint32_t enter_inlined(struct walk *walk, Dwarf_Die die, uint32_t around)
{
    struct dwarf_reader *reader = walk->reader;
    uint64_t origin, file = 0, line = 0;
    struct dwarf_source *in;
    dwarf_entry_ranges(reader, walk->source, die, walk->unit_base, &walk->ranges);
    if (around == DEBUG_NONE || walk->ranges.all.n == 0 ||
        !dwarf_reference(reader, walk->source, die, DW_AT_abstract_origin, &origin, &in))
        return around;
    bool has_file = dwarf_number(reader, walk->source, die, DW_AT_call_file, &file);
    dwarf_number(reader, walk->source, die, DW_AT_call_line, &line);
    const struct debug_scope scope = {
        .function = function_of(reader, in, origin),
        .parent = around,
        .call_file = has_file ? dwarf_file(reader, walk->source, die, file) : DEBUG_NONE,
        .call_line = line < UINT32_MAX ? (uint32_t)line : 0,
    };
    return add_scope(walk, scope);
}

/* Whether functions can stand inside of entries with this tag. */
static bool may_hold_functions(Dwarf_Half tag)
{
    switch (tag) {
    case DW_TAG_subprogram:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_lexical_block:
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_try_block:
    case DW_TAG_catch_block: return true;
    }
    return false;
}

/* What is around an entry. */
struct surroundings {
    uint32_t scope;  /* function compiled out of line or inlined, or DEBUG_NONE */
    uint32_t prefix; /* namespaces and classes, in reader.prefixes, or DEBUG_NONE */
    unsigned depth;
};

/* Takes the name of a namespace or class into the prefix. */
static uint32_t extend_prefix(struct walk *walk, Dwarf_Die die, uint32_t prefix)
{
    struct strtab *prefixes = &walk->reader->prefixes;
    const char *name = dwarf_string(walk->reader, walk->source, die, DW_AT_name);
    char *longer = mem_printf("%s%s::", prefix == DEBUG_NONE ? "" : strtab_string(prefixes, prefix),
                              name ? name : "(anonymous)");
    prefix = strtab_id(prefixes, longer);
    free(longer);
    return prefix;
}

static void note_prefix(struct walk *walk, Dwarf_Die die, uint32_t prefix)
{
    Dwarf_Off offset = 0;
    Dwarf_Error error = NULL;
    if (prefix != DEBUG_NONE &&
        !dwarf_string(walk->reader, walk->source, die, DW_AT_linkage_name) &&
        dwarf_ok(walk->reader, walk->source, dwarf_dieoffset(die, &offset, &error), &error))
        idmap_put(&walk->source->prefixes, offset, 0, prefix);
}

static void walk_children(struct walk *walk, Dwarf_Die die, struct surroundings around);

static void visit(struct walk *walk, Dwarf_Die die, struct surroundings around)
{
    Dwarf_Half tag = 0;
    Dwarf_Error error = NULL;
    if (!dwarf_ok(walk->reader, walk->source, dwarf_tag(die, &tag, &error), &error) ||
        !may_hold_functions(tag))
        return;
    around.depth++;
    switch (tag) {
    case DW_TAG_subprogram:
        note_prefix(walk, die, around.prefix);
        around.scope = enter_function(walk, die, around.scope);
        around.prefix = DEBUG_NONE;
        break;
    case DW_TAG_inlined_subroutine: around.scope = enter_inlined(walk, die, around.scope); break;
    case DW_TAG_namespace:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type: around.prefix = extend_prefix(walk, die, around.prefix); break;
    }
    walk_children(walk, die, around);
}

static void walk_children(struct walk *walk, Dwarf_Die die, struct surroundings around)
{
    Dwarf_Error error = NULL;
    Dwarf_Die child = NULL;
    if (around.depth > MAX_DEPTH) {
        dwarf_problem(walk->reader, "entries are nested too deeply");
        return;
    }
    if (!dwarf_ok(walk->reader, walk->source, dwarf_child(die, &child, &error), &error))
        return;
    while (child) {
        Dwarf_Die next = NULL;
        if (walk->reader->entries_left == 0) {
            dwarf_problem(walk->reader, "entries refer to each other in circles");
        } else {
            walk->reader->entries_left--;
            visit(walk, child, around);
            if (!dwarf_ok(walk->reader, walk->source,
                          dwarf_siblingof_b(walk->source->debug, child, 1, &next, &error), &error))
                next = NULL;
        }
        dwarf_dealloc_die(child);
        child = next;
    }
}

static void note_split(struct dwarf_reader *reader, const struct dwarf_source *source,
                       Dwarf_Die unit)
{
    static const Dwarf_Half names[] = {DW_AT_dwo_name, DW_AT_GNU_dwo_name};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        Dwarf_Attribute attribute = dwarf_attribute(reader, source, unit, names[i]);
        reader->report.is_split |= attribute != NULL;
        dwarf_dealloc_attribute(attribute);
    }
}

void dwarf_read_scopes(struct dwarf_reader *reader, struct dwarf_source *source, Dwarf_Die unit)
{
    struct walk walk = {.reader = reader, .source = source};
    dwarf_address(reader, source, unit, DW_AT_low_pc, &walk.unit_base);
    note_split(reader, source, unit);
    walk_children(&walk, unit, (struct surroundings){DEBUG_NONE, DEBUG_NONE, 0});
    vec_free(&walk.ranges.all);
}

static struct file_table read_table(struct dwarf_reader *reader, const struct dwarf_source *source,
                                    Dwarf_Die unit, uint64_t offset)
{
    struct file_table files = {0};
    const char *directory = dwarf_string(reader, source, unit, DW_AT_comp_dir);
    const struct elf_image *rows_for = source == &reader->main ? reader->image : NULL;
    if (!line_table_read(&source->line_sections, offset, directory ? directory : "", reader->info,
                         rows_for, &files))
        dwarf_problem(reader, "a line table cannot be read");
    return files;
}

/* Counts a unit by the options that gcc records in its name, "GNU C17 12.2.0 -mtune=generic -g
 * -O2"; other compilers do not say them unless they are asked to. */
static void count_optimization(struct dwarf_reader *reader, const struct dwarf_source *source,
                               Dwarf_Die unit)
{
    const char *producer = dwarf_string(reader, source, unit, DW_AT_producer);
    if (!producer || strncmp(producer, "GNU ", 4) != 0 || strncmp(producer, "GNU AS", 6) == 0 ||
        !strstr(producer, " -m"))
        return;
    bool is_optimized = false;
    for (const char *at = strstr(producer, " -O"); at; at = strstr(at + 1, " -O"))
        is_optimized = at[3] != '0';
    reader->info->n_units++;
    reader->info->n_unoptimized += !is_optimized;
}

static void add_directory(struct dwarf_reader *reader, const struct dwarf_source *source,
                          Dwarf_Die unit)
{
    const char *directory = dwarf_string(reader, source, unit, DW_AT_comp_dir);
    if (!directory || directory[0] != '/')
        return;
    char *normal = path_normalize(directory);
    strtab_id(&reader->info->directories, normal);
    free(normal);
}

void dwarf_read_lines(struct dwarf_reader *reader, struct dwarf_source *source, Dwarf_Die unit)
{
    Dwarf_Error error = NULL;
    Dwarf_Off offset = 0;
    uint64_t table_offset = 0;
    struct dwarf_source *in;
    add_directory(reader, source, unit);
    count_optimization(reader, source, unit);
    if (!dwarf_ok(reader, source, dwarf_dieoffset(unit, &offset, &error), &error) ||
        !dwarf_reference(reader, source, unit, DW_AT_stmt_list, &table_offset, &in))
        return;
    /* Units may share a table. */
    uint32_t table = idmap_get(&source->line_tables, table_offset, 0);
    if (table == IDMAP_NONE) {
        table = (uint32_t)reader->file_tables.n;
        vec_push(&reader->file_tables, read_table(reader, source, unit, table_offset));
        idmap_put(&source->line_tables, table_offset, 0, table);
    }
    idmap_put(&source->units, offset, 0, table);
}

uint32_t dwarf_file(struct dwarf_reader *reader, struct dwarf_source *source, Dwarf_Die die,
                    uint64_t number)
{
    Dwarf_Off unit = 0;
    Dwarf_Error error = NULL;
    if (!dwarf_ok(reader, source, dwarf_CU_dieoffset_given_die(die, &unit, &error), &error))
        return DEBUG_NONE;
    uint32_t table = idmap_get(&source->units, unit, 0);
    if (table == IDMAP_NONE || number >= reader->file_tables.at[table].ids.n)
        return DEBUG_NONE;
    return reader->file_tables.at[table].ids.at[number];
}

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

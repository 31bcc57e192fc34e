#include "hpcstruct/dwarf/dwarf-reader.h"

#include "hpcstruct/dwarf/dwarf-file.h"
#include "hpcstruct/dwarf/line-table.h"
#include "hpcstruct/elf/names.h"

#include "lib/path.h"

#include <stdlib.h>
#include <string.h>

/* Entries that are nested more deeply are damaged. */
#define MAX_DEPTH 256
/* References from a function to its abstract origin, from that to its specification, ... */
#define MAX_REFERENCES 8

/* One of the files read: the main one, the supplement of dwz, or a unit of a .dwo or .dwp file.
 * Entries and tables are identified by their offset. */
struct source {
    struct dwarf_file file;
    struct line_sections line_sections;
    struct idmap units;       /* first entry of a unit -> index in reader.file_tables */
    struct idmap line_tables; /* line table -> index in reader.file_tables */
    struct idmap functions;   /* entry of a function -> function in debug_info */
    struct idmap prefixes; /* entry of a function without linkage name -> enclosing namespaces and
                              classes, in reader.prefixes */
};

/* A function without linkage name, and the last entry that describes it. */
struct unqualified {
    uint32_t function;
    const struct source *source;
    uint64_t offset;
};

struct dwarf_reader {
    struct debug_info *info;
    const struct elf_image *image;
    const struct split_debug *split; /* NULL: none */
    struct source main, supplement;
    struct source split_source; /* the split unit that is read */
    VEC(struct file_table) file_tables;
    struct strtab prefixes; /* "NAMESPACE::CLASS::" */
    VEC(struct unqualified) unqualified;
    struct idmap qualified; /* functions whose names have their namespaces and classes */
    uint64_t entries_left;  /* entries that may still be visited: damaged ones can form circles */
    char *problem;          /* the first thing that could not be read; NULL: none */
};

/* The unit that is read. */
struct unit {
    struct dwarf_reader *reader;
    struct source *source;
    uint64_t base;                /* its first address */
    struct address_ranges ranges; /* of the entry that is read */
};

static struct source *source_of(struct dwarf_reader *reader, const struct dwarf_file *file)
{
    if (file == &reader->split_source.file)
        return &reader->split_source;
    return file == &reader->main.file ? &reader->main : &reader->supplement;
}

/* ---- line tables ---- */

static struct file_table read_table(const struct unit *unit, Dwarf_Die die, uint64_t offset)
{
    struct file_table files = {0};
    struct dwarf_reader *reader = unit->reader;
    const char *directory = die_string(&unit->source->file, die, DW_AT_comp_dir);
    const struct elf_image *rows_for = unit->source == &reader->main ? reader->image : NULL;
    if (!line_table_read(&unit->source->line_sections, offset, directory ? directory : "",
                         reader->info, rows_for, &files))
        dwarf_file_problem(&unit->source->file, "a line table cannot be read");
    return files;
}

/* Counts a unit as optimized or not. Only gcc records its options in the name of the producer, such
 * as "GNU C17 12.2.0 -mtune=generic -g -O2"; other units are not counted. */
static void count_optimization(const struct unit *unit, Dwarf_Die die)
{
    const char *producer = die_string(&unit->source->file, die, DW_AT_producer);
    if (!producer || strncmp(producer, "GNU ", 4) != 0 || strncmp(producer, "GNU AS", 6) == 0 ||
        !strstr(producer, " -m"))
        return;
    bool is_optimized = false;
    for (const char *at = strstr(producer, " -O"); at; at = strstr(at + 1, " -O"))
        is_optimized = at[3] != '0';
    unit->reader->info->n_units++;
    unit->reader->info->n_unoptimized += !is_optimized;
}

static void add_directory(const struct unit *unit, Dwarf_Die die)
{
    const char *directory = die_string(&unit->source->file, die, DW_AT_comp_dir);
    if (!directory || directory[0] != '/')
        return;
    char *normal = path_normalize(directory);
    strtab_id(&unit->reader->info->directories, normal);
    free(normal);
}

/* Reads the line table of a unit: its files, and for the main source also its rows. */
static void read_lines(void *context, Dwarf_Die die)
{
    struct unit *unit = context;
    struct dwarf_reader *reader = unit->reader;
    struct source *source = unit->source;
    uint64_t offset, table_offset;
    const struct dwarf_file *in;
    add_directory(unit, die);
    count_optimization(unit, die);
    if (!die_offset(&source->file, die, &offset) ||
        !die_reference(&source->file, die, DW_AT_stmt_list, &table_offset, &in))
        return;
    /* Units may share a table. */
    uint32_t table = idmap_get(&source->line_tables, table_offset, 0);
    if (table == IDMAP_NONE) {
        table = (uint32_t)reader->file_tables.n;
        vec_push(&reader->file_tables, read_table(unit, die, table_offset));
        idmap_put(&source->line_tables, table_offset, 0, table);
    }
    idmap_put(&source->units, offset, 0, table);
}

/* The file with this number in the unit of an entry; DEBUG_NONE: unknown. */
static uint32_t file_by_number(const struct dwarf_reader *reader, const struct source *source,
                               Dwarf_Die die, uint64_t number)
{
    Dwarf_Off unit = 0;
    Dwarf_Error error = NULL;
    if (!dwarf_file_ok(&source->file, dwarf_CU_dieoffset_given_die(die, &unit, &error), &error))
        return DEBUG_NONE;
    uint32_t table = idmap_get(&source->units, unit, 0);
    if (table == IDMAP_NONE || number >= reader->file_tables.at[table].ids.n)
        return DEBUG_NONE;
    return reader->file_tables.at[table].ids.at[number];
}

/* ---- which function an entry describes ---- */

/* The attributes of a function, each from the first entry along the references that has it. */
struct description {
    const char *linkage_name, *name;
    const struct source *source; /* of the last entry */
    uint64_t offset;             /* of the last entry */
    uint32_t file;
    uint64_t line;
};

static void describe(const struct dwarf_reader *reader, const struct source *source, Dwarf_Die die,
                     struct description *d)
{
    const struct dwarf_file *file = &source->file;
    uint64_t number;
    if (!d->linkage_name)
        d->linkage_name = die_string(file, die, DW_AT_linkage_name);
    if (!d->linkage_name)
        d->linkage_name = die_string(file, die, DW_AT_MIPS_linkage_name);
    if (!d->name)
        d->name = die_string(file, die, DW_AT_name);
    if (d->file == DEBUG_NONE && die_number(file, die, DW_AT_decl_file, &number))
        d->file = file_by_number(reader, source, die, number);
    if (d->line == 0 && die_number(file, die, DW_AT_decl_line, &number))
        d->line = number < UINT32_MAX ? number : 0;
}

static void describe_all(struct dwarf_reader *reader, const struct source *source, uint64_t offset,
                         struct description *d)
{
    for (unsigned i = 0; i < MAX_REFERENCES; i++) {
        const struct dwarf_file *file = &source->file, *next = file;
        Dwarf_Die die = NULL;
        Dwarf_Error error = NULL;
        if (!dwarf_file_ok(file, dwarf_offdie_b(file->debug, offset, 1, &die, &error), &error))
            return;
        describe(reader, source, die, d);
        d->source = source;
        d->offset = offset;
        bool refers = die_reference(file, die, DW_AT_abstract_origin, &offset, &next) ||
                      die_reference(file, die, DW_AT_specification, &offset, &next);
        dwarf_dealloc_die(die);
        if (!refers)
            return;
        source = source_of(reader, next);
    }
}

static uint32_t function_of(struct dwarf_reader *reader, struct source *source, uint64_t offset)
{
    uint32_t known = idmap_get(&source->functions, offset, 0);
    if (known != IDMAP_NONE)
        return known;
    struct description d = {.file = DEBUG_NONE};
    describe_all(reader, source, offset, &d);
    char *name = d.linkage_name ? demangled_name(d.linkage_name)
                                : mem_strdup(d.name ? d.name : "<unknown procedure>");
    name = xml_safe_text(name);
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

/* Puts the enclosing namespaces and classes before the names of functions without linkage name.
 * Runs after the last unit of a source, since the entry that is nested in them may come later than
 * a reference to it. */
static void qualify_names(struct dwarf_reader *reader)
{
    struct debug_info *info = reader->info;
    for (size_t i = 0; i < reader->unqualified.n; i++) {
        const struct unqualified *u = &reader->unqualified.at[i];
        uint32_t prefix = idmap_get(&u->source->prefixes, u->offset, 0);
        if (prefix == IDMAP_NONE || idmap_get(&reader->qualified, u->function, 0) != IDMAP_NONE)
            continue;
        struct debug_function *function = &info->functions.at[u->function];
        char *name = xml_safe_text(mem_printf("%s%s", strtab_string(&reader->prefixes, prefix),
                                              strtab_string(&info->names, function->name)));
        function->name = strtab_id(&info->names, name);
        idmap_put(&reader->qualified, u->function, 0, 0);
        free(name);
    }
    reader->unqualified.n = 0;
}

/* ---- scopes ---- */

static uint32_t add_scope(const struct unit *unit, struct debug_scope scope)
{
    struct debug_info *info = unit->reader->info;
    uint32_t number = (uint32_t)info->scopes.n;
    if (scope.parent != DEBUG_NONE)
        scope.depth = info->scopes.at[scope.parent].depth + 1;
    vec_push(&info->scopes, scope);
    for (size_t i = 0; i < unit->ranges.all.n; i++) {
        const struct address_range *range = &unit->ranges.all.at[i];
        debug_info_add_range(info, range->begin, range->end, number, unit->reader->image);
        if (i > 0 && scope.parent == DEBUG_NONE)
            vec_push(&info->links, (struct code_link){range->begin, unit->ranges.all.at[0].begin});
    }
    return number;
}

/* Adds the scope of a function that was compiled out of line. Returns `around` if it has no code.
 */
static uint32_t enter_function(struct unit *unit, Dwarf_Die die, uint32_t around)
{
    const struct dwarf_file *file = &unit->source->file;
    uint64_t offset;
    die_ranges(file, die, unit->base, &unit->ranges);
    if (unit->ranges.all.n == 0 || !die_offset(file, die, &offset))
        return around;
    const struct debug_scope scope = {
        .function = function_of(unit->reader, unit->source, offset),
        .parent = DEBUG_NONE,
        .call_file = DEBUG_NONE,
    };
    return add_scope(unit, scope);
}

/* Adds the scope of an inlined call. Returns `around` if it has no code. */
static uint32_t enter_inlined(struct unit *unit, Dwarf_Die die, uint32_t around)
{
    struct dwarf_reader *reader = unit->reader;
    const struct dwarf_file *file = &unit->source->file, *in;
    uint64_t origin, file_number = 0, line = 0;
    die_ranges(file, die, unit->base, &unit->ranges);
    if (around == DEBUG_NONE || unit->ranges.all.n == 0 ||
        !die_reference(file, die, DW_AT_abstract_origin, &origin, &in))
        return around;
    bool has_file = die_number(file, die, DW_AT_call_file, &file_number);
    die_number(file, die, DW_AT_call_line, &line);
    const struct debug_scope scope = {
        .function = function_of(reader, source_of(reader, in), origin),
        .parent = around,
        .call_file = has_file ? file_by_number(reader, unit->source, die, file_number) : DEBUG_NONE,
        .call_line = line < UINT32_MAX ? (uint32_t)line : 0,
    };
    return add_scope(unit, scope);
}

/* Whether entries with this tag may contain functions. */
static bool may_contain_functions(Dwarf_Half tag)
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

/* The scopes that enclose an entry. */
struct surroundings {
    uint32_t scope;  /* function compiled out of line or inlined; DEBUG_NONE: none */
    uint32_t prefix; /* namespaces and classes, in reader.prefixes; DEBUG_NONE: none */
    unsigned depth;
};

/* The prefix inside a namespace or class. */
static uint32_t extend_prefix(const struct unit *unit, Dwarf_Die die, uint32_t prefix)
{
    struct strtab *prefixes = &unit->reader->prefixes;
    const char *name = die_string(&unit->source->file, die, DW_AT_name);
    char *longer = mem_printf("%s%s::", prefix == DEBUG_NONE ? "" : strtab_string(prefixes, prefix),
                              name ? name : "(anonymous)");
    prefix = strtab_id(prefixes, longer);
    free(longer);
    return prefix;
}

/* Records the prefix of a function without linkage name. */
static void record_prefix(const struct unit *unit, Dwarf_Die die, uint32_t prefix)
{
    const struct dwarf_file *file = &unit->source->file;
    uint64_t offset;
    if (prefix != DEBUG_NONE && !die_string(file, die, DW_AT_linkage_name) &&
        die_offset(file, die, &offset))
        idmap_put(&unit->source->prefixes, offset, 0, prefix);
}

static void visit_children(struct unit *unit, Dwarf_Die die, struct surroundings around);

static void visit_entry(struct unit *unit, Dwarf_Die die, struct surroundings around)
{
    Dwarf_Half tag = 0;
    Dwarf_Error error = NULL;
    if (!dwarf_file_ok(&unit->source->file, dwarf_tag(die, &tag, &error), &error) ||
        !may_contain_functions(tag))
        return;
    around.depth++;
    switch (tag) {
    case DW_TAG_subprogram:
        record_prefix(unit, die, around.prefix);
        around.scope = enter_function(unit, die, around.scope);
        around.prefix = DEBUG_NONE;
        break;
    case DW_TAG_inlined_subroutine: around.scope = enter_inlined(unit, die, around.scope); break;
    case DW_TAG_namespace:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type: around.prefix = extend_prefix(unit, die, around.prefix); break;
    }
    visit_children(unit, die, around);
}

static void visit_children(struct unit *unit, Dwarf_Die die, struct surroundings around)
{
    const struct dwarf_file *file = &unit->source->file;
    Dwarf_Error error = NULL;
    Dwarf_Die child = NULL;
    if (around.depth > MAX_DEPTH) {
        dwarf_file_problem(file, "entries are nested too deeply");
        return;
    }
    if (!dwarf_file_ok(file, dwarf_child(die, &child, &error), &error))
        return;
    while (child) {
        Dwarf_Die next = NULL;
        if (unit->reader->entries_left == 0) {
            dwarf_file_problem(file, "entries refer to each other in circles");
        } else {
            unit->reader->entries_left--;
            visit_entry(unit, child, around);
            if (!dwarf_file_ok(file, dwarf_siblingof_b(file->debug, child, 1, &next, &error),
                               &error))
                next = NULL;
        }
        dwarf_dealloc_die(child);
        child = next;
    }
}

/* Reads the functions of a unit, and the functions inlined into them. */
static void read_scopes(void *context, Dwarf_Die die)
{
    struct unit *unit = context;
    const struct dwarf_file *file = &unit->source->file;
    unit->base = 0;
    die_address(file, die, DW_AT_low_pc, &unit->base);
    visit_children(unit, die, (struct surroundings){DEBUG_NONE, DEBUG_NONE, 0});
}

/* ---- split units ---- */

static void free_maps(struct source *source)
{
    idmap_free(&source->units);
    idmap_free(&source->line_tables);
    idmap_free(&source->functions);
    idmap_free(&source->prefixes);
}

/* An entry takes at least one byte. */
static void allow_entries(struct dwarf_reader *reader, const struct source *source)
{
    reader->entries_left += dwarf_file_section(&source->file, ".debug_info").size;
}

/* Gives the split unit the files of its skeleton's line table. */
static void take_file_table(struct unit *unit, Dwarf_Die die, uint64_t skeleton)
{
    uint64_t offset;
    uint32_t table = idmap_get(&unit->reader->main.units, skeleton, 0);
    if (table != IDMAP_NONE && die_offset(&unit->source->file, die, &offset))
        idmap_put(&unit->source->units, offset, 0, table);
}

static void read_split_scopes(void *context, Dwarf_Die die)
{
    struct unit *unit = context;
    count_optimization(unit, die);
    take_file_table(unit, die, unit->source->file.split->skeleton.entry);
    read_scopes(context, die);
}

static void read_split_unit(struct dwarf_reader *reader, const struct split_unit *split)
{
    struct source *source = &reader->split_source;
    struct unit unit = {.reader = reader, .source = source};
    *source = (struct source){0};
    if (dwarf_file_open_split(&source->file, split, &reader->main.file, &reader->problem)) {
        allow_entries(reader, source);
        dwarf_file_each_unit(&source->file, read_split_scopes, &unit);
        qualify_names(reader);
    }
    vec_free(&unit.ranges.all);
    free_maps(source);
    dwarf_file_close(&source->file);
}

/* ---- the whole ---- */

static bool open_source(struct dwarf_reader *reader, struct source *source,
                        const struct elf_image *image)
{
    if (!dwarf_file_open(&source->file, image, &reader->problem))
        return false;
    source->line_sections = (struct line_sections){
        .lines = dwarf_file_section(&source->file, ".debug_line"),
        .line_strings = dwarf_file_section(&source->file, ".debug_line_str"),
        .strings = dwarf_file_section(&source->file, ".debug_str"),
    };
    allow_entries(reader, source);
    return true;
}

static void close_source(struct source *source)
{
    free_maps(source);
    dwarf_file_close(&source->file);
}

static void read_supplement(struct dwarf_reader *reader, const struct elf_image *image)
{
    struct unit unit = {.reader = reader, .source = &reader->supplement};
    Dwarf_Error error = NULL;
    if (!image || !open_source(reader, &reader->supplement, image))
        return;
    reader->main.file.supplement = &reader->supplement.file;
    dwarf_file_ok(
        &reader->main.file,
        dwarf_set_tied_dbg(reader->main.file.debug, reader->supplement.file.debug, &error), &error);
    dwarf_file_each_unit(&reader->supplement.file, read_lines, &unit);
}

static void read_main(struct dwarf_reader *reader)
{
    struct unit unit = {.reader = reader, .source = &reader->main};
    dwarf_file_each_unit(&reader->main.file, read_lines, &unit);
    dwarf_file_each_unit(&reader->main.file, read_scopes, &unit);
    qualify_names(reader);
    for (size_t i = 0; reader->split && i < reader->split->units.n; i++)
        read_split_unit(reader, &reader->split->units.at[i]);
    vec_free(&unit.ranges.all);
}

char *dwarf_read_unprotected(struct debug_info *info, const struct dwarf_inputs *inputs)
{
    struct dwarf_reader reader = {.info = info, .image = inputs->image, .split = inputs->split};
    if (open_source(&reader, &reader.main, inputs->debug)) {
        read_supplement(&reader, inputs->supplement);
        read_main(&reader);
    }
    close_source(&reader.main);
    close_source(&reader.supplement);
    for (size_t i = 0; i < reader.file_tables.n; i++)
        vec_free(&reader.file_tables.at[i].ids);
    vec_free(&reader.file_tables);
    strtab_free(&reader.prefixes);
    vec_free(&reader.unqualified);
    idmap_free(&reader.qualified);
    debug_info_finish(info);
    return reader.problem;
}

bool dwarf_is_in(const struct elf_image *image)
{
    const struct elf_section *section = elf_section(image, ".debug_info");
    return section && section->stored.size;
}

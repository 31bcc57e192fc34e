#include "hpcstruct/dwarf/unit-scopes.h"

#include "hpcstruct/dwarf/dwarf-entry.h"
#include "hpcstruct/elf/names.h"

#include <libdwarf/dwarf.h>
#include <stdlib.h>
#include <string.h>

/* Entries that are nested more deeply are damaged. */
#define MAX_DEPTH 256
/* References from a function to its abstract origin, from that to its specification, ... */
#define MAX_REFERENCES 8

struct unit_walk {
    const struct dwarf_source *source;
    const struct dwarf_unit *unit;
    struct entry_reader reader;
    struct address_ranges ranges; /* of the entry that is read */
    struct unit_scopes *scopes;
};

static void report_problem(const struct unit_walk *walk, const char *text)
{
    if (!walk->scopes->problem)
        walk->scopes->problem = text;
}

/* The file with this number in a unit; DEBUG_NONE: unknown. */
static uint32_t file_by_number(const struct dwarf_unit *unit, uint64_t number)
{
    return unit->files && number < unit->files->ids.n ? unit->files->ids.at[number] : DEBUG_NONE;
}

/* ---- which function an entry describes ---- */

/* NULL: none, or one that is not readable; then the name and its surroundings are. */
static const char *linkage_name_of(const struct dwarf_source *source, const struct dwarf_unit *unit,
                                   const struct dwarf_entry *entry)
{
    const char *name = entry_text(source, unit, entry, ENTRY_LINKAGE_NAME);
    return name && is_demanglable(name) ? name : NULL;
}

static void describe(const struct dwarf_source *source, const struct dwarf_unit *unit,
                     const struct dwarf_entry *entry, struct found_function *f)
{
    uint64_t number;
    if (!f->linkage_name)
        f->linkage_name = linkage_name_of(source, unit, entry);
    if (!f->name)
        f->name = entry_text(source, unit, entry, ENTRY_NAME);
    if (f->file == DEBUG_NONE && entry_number(entry, ENTRY_DECL_FILE, &number))
        f->file = file_by_number(unit, number);
    if (f->line == 0 && entry_number(entry, ENTRY_DECL_LINE, &number))
        f->line = number < UINT32_MAX ? (uint32_t)number : 0;
}

/* Notes that functions of this unit are described in another one of the source. */
static void note_referred(const struct unit_walk *walk, const struct dwarf_source *source,
                          const struct dwarf_unit *unit)
{
    struct unit_scopes *scopes = walk->scopes;
    uint32_t index = (uint32_t)(unit - source->units.at);
    bool is_other = source == walk->source && unit != walk->unit;
    if (is_other && (!scopes->referred.n || scopes->referred.at[scopes->referred.n - 1] != index))
        vec_push(&scopes->referred, index);
}

static void describe_all(const struct unit_walk *walk, const struct dwarf_source *source,
                         uint64_t offset, struct found_function *f)
{
    for (unsigned i = 0; i < MAX_REFERENCES; i++) {
        struct dwarf_entry entry;
        const struct dwarf_unit *unit = dwarf_source_unit_at(source, offset);
        if (!unit || offset < unit->head.entry) {
            report_problem(walk, "a reference leads to no entry");
            return;
        }
        note_referred(walk, source, unit);
        struct entry_reader reader = entry_reader_at(source, unit, offset);
        if (!entry_begin(&reader, unit, &entry) || !entry.abbreviation) {
            report_problem(walk, "a reference leads to no entry");
            return;
        }
        entry_read(&reader, unit, &entry);
        describe(source, unit, &entry, f);
        f->last_source = source->number;
        f->last_offset = offset;
        if (!entry_reference(source, unit, &entry, ENTRY_ABSTRACT_ORIGIN, &offset, &source) &&
            !entry_reference(source, unit, &entry, ENTRY_SPECIFICATION, &offset, &source))
            return;
    }
}

static bool is_in_unit(const struct unit_walk *walk, uint32_t source, uint64_t offset)
{
    return source == walk->source->number && offset >= walk->unit->head.begin &&
           offset < walk->unit->head.end;
}

static uint32_t function_of(const struct unit_walk *walk, const struct dwarf_source *source,
                            uint64_t offset)
{
    struct unit_scopes *scopes = walk->scopes;
    uint32_t known = idmap_get(&scopes->numbers, offset, source->number);
    if (known != IDMAP_NONE)
        return known;
    struct found_function f = {
        .file = DEBUG_NONE, .source = source->number, .offset = offset, .prefix = NO_PREFIX};
    describe_all(walk, source, offset, &f);
    if (!f.name)
        f.name = "<unknown procedure>";
    if (!f.linkage_name && !is_in_unit(walk, f.last_source, f.last_offset))
        f.prefix = FOREIGN_PREFIX;
    idmap_put(&scopes->numbers, offset, source->number, (uint32_t)scopes->functions.n);
    vec_push(&scopes->functions, f);
    return (uint32_t)scopes->functions.n - 1;
}

/* ---- scopes ---- */

static uint32_t add_scope(const struct unit_walk *walk, struct debug_scope scope)
{
    struct unit_scopes *scopes = walk->scopes;
    uint32_t number = (uint32_t)scopes->scopes.n;
    if (scope.parent != DEBUG_NONE)
        scope.depth = scopes->scopes.at[scope.parent].depth + 1;
    vec_push(&scopes->scopes, scope);
    const struct address_range *range = walk->ranges.all.at;
    for (size_t i = 0; i < walk->ranges.all.n; i++) {
        vec_push(&scopes->ranges, (struct scope_range){range[i].begin, range[i].end, number});
        if (i > 0 && scope.parent == DEBUG_NONE)
            vec_push(&scopes->links, (struct code_link){range[i].begin, range[0].begin});
    }
    return number;
}

/* Reads the address ranges of an entry. False if it has none. */
static bool read_ranges(struct unit_walk *walk, const struct dwarf_entry *entry)
{
    walk->ranges.all.n = 0;
    if (!entry_ranges(walk->source, walk->unit, entry, &walk->ranges))
        report_problem(walk, "a list of address ranges cannot be read");
    return walk->ranges.all.n > 0;
}

/* Adds the scope of a function that was compiled out of line. Returns `around` if it has no code.
 */
static uint32_t enter_function(struct unit_walk *walk, const struct dwarf_entry *entry,
                               uint32_t around)
{
    if (!read_ranges(walk, entry))
        return around;
    const struct debug_scope scope = {
        .function = function_of(walk, walk->source, entry->offset),
        .parent = DEBUG_NONE,
        .call_file = DEBUG_NONE,
    };
    return add_scope(walk, scope);
}

/* Adds the scope of an inlined call. Returns `around` if it has no code. */
static uint32_t enter_inlined(struct unit_walk *walk, const struct dwarf_entry *entry,
                              uint32_t around)
{
    const struct dwarf_source *in;
    uint64_t origin, file = 0, line = 0;
    if (around == DEBUG_NONE || !read_ranges(walk, entry) ||
        !entry_reference(walk->source, walk->unit, entry, ENTRY_ABSTRACT_ORIGIN, &origin, &in))
        return around;
    bool has_file = entry_number(entry, ENTRY_CALL_FILE, &file);
    entry_number(entry, ENTRY_CALL_LINE, &line);
    const struct debug_scope scope = {
        .function = function_of(walk, in, origin),
        .parent = around,
        .call_file = has_file ? file_by_number(walk->unit, file) : DEBUG_NONE,
        .call_line = line < UINT32_MAX ? (uint32_t)line : 0,
    };
    return add_scope(walk, scope);
}

/* ---- namespaces and classes ---- */

/* A chain of namespaces and classes, innermost first. */
struct enclosing {
    const struct enclosing *outer; /* NULL: none */
    const char *name;
};

static char *prefix_text(const struct enclosing *enclosing)
{
    autofree char *outer = enclosing->outer ? prefix_text(enclosing->outer) : NULL;
    char *text =
        mem_printf("%s%s::", outer ? outer : "", enclosing->name ? enclosing->name : "(anonymous)");
    return text;
}

/* Records the prefix of a function without a readable linkage name. */
static void record_prefix(const struct unit_walk *walk, const struct dwarf_entry *entry,
                          const struct enclosing *enclosing)
{
    if (!enclosing || linkage_name_of(walk->source, walk->unit, entry))
        return;
    autofree char *text = prefix_text(enclosing);
    const struct found_prefix found = {entry->offset, strtab_id(&walk->scopes->prefixes, text)};
    vec_push(&walk->scopes->nested, found);
}

/* Gives functions their prefixes. Runs after the walk, since the entry that is nested may come later
 * than a reference to it. */
static void find_prefixes(struct unit_scopes *scopes)
{
    struct idmap prefixes = {0};
    for (size_t i = 0; i < scopes->nested.n; i++)
        idmap_put(&prefixes, scopes->nested.at[i].offset, 0, scopes->nested.at[i].prefix);
    for (size_t i = 0; i < scopes->functions.n; i++) {
        struct found_function *f = &scopes->functions.at[i];
        if (!f->linkage_name && f->prefix == NO_PREFIX)
            f->prefix = idmap_get(&prefixes, f->last_offset, 0);
    }
    idmap_free(&prefixes);
}

/* ---- the walk ---- */

/* The scopes that enclose an entry. */
struct surroundings {
    uint32_t scope; /* function compiled out of line or inlined; DEBUG_NONE: none */
    const struct enclosing *enclosing; /* namespaces and classes; NULL: none */
    unsigned depth;
};

/* Whether entries with this tag may contain functions. */
static bool may_contain_functions(const struct unit_walk *walk, unsigned tag)
{
    switch (tag) {
    case DW_TAG_subprogram:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_lexical_block:
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_try_block:
    case DW_TAG_catch_block: return true;
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
        switch (walk->unit->head.language) {
        case DW_LANG_C89:
        case DW_LANG_C:
        case DW_LANG_C99:
        case DW_LANG_C11: return false;
        }
        return true;
    }
    return false;
}

static void visit_siblings(struct unit_walk *walk, struct surroundings around);

static void visit_entry(struct unit_walk *walk, struct dwarf_entry *entry,
                        struct surroundings around)
{
    struct enclosing enclosing = {around.enclosing, NULL};
    entry_read(&walk->reader, walk->unit, entry);
    if (walk->reader.bytes.failed)
        return;
    around.depth++;
    switch (entry->abbreviation->tag) {
    case DW_TAG_subprogram:
        record_prefix(walk, entry, around.enclosing);
        around.scope = enter_function(walk, entry, around.scope);
        around.enclosing = NULL;
        break;
    case DW_TAG_inlined_subroutine: around.scope = enter_inlined(walk, entry, around.scope); break;
    case DW_TAG_namespace:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
        enclosing.name = entry_text(walk->source, walk->unit, entry, ENTRY_NAME);
        around.enclosing = &enclosing;
        break;
    }
    if (entry->abbreviation->has_children)
        visit_siblings(walk, around);
}

static void visit_siblings(struct unit_walk *walk, struct surroundings around)
{
    struct dwarf_entry entry;
    if (around.depth > MAX_DEPTH) {
        report_problem(walk, "entries are nested too deeply");
        entry_skip_siblings(&walk->reader, walk->unit);
        return;
    }
    while (entry_begin(&walk->reader, walk->unit, &entry) && entry.abbreviation) {
        if (may_contain_functions(walk, entry.abbreviation->tag))
            visit_entry(walk, &entry, around);
        else
            entry_skip(&walk->reader, walk->unit, &entry);
    }
}

void unit_scopes_read(struct unit_scopes *scopes, const struct dwarf_source *source,
                      const struct dwarf_unit *unit)
{
    struct dwarf_entry first;
    struct unit_walk walk = {
        .source = source,
        .unit = unit,
        .reader = entry_reader_at(source, unit, unit->head.entry),
        .ranges.list_entries_left = unit->head.end - unit->head.begin,
        .scopes = scopes,
    };
    if (entry_begin(&walk.reader, unit, &first) && first.abbreviation) {
        entry_read(&walk.reader, unit, &first);
        if (first.abbreviation->has_children && !walk.reader.bytes.failed)
            visit_siblings(&walk, (struct surroundings){.scope = DEBUG_NONE});
    }
    if (walk.reader.bytes.failed)
        report_problem(&walk, "an entry cannot be read");
    find_prefixes(scopes);
    idmap_free(&scopes->numbers);
    vec_free(&walk.ranges.all);
}

void unit_scopes_free(struct unit_scopes *scopes)
{
    vec_free(&scopes->functions);
    vec_free(&scopes->scopes);
    vec_free(&scopes->ranges);
    vec_free(&scopes->links);
    strtab_free(&scopes->prefixes);
    vec_free(&scopes->nested);
    vec_free(&scopes->referred);
    idmap_free(&scopes->numbers);
}

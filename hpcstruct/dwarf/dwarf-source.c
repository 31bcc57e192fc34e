#include "hpcstruct/dwarf/dwarf-source.h"

#include "hpcstruct/elf/sorted-addresses.h"

#include "lib/parallel.h"

#include <stdlib.h>
#include <string.h>

/* ---- sections ---- */

static struct elf_bytes contents(const struct elf_image *image, const char *name, char **problem)
{
    struct elf_section *section = elf_section(image, name);
    autofree char *cause = NULL;
    struct elf_bytes bytes = {0};
    if (section)
        bytes = elf_section_data(image, section, &cause);
    if (cause && !*problem)
        *problem = mem_printf("%s: %s", name, cause);
    return bytes;
}

/* ---- abbreviations ---- */

struct abbreviation_job {
    struct dwarf_source *source;
    const uint64_t *offsets; /* of the tables; then the end of the section */
};

static void read_table(void *context, unsigned worker, size_t index)
{
    const struct abbreviation_job *job = context;
    (void)worker;
    abbreviation_table_read(&job->source->tables.at[index], job->source->sections.abbreviations,
                            job->offsets[index], job->offsets[index + 1]);
}

/* Reads each table that units refer to once. A table ends where the next one begins: in a damaged
 * file they could overlap, which would take time of the square of its size. */
static void read_abbreviations(struct dwarf_source *source, const struct unit_heads *heads,
                               unsigned workers)
{
    autofree uint64_t *offsets = mem_alloc((heads->all.n + 1) * sizeof *offsets);
    size_t count = 0;
    for (size_t i = 0; i < heads->all.n; i++)
        offsets[i] = heads->all.at[i].abbreviations;
    sort_addresses(offsets, heads->all.n);
    for (size_t i = 0; i < heads->all.n; i++)
        if (i == 0 || offsets[i] != offsets[i - 1])
            offsets[count++] = offsets[i];
    offsets[count] = source->sections.abbreviations.size;
    vec_reserve(&source->tables, count);
    struct abbreviation_job job = {source, offsets};
    parallel_for(count, workers, read_table, &job);
    source->tables.n = count;
}

static const struct abbreviation_table *table_at(const struct dwarf_source *source, uint64_t offset)
{
    return &source->tables.at[sorted_below(&source->tables, offset, offset)];
}

/* ---- units ---- */

static void read_units(struct dwarf_source *source, unsigned workers)
{
    struct unit_heads heads = {0};
    unit_heads_read(&source->sections, &heads);
    read_abbreviations(source, &heads, workers);
    vec_reserve(&source->units, heads.all.n);
    for (size_t i = 0; i < heads.all.n; i++) {
        const struct unit_head *head = &heads.all.at[i];
        vec_push(&source->units,
                 (struct dwarf_unit){*head, table_at(source, head->abbreviations), NULL});
    }
    vec_free(&heads.all);
}

const struct dwarf_unit *dwarf_source_unit_at(const struct dwarf_source *source, uint64_t offset)
{
    size_t after = sorted_up_to(&source->units, head.begin, offset);
    if (after == 0 || offset >= source->units.at[after - 1].head.end)
        return NULL;
    return &source->units.at[after - 1];
}

/* ---- opening and closing ---- */

void dwarf_source_open(struct dwarf_source *source, const struct elf_image *image,
                       const struct dwarf_source *supplement, unsigned workers, char **problem)
{
    *source = (struct dwarf_source){
        .supplement = supplement,
        .sections.info = contents(image, ".debug_info", problem),
        .sections.abbreviations = contents(image, ".debug_abbrev", problem),
        .sections.strings = contents(image, ".debug_str", problem),
        .sections.line_strings = contents(image, ".debug_line_str", problem),
        .sections.string_offsets = contents(image, ".debug_str_offsets", problem),
        .sections.addresses = contents(image, ".debug_addr", problem),
        .line_sections.lines = contents(image, ".debug_line", problem),
        .range_lists = contents(image, ".debug_rnglists", problem),
        .old_range_lists = contents(image, ".debug_ranges", problem),
    };
    source->line_sections.line_strings = source->sections.line_strings;
    source->line_sections.strings = source->sections.strings;
    if (supplement)
        source->sections.supplement_strings = supplement->sections.strings;
    read_units(source, workers);
}

void dwarf_source_open_split(struct dwarf_source *source, const struct split_unit *split,
                             const struct split_sections *sections,
                             const struct dwarf_source *linked)
{
    const struct unit_head *skeleton = &split->skeleton;
    const struct dwarf_unit *linked_unit = dwarf_source_unit_at(linked, skeleton->begin);
    *source = (struct dwarf_source){
        .sections.info = sections->info,
        .sections.abbreviations = sections->abbreviations,
        .sections.strings = sections->strings,
        .sections.string_offsets = sections->string_offsets,
        .sections.addresses = linked->sections.addresses,
        .range_lists = sections->range_lists,
        .old_range_lists = linked->old_range_lists,
    };
    read_units(source, 1); /* other workers read other units */
    for (size_t i = 0; i < source->units.n; i++) {
        struct dwarf_unit *unit = &source->units.at[i];
        unit->head.low = skeleton->low;
        unit->head.address_base = skeleton->address_base;
        unit->head.ranges_base = skeleton->ranges_base;
        unit->files = linked_unit ? linked_unit->files : NULL;
    }
}

void dwarf_source_close(struct dwarf_source *source)
{
    for (size_t i = 0; i < source->tables.n; i++)
        abbreviation_table_free(&source->tables.at[i]);
    vec_free(&source->tables);
    vec_free(&source->units);
}

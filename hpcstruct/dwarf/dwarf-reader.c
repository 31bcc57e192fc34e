#include "hpcstruct/dwarf/dwarf-reader.h"

#include "hpcstruct/dwarf/function-table.h"
#include "hpcstruct/dwarf/wanted-units.h"

#include "lib/diag.h"
#include "lib/parallel.h"
#include "lib/path.h"
#include "lib/source-names.h"

#include <stdlib.h>
#include <string.h>

/* The memory of sections is given back in pieces of this size. */
#define RELEASE_SIZE (1 << 20)

/* A line table that units refer to. */
struct line_task {
    const struct dwarf_source *source;
    uint64_t offset;
    const char *directory; /* working directory of the compiler */
    bool is_damaged;
    struct file_table *files; /* its files; their ids are those of `part` until it is merged */
    struct debug_info part;   /* the files and rows of this table */
};

/* A unit, or a split one: then also its source. */
struct unit_task {
    const struct dwarf_unit *unit; /* NULL: split */
    const struct split_unit *split;
    struct split_sections sections; /* split */
    struct dwarf_source source;     /* split */
    uint8_t wanted;                 /* enum unit_part */
    VEC(struct unit_scopes) parts;  /* of the unit; of each unit of a split source */
};

struct dwarf_reader {
    struct debug_info *info;
    const struct elf_image *image; /* with the code */
    const struct elf_image *debug; /* with the debug information */
    /* Bytes of .debug_line and .debug_info whose memory was given back. */
    uint64_t lines_released, units_released;
    struct dwarf_source main, supplement;
    uint8_t *wanted;     /* per unit of `main`: enum unit_part */
    bool lacks_units;    /* a wanted unit refers to one of which nothing is read */
    struct idmap tables; /* offset and source of a line table -> line_tasks */
    VEC(struct line_task) line_tasks;
    VEC(struct unit_task) unit_tasks;
    struct function_table functions;
    char *problem; /* the first thing that could not be read; NULL: none */
};

static void report_problem(struct dwarf_reader *reader, const char *text)
{
    if (!reader->problem)
        reader->problem = mem_strdup(text);
}

/* ---- what the heads of units say ---- */

/* Counts a unit as optimized or not. Only gcc records its options in the name of the producer, such
 * as "GNU C17 12.2.0 -mtune=generic -g -O2"; other units are not counted. */
static void count_optimization(struct dwarf_reader *reader, const struct unit_head *head)
{
    const char *producer = head->producer;
    if (!producer || strncmp(producer, "GNU ", 4) != 0 || strncmp(producer, "GNU AS", 6) == 0 ||
        !strstr(producer, " -m"))
        return;
    bool is_optimized = false;
    for (const char *at = strstr(producer, " -O"); at; at = strstr(at + 1, " -O"))
        is_optimized = at[3] != '0';
    reader->info->n_units++;
    reader->info->n_unoptimized += !is_optimized;
}

static void add_directory(struct dwarf_reader *reader, const struct unit_head *head)
{
    if (!head->directory || head->directory[0] != '/')
        return;
    autofree char *normal = path_normalize(head->directory);
    strtab_id(&reader->info->directories, normal);
}

/* ---- line tables ---- */

/* Plans to read the line tables of a source: units may share one. */
static void plan_lines(struct dwarf_reader *reader, const struct dwarf_source *source)
{
    for (size_t i = 0; i < source->units.n; i++) {
        const struct unit_head *head = &source->units.at[i].head;
        add_directory(reader, head);
        count_optimization(reader, head);
        if (head->lines == NO_LINE_TABLE || (source == &reader->main && !reader->wanted[i]) ||
            idmap_get(&reader->tables, head->lines, source->number) != IDMAP_NONE)
            continue;
        idmap_put(&reader->tables, head->lines, source->number, (uint32_t)reader->line_tasks.n);
        const struct line_task task = {
            .source = source,
            .offset = head->lines,
            .directory = head->directory ? head->directory : "",
            .files = mem_alloc(sizeof *task.files),
        };
        vec_push(&reader->line_tasks, task);
    }
}

static void read_lines(void *context, unsigned worker, size_t index)
{
    struct dwarf_reader *reader = context;
    struct line_task *task = &reader->line_tasks.at[index];
    (void)worker;
    task->is_damaged =
        !line_table_read(&task->source->line_sections, task->offset, task->directory, &task->part,
                         task->source == &reader->main ? reader->image : NULL, task->files);
}

/* Tables are mostly in the order of their units: those of the units before have been read. */
static void release_lines_before(struct dwarf_reader *reader, uint64_t offset)
{
    struct elf_bytes lines = reader->main.line_sections.lines;
    if (offset <= reader->lines_released + RELEASE_SIZE || offset > lines.size)
        return;
    elf_release_bytes(reader->debug, lines.at + reader->lines_released, lines.at + offset);
    reader->lines_released = offset;
}

static void merge_lines(void *context, size_t index)
{
    struct dwarf_reader *reader = context;
    struct line_task *task = &reader->line_tasks.at[index];
    if (task->is_damaged)
        report_problem(reader, "a line table cannot be read");
    if (task->source == &reader->main)
        release_lines_before(reader, task->offset);
    debug_info_merge_lines(reader->info, &task->part, task->files->ids.at, task->files->ids.n);
}

/* Gives the units of a source their files. */
static void assign_files(struct dwarf_reader *reader, struct dwarf_source *source)
{
    for (size_t i = 0; i < source->units.n; i++) {
        struct dwarf_unit *unit = &source->units.at[i];
        uint32_t table = idmap_get(&reader->tables, unit->head.lines, source->number);
        if (table != IDMAP_NONE)
            unit->files = reader->line_tasks.at[table].files;
    }
}

static bool names_tables(const struct dwarf_source *source)
{
    for (size_t i = 0; i < source->units.n; i++)
        if (source->units.at[i].head.lines != NO_LINE_TABLE)
            return true;
    return false;
}

static void read_all_lines(struct dwarf_reader *reader, unsigned workers)
{
    plan_lines(reader, &reader->supplement);
    plan_lines(reader, &reader->main);
    parallel_in_order(reader->line_tasks.n, workers, read_lines, merge_lines, reader);
    assign_files(reader, &reader->supplement);
    assign_files(reader, &reader->main);
    /* If the units cannot be read, they name no table. */
    reader->info->names_lines = names_tables(&reader->main);
    if (!reader->info->names_lines)
        line_tables_read_all(&reader->main.line_sections, reader->info, reader->image);
}

/* ---- units ---- */

static void plan_units(struct dwarf_reader *reader, const struct split_debug *split)
{
    for (size_t i = 0; i < reader->main.units.n; i++)
        if (reader->wanted[i])
            vec_push(&reader->unit_tasks, (struct unit_task){.unit = &reader->main.units.at[i],
                                                             .wanted = reader->wanted[i]});
    for (size_t i = 0; split && i < split->units.n; i++) {
        struct unit_task task = {.split = &split->units.at[i]};
        const struct dwarf_unit *skeleton =
            dwarf_source_unit_at(&reader->main, task.split->skeleton.begin);
        task.wanted = skeleton ? reader->wanted[skeleton - reader->main.units.at] : UNIT_WHOLE;
        char *cause;
        task.sections = split_unit_sections(task.split, &cause);
        if (cause)
            report_problem(reader, cause);
        free(cause);
        vec_push(&reader->unit_tasks, task);
    }
}

static void read_unit(void *context, unsigned worker, size_t index)
{
    struct dwarf_reader *reader = context;
    struct unit_task *task = &reader->unit_tasks.at[index];
    const struct dwarf_source *source = &reader->main;
    const struct dwarf_unit *unit = task->unit;
    size_t count = 1;
    (void)worker;
    if (task->split) {
        dwarf_source_open_split(&task->source, task->split, &task->sections, &reader->main);
        task->source.number = (uint32_t)(index + 2); /* no other source's */
        source = &task->source;
        unit = source->units.at;
        count = source->units.n;
    }
    for (size_t i = 0; task->wanted && i < count; i++) {
        vec_push(&task->parts, (struct unit_scopes){0});
        unit_scopes_read(&task->parts.at[i], source, &unit[i]);
    }
}

static void merge_scopes(struct dwarf_reader *reader, const struct unit_scopes *part)
{
    struct debug_info *info = reader->info;
    uint32_t first = (uint32_t)info->scopes.n;
    autofree uint32_t *numbers = mem_alloc(part->functions.n * sizeof *numbers);
    function_table_add(&reader->functions, part, numbers);
    for (size_t i = 0; i < part->scopes.n; i++) {
        struct debug_scope scope = part->scopes.at[i];
        scope.function = numbers[scope.function];
        if (scope.parent != DEBUG_NONE)
            scope.parent += first;
        vec_push(&info->scopes, scope);
    }
    for (size_t i = 0; i < part->ranges.n; i++) {
        const struct scope_range *range = &part->ranges.at[i];
        debug_info_add_range(info, range->begin, range->end, first + range->scope, reader->image);
    }
    for (size_t i = 0; i < part->links.n; i++)
        vec_push(&info->links, part->links.at[i]);
    if (part->problem)
        report_problem(reader, part->problem);
}

static void release_units_before(struct dwarf_reader *reader, uint64_t offset)
{
    const uint8_t *info = reader->main.sections.info.at;
    if (offset <= reader->units_released + RELEASE_SIZE)
        return;
    elf_release_bytes(reader->debug, info + reader->units_released, info + offset);
    reader->units_released = offset;
}

static void want_referred(struct dwarf_reader *reader, const struct unit_task *task,
                          const struct unit_scopes *part)
{
    for (size_t i = 0; task->unit && i < part->referred.n; i++) {
        uint8_t *wanted = &reader->wanted[part->referred.at[i]];
        reader->lacks_units |= *wanted == UNIT_UNREAD;
        if (*wanted == UNIT_UNREAD)
            *wanted = UNIT_NAMES;
    }
}

static void merge_unit(void *context, size_t index)
{
    struct dwarf_reader *reader = context;
    struct unit_task *task = &reader->unit_tasks.at[index];
    for (size_t i = 0; i < task->source.units.n; i++)
        count_optimization(reader, &task->source.units.at[i].head);
    for (size_t i = 0; i < task->parts.n; i++) {
        function_table_add_prefixes(&reader->functions, &task->parts.at[i], task->source.number);
        if (task->wanted == UNIT_WHOLE) {
            merge_scopes(reader, &task->parts.at[i]);
            want_referred(reader, task, &task->parts.at[i]);
        }
        unit_scopes_free(&task->parts.at[i]);
    }
    if (task->unit) {
        release_units_before(reader, task->unit->head.end);
        diag_progress_add(task->unit->head.end - task->unit->head.begin);
    }
    vec_free(&task->parts);
    dwarf_source_close(&task->source);
}

/* ---- the whole ---- */

/* Frees what was read of the sources, which stay open. */
static void free_results(struct dwarf_reader *reader)
{
    for (size_t i = 0; i < reader->line_tasks.n; i++) {
        vec_free(&reader->line_tasks.at[i].files->ids);
        free(reader->line_tasks.at[i].files);
    }
    vec_free(&reader->line_tasks);
    vec_free(&reader->unit_tasks);
    idmap_free(&reader->tables);
    function_table_free(&reader->functions);
}

static void free_reader(struct dwarf_reader *reader)
{
    free_results(reader);
    free(reader->wanted);
    dwarf_source_close(&reader->main);
    dwarf_source_close(&reader->supplement);
}

/* Reads the wanted units. If they refer to functions of other units, as after link-time optimization, the
 * names in these are wanted, too: reads all again, since a unit's files come before its functions. */
static void read_wanted(struct dwarf_reader *reader, const struct dwarf_inputs *inputs,
                        unsigned workers)
{
    for (bool is_first = true; is_first || reader->lacks_units; is_first = false) {
        if (!is_first) {
            free_results(reader);
            debug_info_free(reader->info);
            *reader->info = (struct debug_info){0};
                reader->lines_released = reader->units_released = 0;
            reader->lacks_units = false;
        }
        read_all_lines(reader, workers);
        plan_units(reader, inputs->split);
        parallel_in_order(reader->unit_tasks.n, workers, read_unit, merge_unit, reader);
    }
}

static bool has_unread_units(const struct dwarf_source *source)
{
    size_t count = source->units.n;
    return (count ? source->units.at[count - 1].head.end : 0) < source->sections.info.size;
}

static void release_sections(const struct dwarf_inputs *inputs)
{
    elf_release_debug_sections(inputs->debug);
    if (inputs->supplement)
        elf_release_debug_sections(inputs->supplement);
    for (size_t i = 0; inputs->split && i < inputs->split->files.n; i++)
        elf_release_debug_sections(inputs->split->files.at[i]);
}

char *dwarf_read(struct debug_info *info, const struct dwarf_inputs *inputs, unsigned workers)
{
    struct dwarf_reader reader = {.info = info, .image = inputs->image, .debug = inputs->debug};
    if (inputs->supplement)
        dwarf_source_open(&reader.supplement, inputs->supplement, NULL, workers, &reader.problem);
    dwarf_source_open(&reader.main, inputs->debug, inputs->supplement ? &reader.supplement : NULL,
                      workers, &reader.problem);
    reader.supplement.number = 1;
    if (has_unread_units(&reader.main))
        report_problem(&reader, "a unit of .debug_info cannot be read");
    reader.wanted = wanted_units_find(&reader.main, inputs->wanted);
    read_wanted(&reader, inputs, workers);
    function_table_finish(&reader.functions, info, workers);
    free_reader(&reader);
    release_sections(inputs);
    debug_info_finish(info, workers);
    return reader.problem;
}

bool dwarf_is_in(const struct elf_image *image)
{
    const struct elf_section *section = elf_section(image, ".debug_info");
    return section && section->stored.size;
}

bool dwarf_has_tags(const struct elf_image *image)
{
    static const char *const sections[] = {".debug_line", ".debug_line_str", ".debug_str"};
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        struct elf_section *section = elf_section(image, sections[i]);
        autofree char *cause = NULL;
        struct elf_bytes bytes = {0};
        if (section)
            bytes = elf_section_data(image, section, &cause);
        if (bytes.size && memmem(bytes.at, bytes.size, OVERHEAD_TAG, strlen(OVERHEAD_TAG)))
            return true;
    }
    return false;
}

#include "hpcprof/database/database-files.h"
#include "hpcprof/database/v4-file.h"

#include "lib/long-text.h"
#include "lib/sanitized-text.h"

#include <stdlib.h>
#include <string.h>

/* The one transitive scope has bit 0 of a context's propagation mask; the other scopes have no
 * bit. */
static const enum v4_scope_type scope_types[PROPAGATIONS] = {
    [PROPAGATE_POINT] = V4_POINT,
    [PROPAGATE_FUNCTION] = V4_TRANSITIVE,
    [PROPAGATE_LEX_AWARE] = V4_CUSTOM,
    [PROPAGATE_EXECUTION] = V4_EXECUTION,
};

static const char *const entry_names[] = {
    [V4_UNKNOWN_ENTRY] = "unknown entry",
    [V4_MAIN_THREAD] = "main thread",
    [V4_APPLICATION_THREAD] = "<thread root>",
};

struct meta {
    struct file_writer file;
    struct v4_section sections[V4_META_SECTIONS];
    const struct meta_texts *texts;
    const struct numbered_contexts *contexts;
    const struct metric_table *metrics;
    char **metric_names; /* that fit */
    const struct executables *executables;
    struct strtab strings;                       /* of the common string table */
    uint64_t *string_at;                         /* by id */
    uint64_t modules_at, files_at, functions_at; /* first elements of their tables */
};

/* Zeroes a structure as a whole before its fields are set, so that its padding is zero in the
 * file. */
#define ZERO(structure) memset(&(structure), 0, sizeof(structure))

static void start_section(struct meta *meta, enum v4_meta_section section)
{
    meta->sections[section].at = file_align(&meta->file, 8);
}

static void end_section(struct meta *meta, enum v4_meta_section section)
{
    meta->sections[section].size = meta->file.offset - meta->sections[section].at;
}

/* A text as meta.db has it: UTF-8, and no longer than readers take. What is measured can have names and
 * paths of any bytes. The caller frees. */
static char *fit(const char *text)
{
    return shortened_text(utf8_repaired(text));
}

static void write_general(struct meta *meta)
{
    start_section(meta, V4_META_GENERAL);
    char *title = fit(meta->texts->title), *description = fit(meta->texts->description);
    const struct v4_general general = {
        .title = meta->file.offset + sizeof general,
        .description = meta->file.offset + sizeof general + strlen(title) + 1,
    };
    file_write(&meta->file, &general, sizeof general);
    file_write_string(&meta->file, title);
    file_write_string(&meta->file, description);
    free(title);
    free(description);
    end_section(meta, V4_META_GENERAL);
}

static void write_id_names(struct meta *meta)
{
    start_section(meta, V4_META_ID_NAMES);
    struct v4_id_names head;
    ZERO(head);
    head.names = meta->file.offset + sizeof head;
    head.n_kinds = ID_KINDS;
    file_write(&meta->file, &head, sizeof head);
    uint64_t at = head.names + ID_KINDS * sizeof at;
    for (unsigned kind = 0; kind < ID_KINDS; kind++) {
        file_write(&meta->file, &at, sizeof at);
        at += strlen(id_kind_names[kind]) + 1;
    }
    for (unsigned kind = 0; kind < ID_KINDS; kind++)
        file_write_string(&meta->file, id_kind_names[kind]);
    end_section(meta, V4_META_ID_NAMES);
}

/* ---- metrics ---- */

#define SUM_FORMULA     "$$"
#define SQUARES_FORMULA "$$^2"

/* Offsets of the parts of the metrics section. */
struct metrics_layout {
    uint64_t scopes, metrics, instances, summaries, formula, scope_names, metric_names;
    enum stored_statistic stored[STORED_STATISTICS]; /* besides the sums */
    size_t n_stored;
};

/* Number of summary statistics of a metric. */
static size_t n_summaries(const struct metrics_layout *layout)
{
    return PROPAGATIONS * (1 + layout->n_stored);
}

static struct metrics_layout lay_out_metrics(uint64_t at, const struct metric_table *table)
{
    struct metrics_layout layout;
    size_t metrics = table->all.n;
    layout.n_stored = statistics_stored(table->statistics, layout.stored);
    layout.scopes = at + sizeof(struct v4_metrics);
    layout.metrics = layout.scopes + PROPAGATIONS * sizeof(struct v4_scope);
    layout.instances = layout.metrics + metrics * sizeof(struct v4_metric);
    layout.summaries = layout.instances + metrics * PROPAGATIONS * sizeof(struct v4_scope_instance);
    layout.formula = layout.summaries + metrics * n_summaries(&layout) * sizeof(struct v4_summary);
    layout.scope_names = layout.formula + sizeof SUM_FORMULA + sizeof SQUARES_FORMULA;
    layout.metric_names = layout.scope_names;
    for (unsigned scope = 0; scope < PROPAGATIONS; scope++)
        layout.metric_names += strlen(propagation_names[scope]) + 1;
    return layout;
}

static void write_scopes(struct meta *meta, const struct metrics_layout *layout)
{
    uint64_t name = layout->scope_names;
    for (unsigned scope = 0; scope < PROPAGATIONS; scope++) {
        struct v4_scope described;
        ZERO(described);
        described.name = name;
        described.type = (uint8_t)scope_types[scope];
        file_write(&meta->file, &described, sizeof described);
        name += strlen(propagation_names[scope]) + 1;
    }
}

static void write_metric_records(struct meta *meta, const struct metrics_layout *layout)
{
    uint64_t name = layout->metric_names;
    for (size_t i = 0; i < meta->metrics->all.n; i++) {
        struct v4_metric metric;
        ZERO(metric);
        metric.name = name;
        metric.scope_instances =
            layout->instances + i * PROPAGATIONS * sizeof(struct v4_scope_instance);
        metric.summaries = layout->summaries + i * n_summaries(layout) * sizeof(struct v4_summary);
        metric.n_scope_instances = PROPAGATIONS;
        metric.n_summaries = (uint16_t)n_summaries(layout);
        file_write(&meta->file, &metric, sizeof metric);
        name += strlen(meta->metric_names[i]) + 1;
    }
}

static void write_instances(struct meta *meta, const struct metrics_layout *layout)
{
    for (size_t id = 0; id < meta->metrics->all.n * PROPAGATIONS; id++) {
        struct v4_scope_instance instance;
        ZERO(instance);
        instance.scope = layout->scopes + id % PROPAGATIONS * sizeof(struct v4_scope);
        instance.metric_id = (uint16_t)id;
        file_write(&meta->file, &instance, sizeof instance);
    }
}

static void write_summary(struct meta *meta, const struct metrics_layout *layout, size_t id,
                          enum v4_combine combine, bool is_squared)
{
    struct v4_summary summary;
    ZERO(summary);
    summary.scope = layout->scopes + id % PROPAGATIONS * sizeof(struct v4_scope);
    summary.formula = layout->formula + (is_squared ? sizeof SUM_FORMULA : 0);
    summary.combine = (uint8_t)combine;
    summary.metric_id = (uint16_t)id;
    file_write(&meta->file, &summary, sizeof summary);
}

/* Stored statistic number s has the ids of the sums + (s + 1) * number of these. */
static void write_summaries(struct meta *meta, const struct metrics_layout *layout)
{
    static const enum v4_combine combines[STORED_STATISTICS] = {
        [STORED_SQUARES] = V4_SUM, [STORED_MIN] = V4_MIN, [STORED_MAX] = V4_MAX};
    size_t n = meta->metrics->all.n * PROPAGATIONS;
    for (size_t first = 0; first < n; first += PROPAGATIONS) {
        for (size_t id = first; id < first + PROPAGATIONS; id++)
            write_summary(meta, layout, id, V4_SUM, false);
        for (size_t s = 0; s < layout->n_stored; s++)
            for (size_t id = first; id < first + PROPAGATIONS; id++)
                write_summary(meta, layout, id + (s + 1) * n, combines[layout->stored[s]],
                              layout->stored[s] == STORED_SQUARES);
    }
}

static void fit_metric_names(struct meta *meta)
{
    size_t n = meta->metrics->all.n;
    meta->metric_names = mem_alloc(n * sizeof *meta->metric_names);
    for (size_t i = 0; i < n; i++)
        meta->metric_names[i] = fit(meta->metrics->all.at[i].name);
}

static void free_metric_names(struct meta *meta)
{
    for (size_t i = 0; i < meta->metrics->all.n; i++)
        free(meta->metric_names[i]);
    free(meta->metric_names);
}

static void write_metrics(struct meta *meta)
{
    fit_metric_names(meta);
    start_section(meta, V4_META_METRICS);
    size_t count = meta->metrics->all.n;
    const struct metrics_layout layout = lay_out_metrics(meta->file.offset, meta->metrics);
    struct v4_metrics head;
    ZERO(head);
    head.metrics = layout.metrics;
    head.n_metrics = (uint32_t)count;
    head.metric_size = sizeof(struct v4_metric);
    head.scope_instance_size = sizeof(struct v4_scope_instance);
    head.summary_size = sizeof(struct v4_summary);
    head.scopes = layout.scopes;
    head.n_scopes = PROPAGATIONS;
    head.scope_size = sizeof(struct v4_scope);
    file_write(&meta->file, &head, sizeof head);
    write_scopes(meta, &layout);
    write_metric_records(meta, &layout);
    write_instances(meta, &layout);
    write_summaries(meta, &layout);
    file_write_string(&meta->file, SUM_FORMULA);
    file_write_string(&meta->file, SQUARES_FORMULA);
    for (unsigned scope = 0; scope < PROPAGATIONS; scope++)
        file_write_string(&meta->file, propagation_names[scope]);
    for (size_t i = 0; i < count; i++)
        file_write_string(&meta->file, meta->metric_names[i]);
    free_metric_names(meta);
    end_section(meta, V4_META_METRICS);
}

/* ---- strings, modules, files, functions ---- */

/* The ids of the first child and of the next sibling; end[parent] if there is none. */
static uint32_t first_child(uint32_t id)
{
    return id + 1;
}

static uint32_t next_sibling(const struct numbered_contexts *contexts, uint32_t id)
{
    return contexts->end[id];
}

/* The id of a text in the string table. */
static uint32_t string_id(struct meta *meta, const char *text)
{
    autofree char *name = fit(text);
    return strtab_id(&meta->strings, name);
}

/* The name of an entry point: "main thread"; "main thread of make" if there are several
 * executables. */
static uint32_t entry_string(struct meta *meta, const struct context *entry)
{
    const char *executable = executables_entry_name(meta->executables, (uint32_t)entry->detail);
    char *name = mem_printf("%s%s%s", entry_names[entry->name], executable ? V4_ENTRY_OF : "",
                            executable ? executable : "");
    uint32_t id = string_id(meta, name);
    free(name);
    return id;
}

/* The path of a file in the database: that of its copy, else the recorded one. */
static char *file_path(const struct meta *meta, uint32_t file)
{
    const char *copy = meta->texts->copies[file];
    if (copy[0] != '\0')
        return mem_printf("%s%s", meta->texts->copies_prefix, copy);
    return mem_strdup(strtab_string(&meta->contexts->symbols->files, file));
}

static uint32_t file_string(struct meta *meta, uint32_t file)
{
    autofree char *path = file_path(meta, file);
    return string_id(meta, path);
}

static void write_strings(struct meta *meta)
{
    const struct numbered_contexts *contexts = meta->contexts;
    const struct symbol_table *symbols = contexts->symbols;
    for (uint32_t id = first_child(CONTEXT_ROOT); id < contexts->n; id = next_sibling(contexts, id))
        entry_string(meta, &contexts->at[id]);
    for (size_t i = 0; i < contexts->modules.ids.n; i++)
        string_id(meta, symbols->measurements->modules.all.at[contexts->modules.ids.at[i]].path);
    for (size_t i = 0; i < contexts->files.ids.n; i++)
        file_string(meta, contexts->files.ids.at[i]);
    for (size_t i = 0; i < contexts->functions.ids.n; i++)
        string_id(meta, symbols->functions.at[contexts->functions.ids.at[i]].name);
    start_section(meta, V4_META_STRINGS);
    meta->string_at = mem_alloc(meta->strings.count * sizeof *meta->string_at);
    for (uint32_t i = 0; i < meta->strings.count; i++) {
        meta->string_at[i] = meta->file.offset;
        file_write_string(&meta->file, strtab_string(&meta->strings, i));
    }
    end_section(meta, V4_META_STRINGS);
}

static uint64_t string_at(struct meta *meta, const char *text)
{
    return meta->string_at[string_id(meta, text)];
}

/* Writes the head of a table whose items follow; returns their offset. */
static uint64_t write_table_head(struct meta *meta, size_t count, size_t item_size)
{
    struct v4_table head;
    ZERO(head);
    head.items = meta->file.offset + sizeof head;
    head.n_items = (uint32_t)count;
    head.item_size = (uint16_t)item_size;
    file_write(&meta->file, &head, sizeof head);
    return head.items;
}

static void write_modules(struct meta *meta)
{
    const struct numbered_contexts *contexts = meta->contexts;
    start_section(meta, V4_META_MODULES);
    meta->modules_at = write_table_head(meta, contexts->modules.ids.n, sizeof(struct v4_module));
    for (size_t i = 0; i < contexts->modules.ids.n; i++) {
        struct v4_module module;
        ZERO(module);
        uint32_t id = contexts->modules.ids.at[i];
        module.path = string_at(meta, contexts->symbols->measurements->modules.all.at[id].path);
        file_write(&meta->file, &module, sizeof module);
    }
    end_section(meta, V4_META_MODULES);
}

static void write_files(struct meta *meta)
{
    const struct numbered_contexts *contexts = meta->contexts;
    start_section(meta, V4_META_FILES);
    meta->files_at = write_table_head(meta, contexts->files.ids.n, sizeof(struct v4_file));
    for (size_t i = 0; i < contexts->files.ids.n; i++) {
        struct v4_file file;
        ZERO(file);
        uint32_t id = contexts->files.ids.at[i];
        file.flags = meta->texts->copies[id][0] != '\0' ? V4_FILE_COPIED : 0;
        file.path = meta->string_at[file_string(meta, id)];
        file_write(&meta->file, &file, sizeof file);
    }
    end_section(meta, V4_META_FILES);
}

static uint64_t file_at(const struct meta *meta, uint32_t id)
{
    return meta->files_at + meta->contexts->files.rank_of[id] * sizeof(struct v4_file);
}

static uint64_t module_at(const struct meta *meta, uint32_t id)
{
    return meta->modules_at + meta->contexts->modules.rank_of[id] * sizeof(struct v4_module);
}

static void write_functions(struct meta *meta)
{
    const struct numbered_contexts *contexts = meta->contexts;
    start_section(meta, V4_META_FUNCTIONS);
    meta->functions_at =
        write_table_head(meta, contexts->functions.ids.n, sizeof(struct v4_function));
    for (size_t i = 0; i < contexts->functions.ids.n; i++) {
        const struct function *from =
            &contexts->symbols->functions.at[contexts->functions.ids.at[i]];
        struct v4_function function;
        ZERO(function);
        function.name = string_at(meta, from->name);
        if (from->module != NO_SYMBOL) {
            function.module = module_at(meta, from->module);
            function.offset = from->entry;
        }
        if (from->file != NO_SYMBOL) {
            function.file = file_at(meta, from->file);
            function.line = from->line;
        }
        file_write(&meta->file, &function, sizeof function);
    }
    end_section(meta, V4_META_FUNCTIONS);
}

/* ---- contexts ---- */

static size_t context_size(const struct context *context)
{
    size_t words = context_is_function(context) ? 1 : 2;
    return sizeof(struct v4_context) + 8 * words;
}

/* Returns, by context, the offset of its children: they lie in the order of their parents, from
 * `at` on. The children of context 0 are entry points and lie elsewhere. The caller frees. */
static uint64_t *place_children(const struct numbered_contexts *contexts, uint64_t at)
{
    uint64_t *children_at = mem_alloc((contexts->n + 1) * sizeof *children_at);
    for (uint32_t id = 1; id < contexts->n; id++) {
        children_at[id] = at;
        for (uint32_t child = first_child(id); child < contexts->end[id];
             child = next_sibling(contexts, child))
            at += context_size(&contexts->at[child]);
    }
    children_at[contexts->n] = at;
    return children_at;
}

static void write_context(struct meta *meta, uint32_t id, const uint64_t *children_at)
{
    const struct context *context = &meta->contexts->at[id];
    struct {
        struct v4_context fixed;
        uint64_t flex[2];
    } record;
    ZERO(record);
    record.fixed.children_size = children_at[id + 1] - children_at[id];
    record.fixed.children = record.fixed.children_size ? children_at[id] : 0;
    record.fixed.context_id = id;
    record.fixed.n_flex_words = 2;
    record.fixed.relation = V4_LEXICAL;
    record.fixed.propagation = 1;
    switch (context->kind) {
    case CONTEXT_CALL:
    case CONTEXT_INLINED:
        record.fixed.n_flex_words = 1;
        record.fixed.flags = V4_HAS_FUNCTION;
        record.fixed.relation = context->kind == CONTEXT_CALL ? V4_CALL : V4_INLINED_CALL;
        record.fixed.propagation = 0;
        record.fixed.lexical_type = V4_FUNCTION;
        record.flex[0] = meta->functions_at + meta->contexts->functions.rank_of[context->name] *
                                                  sizeof(struct v4_function);
        break;
    case CONTEXT_LOOP_AT:
        record.fixed.flags = V4_HAS_POINT;
        record.fixed.lexical_type = V4_LOOP;
        record.flex[0] = module_at(meta, context->name);
        record.flex[1] = context->detail;
        break;
    default:
        record.fixed.flags = V4_HAS_LOCATION;
        record.fixed.lexical_type = context->kind == CONTEXT_LOOP ? V4_LOOP : V4_LINE;
        record.flex[0] = file_at(meta, context->name);
        record.flex[1] = context->detail;
    }
    file_write(&meta->file, &record, context_size(context));
}

static void write_entries(struct meta *meta, const uint64_t *children_at)
{
    const struct numbered_contexts *contexts = meta->contexts;
    for (uint32_t id = first_child(CONTEXT_ROOT); id < contexts->n;
         id = next_sibling(contexts, id)) {
        uint32_t kind = contexts->at[id].name;
        struct v4_entry entry;
        ZERO(entry);
        entry.children_size = children_at[id + 1] - children_at[id];
        entry.children = entry.children_size ? children_at[id] : 0;
        entry.context_id = id;
        entry.kind = (uint16_t)kind;
        entry.name = meta->string_at[entry_string(meta, &contexts->at[id])];
        file_write(&meta->file, &entry, sizeof entry);
    }
}

static void write_contexts(struct meta *meta)
{
    const struct numbered_contexts *contexts = meta->contexts;
    size_t entries = 0;
    for (uint32_t id = first_child(CONTEXT_ROOT); id < contexts->n; id = next_sibling(contexts, id))
        entries++;
    start_section(meta, V4_META_CONTEXTS);
    struct v4_context_tree head;
    ZERO(head);
    head.entries = entries ? meta->file.offset + sizeof head : 0;
    head.n_entries = (uint16_t)entries;
    head.entry_size = sizeof(struct v4_entry);
    file_write(&meta->file, &head, sizeof head);
    uint64_t *children_at =
        place_children(contexts, meta->file.offset + entries * sizeof(struct v4_entry));
    write_entries(meta, children_at);
    for (uint32_t id = 1; id < contexts->n; id++)
        for (uint32_t child = first_child(id); child < contexts->end[id];
             child = next_sibling(contexts, child))
            write_context(meta, child, children_at);
    free(children_at);
    end_section(meta, V4_META_CONTEXTS);
}

void meta_db_write(const char *path, const struct meta_texts *texts,
                   const struct numbered_contexts *contexts, const struct analysis *analysis)
{
    struct meta meta = {
        .texts = texts,
        .contexts = contexts,
        .metrics = analysis->metrics,
        .executables = analysis->executables,
    };
    v4_create(&meta.file, path, V4_META_FORMAT, V4_META_SECTIONS);
    write_general(&meta);
    write_id_names(&meta);
    write_metrics(&meta);
    write_strings(&meta);
    write_modules(&meta);
    write_files(&meta);
    write_functions(&meta);
    write_contexts(&meta);
    strtab_free(&meta.strings);
    free(meta.string_at);
    v4_close(&meta.file, V4_META_FOOTER, meta.sections, V4_META_SECTIONS);
}

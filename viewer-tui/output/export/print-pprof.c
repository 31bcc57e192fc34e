/* Stacks (export-stacks.h) as a profile for pprof, https://github.com/google/pprof: profile.proto,
 * gzipped, with a type of values per shown metric, of a comparison for either run. Locations have the line of the
 * call if it is known.
 *
 * A stack of pprof begins with the innermost frame, as in the bottom-up view; stacks of other views
 * are reversed. */
#include "viewer-tui/output/export/export-stacks.h"

#include "lib/gzip.h"
#include "lib/hash-tables.h"
#include "viewer-tui/tree/labels.h"

#include <string.h>

/* ---- Messages of Protocol Buffers, built in memory ---- */

static void protobuf_varint(struct text *message, uint64_t value)
{
    char bytes[10];
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[n++] = (char)(value | 0x80);
    bytes[n++] = (char)value;
    text_add_bytes(message, bytes, n);
}

/* Adds a number; 0 is left out, since it is the value of an absent field. */
static void protobuf_number(struct text *message, unsigned field, uint64_t value)
{
    if (value == 0)
        return;
    protobuf_varint(message, (uint64_t)field << 3);
    protobuf_varint(message, value);
}

/* Adds a string, a message or a packed list of numbers. */
static void protobuf_bytes(struct text *message, unsigned field, const char *bytes, size_t size)
{
    protobuf_varint(message, (uint64_t)field << 3 | 2);
    protobuf_varint(message, size);
    text_add_bytes(message, bytes, size);
}

/* ---- The profile ---- */

/* Fields of the messages in profile.proto. */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING_TABLE = 6,
    PROFILE_DEFAULT_SAMPLE_TYPE = 14,
    VALUE_TYPE_TYPE = 1,
    VALUE_TYPE_UNIT = 2,
    SAMPLE_LOCATION_ID = 1,
    SAMPLE_VALUE = 2,
    MAPPING_ID = 1,
    MAPPING_FILENAME = 5,
    MAPPING_HAS_FUNCTIONS = 7,
    MAPPING_HAS_FILENAMES = 8,
    MAPPING_HAS_LINE_NUMBERS = 9,
    MAPPING_HAS_INLINE_FRAMES = 10,
    LOCATION_ID = 1,
    LOCATION_MAPPING_ID = 2,
    LOCATION_LINE = 4,
    LINE_FUNCTION_ID = 1,
    LINE_LINE = 2,
    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_SYSTEM_NAME = 3,
    FUNCTION_FILENAME = 4,
    FUNCTION_START_LINE = 5
};

struct pprof {
    struct export export;
    struct gzip gzip;
    struct text message, part, name;
    struct strtab strings;
    struct idmap mappings, locations; /* ids from 1; the id of a function is its index + 1 */
    uint32_t n_functions;
};

static void write_field(struct pprof *pprof, unsigned field, const struct text *message)
{
    autofree struct text framed = {0};
    protobuf_bytes(&framed, field, text_string(message), message->n);
    gzip_write(&pprof->gzip, framed.at, framed.n);
}

/* Writes the current message and empties it. */
static void write_message(struct pprof *pprof, unsigned field)
{
    write_field(pprof, field, &pprof->message);
    text_clear(&pprof->message);
}

static uint32_t string(struct pprof *pprof, const char *text)
{
    return strtab_id(&pprof->strings, text ? text : "");
}

/* The same for any text: pprof requires UTF-8. */
static uint32_t clean_string(struct pprof *pprof, const char *text)
{
    text_clear(&pprof->name);
    text_add_clean(&pprof->name, text ? text : "", false);
    return string(pprof, text_string(&pprof->name));
}

/* The id of a row's module, which is written if it is new; 0 if it is unknown. */
static uint32_t mapping_of(struct pprof *pprof, uint32_t row)
{
    const char *path = label_module_path(pprof->export.tree->view, row);
    if (!path)
        return 0;
    uint32_t name = clean_string(pprof, path), next = (uint32_t)pprof->mappings.count + 1;
    uint32_t id = idmap_number(&pprof->mappings, name, 0, next);
    if (id < next)
        return id;
    struct text *message = &pprof->message;
    protobuf_number(message, MAPPING_ID, id);
    protobuf_number(message, MAPPING_FILENAME, name);
    /* pprof need not look for symbols. */
    for (unsigned field = MAPPING_HAS_FUNCTIONS; field <= MAPPING_HAS_INLINE_FRAMES; field++)
        protobuf_number(message, field, 1);
    write_message(pprof, PROFILE_MAPPING);
    return id;
}

/* The id of the location of the i-th frame, which is written if it is new. */
static uint32_t location_of(struct pprof *pprof, size_t i)
{
    const struct export_frame *frame = &pprof->export.stack.at[i];
    uint32_t function = frame->function + 1, mapping = mapping_of(pprof, frame->row);
    /* The line of the call of the next inner frame. Bottom-up, rows have the line where they call the row above. */
    size_t of_call = pprof->export.tree->view->class->shows_callers ? i : i + 1;
    uint32_t row = of_call < pprof->export.stack.n ? pprof->export.stack.at[of_call].row : 0;
    uint32_t line = view_row(pprof->export.tree->view, row)->call_line;
    uint64_t where = (uint64_t)function << 32 | mapping;
    uint32_t next = (uint32_t)pprof->locations.count + 1, id = idmap_number(&pprof->locations, where, line, next);
    if (id < next)
        return id;
    struct text *message = &pprof->message, *part = &pprof->part;
    text_clear(part);
    protobuf_number(part, LINE_FUNCTION_ID, function);
    protobuf_number(part, LINE_LINE, line);
    protobuf_number(message, LOCATION_ID, id);
    protobuf_number(message, LOCATION_MAPPING_ID, mapping);
    protobuf_bytes(message, LOCATION_LINE, text_string(part), part->n);
    write_message(pprof, PROFILE_LOCATION);
    return id;
}

/* Writes the function and module of a new frame. */
static void enter(struct export *export)
{
    struct pprof *pprof = (struct pprof *)export;
    const struct export_frame *frame = &export->stack.at[export->stack.n - 1];
    if (frame->function == pprof->n_functions) {
        const struct export_function *function = &export->functions.at[pprof->n_functions++];
        struct text *message = &pprof->message;
        uint32_t name = string(pprof, function->name);
        protobuf_number(message, FUNCTION_ID, pprof->n_functions);
        protobuf_number(message, FUNCTION_NAME, name);
        protobuf_number(message, FUNCTION_SYSTEM_NAME, name);
        protobuf_number(message, FUNCTION_FILENAME, clean_string(pprof, function->file));
        protobuf_number(message, FUNCTION_START_LINE, function->line);
        write_message(pprof, PROFILE_FUNCTION);
    }
    mapping_of(pprof, frame->row);
}

/* Writes a sample. */
static void leave(struct export *export, const double *own)
{
    struct pprof *pprof = (struct pprof *)export;
    bool callers_last = export->tree->view->class->shows_callers;
    autofree struct text locations = {0}, values = {0};
    autofree double *rounded = mem_alloc((export->metrics.n + 1) * sizeof *rounded);
    bool is_sample = export_round(export, own, rounded);
    for (size_t i = 0; i < export->stack.n && is_sample; i++)
        protobuf_varint(&locations, location_of(pprof, callers_last ? i : export->stack.n - 1 - i));
    for (size_t i = 0; i < export->metrics.n && is_sample; i++)
        protobuf_varint(&values, (uint64_t)rounded[i]);
    if (is_sample) {
        protobuf_bytes(&pprof->message, SAMPLE_LOCATION_ID, locations.at, locations.n);
        protobuf_bytes(&pprof->message, SAMPLE_VALUE, values.at, values.n);
        write_message(pprof, PROFILE_SAMPLE);
    }
}

/* Whether a metric has values in the profile: it is shown, or rows are sorted by it; of a comparison by any of its
 * columns, of which those of the runs add up. */
static bool has_values(const struct tree *tree, size_t m)
{
    const struct metric *metric = &tree->view->metrics->at[m];
    const struct metric *sorted = &tree->view->metrics->at[tree->view->sorting.metric];
    bool is_sorted = metric == sorted || (metric_is_compared(metric) && metric_is_compared(sorted) &&
                                          metric->compared.sides[0] == sorted->compared.sides[0]);
    bool is_shown = is_sorted || !tree->columns;
    for (size_t i = 0; !is_shown && i < tree->columns->n; i++)
        is_shown = tree->columns->at[i].metric == m;
    if (metric_is_compared(metric) && metric->compared.sides[0] != m && metric->compared.sides[1] != m)
        return false;
    return is_shown && metric_is_measured(metric) && metric_is_additive(metric);
}

/* Writes the types of values; pprof shows the default type first. */
static void write_types(struct pprof *pprof, const struct tree *tree)
{
    const struct view *view = tree->view;
    const struct metrics *metrics = view->metrics;
    struct text *message = &pprof->message;
    metrics_each (m, metrics, metrics_shown) {
        const struct metric *metric = &metrics->at[m];
        if (!has_values(tree, m))
            continue;
        vec_push(&pprof->export.metrics, m);
        bool is_time = export_factor(&pprof->export, pprof->export.metrics.n - 1) > 1;
        protobuf_number(message, VALUE_TYPE_TYPE, clean_string(pprof, metric->name));
        protobuf_number(message, VALUE_TYPE_UNIT,
                        clean_string(pprof, is_time ? "nanoseconds" : metric->unit));
        write_message(pprof, PROFILE_SAMPLE_TYPE);
    }
    const struct metric *shown = &metrics->at[view->sorting.metric];
    if (metric_is_compared(shown))
        shown = &metrics->at[shown->compared.sides[1]];
    protobuf_number(message, PROFILE_DEFAULT_SAMPLE_TYPE, clean_string(pprof, shown->name));
    gzip_write(&pprof->gzip, text_string(message), message->n);
    text_clear(message);
}

void print_tree_pprof(const struct tree *tree)
{
    struct pprof pprof = {.export = {.tree = tree, .enter = enter, .leave = leave}};
    gzip_start(&pprof.gzip, tree->out);
    string(&pprof, ""); /* number 0 */
    write_types(&pprof, tree);
    export_walk(&pprof.export);
    for (size_t i = 0; i < pprof.strings.count; i++) {
        text_clear(&pprof.part);
        text_add(&pprof.part, strtab_string(&pprof.strings, (uint32_t)i));
        write_field(&pprof, PROFILE_STRING_TABLE, &pprof.part);
    }
    gzip_finish(&pprof.gzip);
    export_free(&pprof.export);
    strtab_free(&pprof.strings);
    idmap_free(&pprof.mappings);
    idmap_free(&pprof.locations);
    vec_free(&pprof.message);
    vec_free(&pprof.part);
    vec_free(&pprof.name);
}

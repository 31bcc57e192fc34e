/* Stacks (export-stacks.h) as a profile for pprof, https://github.com/google/pprof: profile.proto,
 * gzipped, with a type of values per shown metric. Locations have the line of the call if it is
 * known.
 *
 * A stack of pprof begins with the innermost frame, as in the bottom-up view; stacks of other views
 * are reversed. */
#include "viewer-tui/output/export/export-stacks.h"

#include "lib/hash-tables.h"
#include "viewer-tui/output/export/gzip.h"
#include "viewer-tui/output/export/protobuf.h"
#include "viewer-tui/tree/label.h"

#include <math.h>
#include <stdlib.h>

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

/* A frame of the stack. */
struct frame {
    uint32_t function, mapping;
    uint32_t call_line; /* of the call of the row */
};

struct printing {
    struct gzip gzip;
    struct text message, part, name;
    struct strtab strings;
    struct idmap functions, mappings, locations; /* ids from 1 */
    uint32_t n_functions, n_mappings, n_locations;
    bool callers_last;
    VEC(struct frame) stack;
    VEC(size_t) metrics;
    VEC(double) factors;
};

static void write_field(struct printing *printing, unsigned field, const struct text *message)
{
    struct text framed = {0};
    protobuf_bytes(&framed, field, text_string(message), message->n);
    gzip_write(&printing->gzip, framed.at, framed.n);
    vec_free(&framed);
}

/* Writes the current message and empties it. */
static void write_message(struct printing *printing, unsigned field)
{
    write_field(printing, field, &printing->message);
    text_clear(&printing->message);
}

/* The number of a key, counted from 1; *is_new says whether the key is new. */
static uint32_t number_of(struct idmap *map, uint64_t a, uint64_t b, uint32_t *count, bool *is_new)
{
    uint32_t number = idmap_get(map, a, b);
    *is_new = number == IDMAP_NONE;
    if (*is_new) {
        number = ++*count;
        idmap_put(map, a, b, number);
    }
    return number;
}

static uint32_t string(struct printing *printing, const char *text)
{
    return strtab_id(&printing->strings, text ? text : "");
}

/* The same for any text: pprof requires UTF-8. */
static uint32_t clean_string(struct printing *printing, const char *text)
{
    text_clear(&printing->name);
    text_add_clean(&printing->name, text ? text : "", false);
    return string(printing, text_string(&printing->name));
}

static uint32_t function_of(struct printing *printing, const struct view *view, uint32_t number)
{
    const struct row *row = view_row(view, number);
    bool is_new;
    uint32_t kind = row->kind == KIND_INLINED ? KIND_PROCEDURE : row->kind;
    uint32_t id =
        number_of(&printing->functions, kind, row->place, &printing->n_functions, &is_new);
    if (!is_new)
        return id;
    uint32_t file, line;
    label_place(view, number, &file, &line);
    text_clear(&printing->name);
    stacks_name(view, number, &printing->name);
    uint32_t name = string(printing, text_string(&printing->name));
    struct text *message = &printing->message;
    protobuf_number(message, FUNCTION_ID, id);
    protobuf_number(message, FUNCTION_NAME, name);
    protobuf_number(message, FUNCTION_SYSTEM_NAME, name);
    protobuf_number(message, FUNCTION_FILENAME,
                    clean_string(printing, database_file_path(view->db, file)));
    protobuf_number(message, FUNCTION_START_LINE, line);
    write_message(printing, PROFILE_FUNCTION);
    return id;
}

/* 0 if the module is unknown. */
static uint32_t mapping_of(struct printing *printing, const struct view *view, uint32_t number)
{
    bool is_new;
    uint32_t module = label_module(view, number);
    const char *path = database_module_path(view->db, module);
    if (!path)
        return 0;
    uint32_t id = number_of(&printing->mappings, module, 0, &printing->n_mappings, &is_new);
    if (!is_new)
        return id;
    struct text *message = &printing->message;
    protobuf_number(message, MAPPING_ID, id);
    protobuf_number(message, MAPPING_FILENAME, clean_string(printing, path));
    /* pprof need not look for symbols. */
    for (unsigned field = MAPPING_HAS_FUNCTIONS; field <= MAPPING_HAS_INLINE_FRAMES; field++)
        protobuf_number(message, field, 1);
    write_message(printing, PROFILE_MAPPING);
    return id;
}

static uint32_t location_of(struct printing *printing, const struct frame *frame, uint32_t line)
{
    bool is_new;
    uint64_t where = (uint64_t)frame->function << 32 | frame->mapping;
    uint32_t id = number_of(&printing->locations, where, line, &printing->n_locations, &is_new);
    if (!is_new)
        return id;
    struct text *message = &printing->message, *part = &printing->part;
    text_clear(part);
    protobuf_number(part, LINE_FUNCTION_ID, frame->function);
    protobuf_number(part, LINE_LINE, line);
    protobuf_number(message, LOCATION_ID, id);
    protobuf_number(message, LOCATION_MAPPING_ID, frame->mapping);
    protobuf_bytes(message, LOCATION_LINE, text_string(part), part->n);
    write_message(printing, PROFILE_LOCATION);
    return id;
}

static void enter(void *context, const struct view *view, uint32_t number)
{
    struct printing *printing = context;
    struct frame frame = {.function = function_of(printing, view, number),
                          .mapping = mapping_of(printing, view, number),
                          .call_line = view_row(view, number)->call_line};
    vec_push(&printing->stack, frame);
}

/* The line of the i-th frame: that of the call of the next inner frame. Bottom-up, rows have the
 * line where they call the row above. */
static uint32_t line_in(const struct printing *printing, size_t i)
{
    if (printing->callers_last)
        return printing->stack.at[i].call_line;
    return i + 1 < printing->stack.n ? printing->stack.at[i + 1].call_line : 0;
}

static void write_sample(struct printing *printing, const double *own)
{
    struct text locations = {0}, values = {0};
    size_t n = printing->stack.n;
    for (size_t i = 0; i < n; i++) {
        size_t at = printing->callers_last ? i : n - 1 - i;
        const struct frame *frame = &printing->stack.at[at];
        protobuf_varint(&locations, location_of(printing, frame, line_in(printing, at)));
    }
    for (size_t i = 0; i < printing->metrics.n; i++)
        protobuf_varint(&values, (uint64_t)round(own[i] * printing->factors.at[i]));
    protobuf_bytes(&printing->message, SAMPLE_LOCATION_ID, locations.at, locations.n);
    protobuf_bytes(&printing->message, SAMPLE_VALUE, values.at, values.n);
    write_message(printing, PROFILE_SAMPLE);
    vec_free(&locations);
    vec_free(&values);
}

static void leave(void *context, const struct view *view, uint32_t row, const double *own)
{
    struct printing *printing = context;
    (void)view;
    (void)row;
    bool has_values = false;
    for (size_t i = 0; i < printing->metrics.n; i++)
        has_values |= round(own[i] * printing->factors.at[i]) > 0;
    if (has_values)
        write_sample(printing, own);
    printing->stack.n--;
}

/* Writes the types of values; pprof shows the default type first. */
static void write_types(struct printing *printing, const struct tree *tree)
{
    const struct view *view = tree->view;
    const struct metrics *metrics = view->metrics;
    struct text *message = &printing->message;
    for (size_t m = metrics_shown(metrics, 0); m < metrics->n; m = metrics_shown(metrics, m + 1)) {
        const struct metric *metric = &metrics->at[m];
        bool is_wanted = m == view->sorting.metric || tree_shows_metric(tree, m);
        if (!is_wanted || !metric_is_measured(metric) || !metric_is_additive(metric))
            continue;
        double factor = stacks_factor(metric);
        vec_push(&printing->metrics, m);
        vec_push(&printing->factors, factor);
        protobuf_number(message, VALUE_TYPE_TYPE, clean_string(printing, metric->name));
        protobuf_number(message, VALUE_TYPE_UNIT,
                        clean_string(printing, factor > 1 ? "nanoseconds" : metric->unit));
        write_message(printing, PROFILE_SAMPLE_TYPE);
    }
    protobuf_number(message, PROFILE_DEFAULT_SAMPLE_TYPE,
                    clean_string(printing, metrics->at[view->sorting.metric].name));
    gzip_write(&printing->gzip, text_string(message), message->n);
    text_clear(message);
}

static void write_strings(struct printing *printing)
{
    for (size_t i = 0; i < printing->strings.count; i++) {
        text_clear(&printing->part);
        text_add(&printing->part, strtab_string(&printing->strings, (uint32_t)i));
        write_field(printing, PROFILE_STRING_TABLE, &printing->part);
    }
}

void print_tree_pprof(const struct tree *tree)
{
    struct printing printing = {.callers_last = tree->view->class == &bottomup_class};
    struct stack_visitor visitor = {.enter = enter, .leave = leave, .context = &printing};
    gzip_start(&printing.gzip, tree->out);
    string(&printing, ""); /* number 0 */
    write_types(&printing, tree);
    stacks_walk(tree, printing.metrics.at, printing.metrics.n, &visitor);
    write_strings(&printing);
    gzip_finish(&printing.gzip);
    strtab_free(&printing.strings);
    idmap_free(&printing.functions);
    idmap_free(&printing.mappings);
    idmap_free(&printing.locations);
    vec_free(&printing.message);
    vec_free(&printing.part);
    vec_free(&printing.name);
    vec_free(&printing.stack);
    vec_free(&printing.metrics);
    vec_free(&printing.factors);
}

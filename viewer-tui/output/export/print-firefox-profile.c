/* A time line as a processed profile of the Firefox Profiler, https://profiler.firefox.com: version 60 of that format
 * (docs-developer/processed-profile-format.md of its repository), which later ones read. A sample for each record,
 * weighted by its time; states are categories, and but for working frames at the end of stacks. */
#include "viewer-tui/output/export/timeline-pieces.h"
#include "viewer-tui/output/print-timeline.h"

#include "viewer-tui/db/run.h"

#include <stdlib.h>

#define PROCESSED_VERSION 60
#define GECKO_VERSION     30

/* Phase of a marker that is an interval. */
#define INTERVAL_MARKER 1

/* No stack, or no prefix. */
#define NO_STACK IDMAP_NONE

/* A row of the table of stacks. Frames are procedures, by their ids, and after these states. */
struct stack_row {
    uint32_t frame, prefix;
};

struct sample_row {
    uint32_t stack;
    double time, weight; /* ms */
    double cpu;          /* us, since the sample before */
};

struct firefox_profile {
    struct timeline_lines *lines;
    struct json_writer json;
    struct idmap stacks; /* (node, state; 0: of the path alone) -> row */
    VEC(struct stack_row) rows;
    VEC(struct sample_row) samples; /* of the thread in the making */
    double end, length, cpu;        /* ns, of the last piece */
    node_path path;
};

static uint32_t n_procedures(const struct firefox_profile *profile)
{
    return database_n_procedures(profile->lines->open->scopes.db);
}

static uint32_t add_stack(struct firefox_profile *profile, uint32_t node, uint32_t state, uint32_t frame,
                          uint32_t prefix)
{
    uint32_t row = idmap_get(&profile->stacks, node, state);
    if (row == IDMAP_NONE) {
        idmap_put(&profile->stacks, node, state, row = (uint32_t)profile->rows.n);
        vec_push(&profile->rows, ((struct stack_row){frame, prefix}));
    }
    return row;
}

static uint32_t stack_of(struct firefox_profile *profile, const struct piece_of_time *piece)
{
    const struct place_scopes *scopes = &profile->lines->open->scopes;
    uint32_t stack = NO_STACK, node = 0;
    node_path_find(scopes, piece->node, &profile->path);
    for (size_t i = 0; i < profile->path.n; i++) {
        node = profile->path.at[i];
        stack = add_stack(profile, node, 0, scopes->nodes->place[node], stack);
    }
    if (piece->state == TRACE_WORK && node)
        return stack;
    return add_stack(profile, node, piece->state, n_procedures(profile) + piece->state, stack);
}

static void add_sample(struct firefox_profile *profile, uint32_t stack, double time, double weight)
{
    vec_push(&profile->samples, ((struct sample_row){stack, time * 1e-6, weight, profile->cpu * 1e-3}));
    profile->cpu = 0;
}

static void take(void *context, const struct piece_of_time *piece)
{
    struct firefox_profile *profile = context;
    if (profile->samples.n && !piece_continues(piece, profile->end, profile->length))
        add_sample(profile, NO_STACK, profile->end, 0);
    double weight = profile->lines->open->timeline->is_time ? piece->amount * 1e-6 : piece->amount;
    add_sample(profile, stack_of(profile, piece), piece->begin, weight);
    profile->cpu = piece->ran ? piece->amount : 0;
    profile->end = piece->end;
    profile->length = piece->end - piece->begin;
}

/* ---- tables: an array for each column ---- */

/* A column of `n` equal values; NULL: null. */
static void put_equal(struct json_writer *json, const char *key, size_t n, const char *text, int64_t number)
{
    json_put_array(json, key);
    for (size_t i = 0; i < n; i++)
        if (text)
            json_write_bool(json, *text == 't');
        else if (number == INT64_MIN)
            json_write_null(json);
        else
            json_write_integer(json, number);
    json_write_array_end(json);
}

static void put_numbers(struct json_writer *json, const char *key, size_t n)
{
    json_put_array(json, key);
    for (size_t i = 0; i < n; i++)
        json_write_integer(json, (int64_t)i);
    json_write_array_end(json);
}

static void write_stack_column(const struct firefox_profile *profile, struct json_writer *json, const char *key,
                               bool is_prefix)
{
    json_put_array(json, key);
    for (size_t i = 0; i < profile->rows.n; i++)
        if (is_prefix && profile->rows.at[i].prefix == NO_STACK)
            json_write_null(json);
        else
            json_write_integer(json, is_prefix ? profile->rows.at[i].prefix : profile->rows.at[i].frame);
    json_write_array_end(json);
}

static void write_stacks(const struct firefox_profile *profile, struct json_writer *json)
{
    json_put_object(json, "stackTable");
    write_stack_column(profile, json, "frame", false);
    write_stack_column(profile, json, "prefix", true);
    json_put_integer(json, "length", (int64_t)profile->rows.n);
    json_write_object_end(json);
}

/* Frames: a function each, with the category of its state. */
static void write_frames(struct json_writer *json, size_t n)
{
    json_put_object(json, "frameTable");
    put_equal(json, "address", n, NULL, -1);
    put_equal(json, "inlineDepth", n, NULL, 0);
    json_put_array(json, "category");
    for (size_t i = 0; i < n; i++)
        json_write_integer(json, i + TRACE_STATES < n ? (int)shown_state(TRACE_WORK)
                                                      : (int)shown_state((enum trace_state)(i + TRACE_STATES - n)));
    json_write_array_end(json);
    put_equal(json, "subcategory", n, NULL, 0);
    put_numbers(json, "func", n);
    static const char *const unknown[] = {"nativeSymbol", "innerWindowID", "line", "column"};
    for (size_t i = 0; i < 4; i++)
        put_equal(json, unknown[i], n, NULL, INT64_MIN);
    json_put_integer(json, "length", (int64_t)n);
    json_write_object_end(json);
}

/* Functions, named by the first strings; sources are the next ones. */
static void write_functions(const struct firefox_profile *profile, struct json_writer *json, size_t n)
{
    const struct database *db = profile->lines->open->scopes.db;
    json_put_object(json, "funcTable");
    put_numbers(json, "name", n);
    put_equal(json, "isJS", n, "f", 0);
    put_equal(json, "relevantForJS", n, "f", 0);
    put_equal(json, "resource", n, NULL, -1);
    for (int is_line = 0; is_line < 2; is_line++) {
        json_put_array(json, is_line ? "lineNumber" : "source");
        for (uint32_t i = 0; i < n; i++) {
            struct procedure of = {.file = NOTHING};
            if (i + TRACE_STATES < n)
                of = database_procedure(db, i);
            bool has_file = database_file_path(db, of.file) != NULL;
            if (has_file && (!is_line || of.line))
                json_write_integer(json, is_line ? of.line : of.file);
            else
                json_write_null(json);
        }
        json_write_array_end(json);
    }
    put_equal(json, "columnNumber", n, NULL, INT64_MIN);
    json_put_integer(json, "length", (int64_t)n);
    json_write_object_end(json);
}

static void write_strings(const struct firefox_profile *profile, struct json_writer *json)
{
    const struct database *db = profile->lines->open->scopes.db;
    json_put_array(json, "stringArray");
    for (uint32_t i = 0; i < n_procedures(profile); i++) {
        char buffer[NAME_SIZE];
        json_write_string(json, database_procedure_name(db, i, buffer));
    }
    for (int state = 0; state < TRACE_STATES; state++)
        json_write_string(json, trace_state_key((enum trace_state)state));
    for (uint32_t i = 0; i < db->files.n; i++) {
        const char *path = database_file_path(db, i);
        json_write_string(json, path ? path : "");
    }
    for (size_t i = 0; i < profile->lines->open->regions.n; i++)
        json_write_string(json, profile->lines->open->regions.at[i].name);
    json_write_array_end(json);
}

/* An object of empty arrays. */
static void write_empty_table(struct json_writer *json, const char *key, const char *const *columns, size_t n)
{
    json_put_object(json, key);
    for (size_t i = 0; i < n; i++)
        put_equal(json, columns[i], 0, NULL, 0);
    json_put_integer(json, "length", 0);
    json_write_object_end(json);
}

static void write_shared(const struct firefox_profile *profile, struct json_writer *json)
{
    static const char *const resources[] = {"type", "lib", "name", "host"};
    static const char *const symbols[] = {"libIndex", "address", "name", "functionSize"};
    size_t n = n_procedures(profile) + TRACE_STATES, n_files = profile->lines->open->scopes.db->files.n;
    json_put_object(json, "shared");
    write_strings(profile, json);
    json_put_object(json, "sources");
    put_equal(json, "id", n_files, NULL, INT64_MIN);
    json_put_array(json, "filename");
    for (size_t i = 0; i < n_files; i++)
        json_write_integer(json, (int64_t)(n + i));
    json_write_array_end(json);
    json_put_integer(json, "length", (int64_t)n_files);
    json_write_object_end(json);
    write_functions(profile, json, n);
    write_frames(json, n);
    write_stacks(profile, json);
    write_empty_table(json, "resourceTable", resources, 4);
    write_empty_table(json, "nativeSymbols", symbols, 4);
    json_write_object_end(json);
}

/* ---- threads ---- */

static void write_samples(const struct firefox_profile *profile, struct json_writer *json)
{
    json_put_object(json, "samples");
    json_put_array(json, "stack");
    for (size_t i = 0; i < profile->samples.n; i++)
        if (profile->samples.at[i].stack == NO_STACK)
            json_write_null(json);
        else
            json_write_integer(json, profile->samples.at[i].stack);
    json_write_array_end(json);
    json_put_array(json, "time");
    for (size_t i = 0; i < profile->samples.n; i++)
        json_write_double(json, profile->samples.at[i].time);
    json_write_array_end(json);
    json_write_text(json, "weightType", profile->lines->open->timeline->is_time ? "tracing-ms" : "samples");
    json_put_array(json, "weight");
    for (size_t i = 0; i < profile->samples.n; i++)
        json_write_double(json, profile->samples.at[i].weight);
    json_write_array_end(json);
    if (profile->lines->open->timeline->is_time) {
        json_put_array(json, "threadCPUDelta");
        for (size_t i = 0; i < profile->samples.n; i++)
            json_write_double(json, profile->samples.at[i].cpu);
        json_write_array_end(json);
    }
    json_put_integer(json, "length", (int64_t)profile->samples.n);
    json_write_object_end(json);
}

/* The regions that the program names, as intervals. Their names follow the other strings. */
static void write_markers(const struct firefox_profile *profile, uint32_t of, struct json_writer *json)
{
    static const char *const columns[] = {"name", "startTime", "endTime", "phase", "category", "data"};
    const thread_regions *regions = &profile->lines->open->regions;
    size_t n = 0, first = n_procedures(profile) + TRACE_STATES + profile->lines->open->scopes.db->files.n;
    json_put_object(json, "markers");
    for (size_t c = 0; c < 6; c++) {
        json_put_array(json, columns[c]);
        n = 0;
        for (size_t i = 0; i < regions->n; i++) {
            const struct thread_region *region = &regions->at[i];
            if (region->profile != of || !region_is_in_window(region, &profile->lines->open->chart.window))
                continue;
            n++;
            switch (c) {
            case 0: json_write_integer(json, (int64_t)(first + i)); break;
            case 1: json_write_double(json, (double)region->begin * 1e-6); break;
            case 2: json_write_double(json, (double)region->end * 1e-6); break;
            case 3: json_write_integer(json, INTERVAL_MARKER); break;
            case 4: json_write_integer(json, SHOWN_WORK); break;
            default: json_write_null(json);
            }
        }
        json_write_array_end(json);
    }
    json_put_integer(json, "length", (int64_t)n);
    json_write_object_end(json);
}

static void write_thread(struct firefox_profile *profile, size_t number)
{
    const struct open_timeline *open = profile->lines->open;
    const struct thread *thread = &open->chart.rows.threads.list.at[open->chart.rows.order[number]];
    struct json_writer *json = &profile->json;
    autofree struct text name = {0};
    profile->samples.n = 0;
    profile->end = profile->length = profile->cpu = 0;
    timeline_pieces(open, number, take, profile);
    int64_t pid = timeline_pid(open, number);
    bool is_first = number == 0 || pid != timeline_pid(open, number - 1);
    json_write_break(json);
    json_write_object(json);
    thread_label(thread, open->hosts_differ, false, &name);
    json_write_text(json, "name", text_string(&name));
    json_put_number(json, "processStartupTime", 0);
    json_write_text(json, "processType", "default");
    json_write_text(json, "processName", thread->process ? run_program_of(thread->process) : "");
    json_write_key(json, "isMainThread");
    json_write_bool(json, is_first);
    text_clear(&name);
    text_printf(&name, "%jd", (intmax_t)pid);
    json_write_text(json, "pid", text_string(&name));
    json_put_integer(json, "tid", timeline_tid(open, number));
    json_put_number(json, "registerTime", profile->samples.n ? profile->samples.at[0].time : 0);
    json_put_integer(json, "unregisterTime", -1);
    json_put_integer(json, "processShutdownTime", -1);
    put_equal(json, "pausedRanges", 0, NULL, 0);
    write_markers(profile, thread->profile, json);
    write_samples(profile, json);
    json_write_object_end(json);
}

static void write_meta(struct firefox_profile *profile, const char *command)
{
    static const char *const colors[SHOWN_STATES] = {"green",  "red",  "orange", "transparent",
                                                     "purple", "grey", "yellow"};
    const struct open_timeline *open = profile->lines->open;
    struct json_writer *json = &profile->json;
    json_put_object(json, "meta");
    json_put_number(json, "interval", 1);
    json_put_number(json, "startTime", (double)open->timeline->header.begin * 1e-6);
    json_put_number(json, "endTime", (double)(open->timeline->header.begin + open->timeline->end) * 1e-6);
    json_put_integer(json, "processType", 0);
    json_write_text(json, "product", command);
    json_write_text(json, "importedFrom", "hpcviewer");
    json_put_integer(json, "stackwalk", 1);
    json_put_integer(json, "version", GECKO_VERSION);
    json_put_integer(json, "preprocessedProfileVersion", PROCESSED_VERSION);
    json_write_key(json, "symbolicated");
    json_write_bool(json, true);
    put_equal(json, "markerSchema", 0, NULL, 0);
    json_put_object(json, "sampleUnits");
    json_write_text(json, "time", "ms");
    json_write_text(json, "eventDelay", "ms");
    json_write_text(json, "threadCPUDelta", "µs");
    json_write_object_end(json);
    json_put_array(json, "categories");
    for (int i = 0; i < SHOWN_STATES; i++) {
        json_write_object(json);
        json_write_text(json, "name", state_looks[i].name);
        json_write_text(json, "color", colors[i]);
        json_put_array(json, "subcategories");
        json_write_string(json, "Other");
        json_write_array_end(json);
        json_write_object_end(json);
    }
    json_write_array_end(json);
    json_write_object_end(json);
}

void print_timeline_firefox(struct timeline_lines *lines, const char *command, FILE *out)
{
    struct firefox_profile profile = {.lines = lines};
    struct json_writer *json = &profile.json;
    json_write_start(json, out, 0);
    json_write_object(json);
    write_meta(&profile, command);
    put_equal(json, "libs", 0, NULL, 0);
    json_put_array(json, "threads");
    for (size_t thread = 0; thread < lines->open->chart.rows.n; thread++)
        write_thread(&profile, thread);
    json_write_array_end(json);
    write_shared(&profile, json);
    json_write_object_end(json);
    json_write_finish(json);
    idmap_free(&profile.stacks);
    vec_free(&profile.rows);
    vec_free(&profile.samples);
    vec_free(&profile.path);
}

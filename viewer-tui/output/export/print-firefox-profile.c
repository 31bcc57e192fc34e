/* A time line as a processed profile of the Firefox Profiler, https://profiler.firefox.com: version 60 of that format
 * (docs-developer/processed-profile-format.md of its repository), which later ones read. A sample for each record,
 * weighted by its time; states are categories, and but for working frames at the end of stacks. */
#include "viewer-tui/output/export/timeline-pieces.h"
#include "viewer-tui/output/timeline-lines.h"

#include "lib/json.h"
#include "viewer-tui/db/run.h"

#include <math.h>

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
    double end, cpu;                /* ns, of the last piece */
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
    if (!piece->continues)
        add_sample(profile, NO_STACK, profile->end, 0);
    double weight = profile->lines->open->timeline->is_time ? piece->amount * 1e-6 : piece->amount;
    add_sample(profile, stack_of(profile, piece), piece->begin, weight);
    profile->cpu = piece->ran ? piece->amount : 0;
    profile->end = piece->end;
}

/* ---- tables: an array for each column ---- */

static double number_or_null(uint32_t number, uint32_t none)
{
    return number == none ? NAN : number;
}

static void write_stacks(const struct firefox_profile *profile, struct json_writer *json)
{
    const struct stack_row *rows = profile->rows.at;
    json_print(json, "stackTable:{");
    json_print_numbers(json, "frame", i, profile->rows.n, rows[i].frame);
    json_print_numbers(json, "prefix", i, profile->rows.n, number_or_null(rows[i].prefix, NO_STACK));
    json_print(json, "length:%zu}", profile->rows.n);
}

/* Frames: a function each, with the category of its state. */
static void write_frames(struct json_writer *json, size_t n)
{
    static const char *const unknown[] = {"nativeSymbol", "innerWindowID", "line", "column"};
    json_print(json, "frameTable:{");
    json_print_numbers(json, "address", i, n, -1);
    json_print_numbers(json, "inlineDepth", i, n, 0);
    json_print_numbers(json, "category", i, n,
                       trace_states[i + TRACE_STATES < n ? TRACE_WORK : i + TRACE_STATES - n].shown);
    json_print_numbers(json, "subcategory", i, n, 0);
    json_print_numbers(json, "func", i, n, (double)i);
    for (size_t c = 0; c < 4; c++)
        json_print_numbers(json, unknown[c], i, n, NAN);
    json_print(json, "length:%zu}", n);
}

/* The procedure of a function, without a line if it has no file; states have neither. */
static struct procedure procedure_of(const struct firefox_profile *profile, size_t function)
{
    const struct database *db = profile->lines->open->scopes.db;
    struct procedure of = {.file = NOTHING};
    if (function < n_procedures(profile))
        of = database_procedure(db, (uint32_t)function);
    return database_file_path(db, of.file) ? of : (struct procedure){.file = NOTHING};
}

/* Functions, named by the first strings; sources are the next ones. */
static void write_functions(const struct firefox_profile *profile, struct json_writer *json, size_t n)
{
    static const char *const flags[] = {"isJS", "relevantForJS"};
    json_print(json, "funcTable:{");
    json_print_numbers(json, "name", i, n, (double)i);
    for (size_t c = 0; c < 2; c++) {
        json_print(json, "%s:[", flags[c]);
        for (size_t i = 0; i < n; i++)
            json_write_bool(json, false);
        json_print(json, "]");
    }
    json_print_numbers(json, "resource", i, n, -1);
    json_print_numbers(json, "source", i, n, number_or_null(procedure_of(profile, i).file, NOTHING));
    json_print_numbers(json, "lineNumber", i, n, number_or_null(procedure_of(profile, i).line, 0));
    json_print_numbers(json, "columnNumber", i, n, NAN);
    json_print(json, "length:%zu}", n);
}

static void write_strings(const struct firefox_profile *profile, struct json_writer *json)
{
    const struct database *db = profile->lines->open->scopes.db;
    json_print(json, "stringArray:[");
    for (uint32_t i = 0; i < n_procedures(profile); i++) {
        char buffer[NAME_SIZE];
        json_write_string(json, database_procedure_name(db, i, buffer));
    }
    for (int state = 0; state < TRACE_STATES; state++)
        json_write_string(json, trace_states[state].key);
    for (uint32_t i = 0; i < db->files.n; i++)
        json_write_string(json, text_or_empty(database_file_path(db, i)));
    for (size_t i = 0; i < profile->lines->open->regions.n; i++)
        json_write_string(json, profile->lines->open->regions.at[i].name);
    json_print(json, "]");
}

static void write_shared(const struct firefox_profile *profile, struct json_writer *json)
{
    size_t n = n_procedures(profile) + TRACE_STATES, n_files = profile->lines->open->scopes.db->files.n;
    json_print(json, "shared:{");
    write_strings(profile, json);
    json_print(json, "sources:{");
    json_print_numbers(json, "id", i, n_files, NAN);
    json_print_numbers(json, "filename", i, n_files, (double)(n + i));
    json_print(json, "length:%zu}", n_files);
    write_functions(profile, json, n);
    write_frames(json, n);
    write_stacks(profile, json);
    json_print(json, "resourceTable:{type:[] lib:[] name:[] host:[] length:0} "
                     "nativeSymbols:{libIndex:[] address:[] name:[] functionSize:[] length:0}}");
}

/* ---- threads ---- */

static void write_samples(const struct firefox_profile *profile, struct json_writer *json)
{
    bool is_time = profile->lines->open->timeline->is_time;
    const struct sample_row *samples = profile->samples.at;
    size_t n = profile->samples.n;
    json_print(json, "samples:{");
    json_print_numbers(json, "stack", i, n, number_or_null(samples[i].stack, NO_STACK));
    json_print_numbers(json, "time", i, n, samples[i].time);
    json_print(json, "weightType:%s", is_time ? "tracing-ms" : "samples");
    json_print_numbers(json, "weight", i, n, samples[i].weight);
    if (is_time)
        json_print_numbers(json, "threadCPUDelta", i, n, samples[i].cpu);
    json_print(json, "length:%zu}", n);
}

/* The regions that the program names, as intervals. Their names follow the other strings. */
static void write_markers(const struct firefox_profile *profile, uint32_t of, struct json_writer *json)
{
    const thread_regions *regions = &profile->lines->open->regions;
    size_t first = n_procedures(profile) + TRACE_STATES + profile->lines->open->scopes.db->files.n;
    autofree VEC(const struct thread_region *) shown = {0};
    for (size_t i = 0; i < regions->n; i++)
        if (regions->at[i].profile == of && region_is_in_window(&regions->at[i], &profile->lines->open->chart.window))
            vec_push(&shown, &regions->at[i]);
    json_print(json, "markers:{");
    json_print_numbers(json, "name", i, shown.n, (double)(first + (size_t)(shown.at[i] - regions->at)));
    json_print_numbers(json, "startTime", i, shown.n, (double)shown.at[i]->begin * 1e-6);
    json_print_numbers(json, "endTime", i, shown.n, (double)shown.at[i]->end * 1e-6);
    json_print_numbers(json, "phase", i, shown.n, INTERVAL_MARKER);
    json_print_numbers(json, "category", i, shown.n, SHOWN_WORK);
    json_print_numbers(json, "data", i, shown.n, NAN);
    json_print(json, "length:%zu}", shown.n);
}

static void write_thread(struct firefox_profile *profile, size_t number)
{
    const struct open_timeline *open = profile->lines->open;
    const struct thread *thread = &open->chart.rows.threads.list.at[open->chart.rows.order[number]];
    struct json_writer *json = &profile->json;
    autofree struct text name = {0};
    profile->samples.n = 0;
    profile->end = profile->cpu = 0;
    timeline_pieces(open, number, take, profile);
    int64_t pid = timeline_pid(open, number);
    bool is_first = number == 0 || pid != timeline_pid(open, number - 1);
    thread_label(thread, open->hosts_differ, false, &name);
    json_print(json, "\n{name:%s processStartupTime:0 processType:'default' processName:%s isMainThread:%i", text_string(&name),
               thread->process ? run_program_of(thread->process) : "", is_first);
    text_clear(&name);
    text_printf(&name, "%jd", (intmax_t)pid);
    json_print(json, "pid:%s tid:%jd registerTime:%g unregisterTime:null processShutdownTime:null pausedRanges:[]",
               text_string(&name), (intmax_t)timeline_tid(open, number),
               profile->samples.n ? profile->samples.at[0].time : 0);
    write_markers(profile, thread->profile, json);
    write_samples(profile, json);
    json_print(json, "}");
}

static void write_meta(struct firefox_profile *profile, const char *command)
{
    static const char *const colors[SHOWN_STATES] = {"green",  "red",  "orange", "transparent",
                                                     "purple", "grey", "yellow"};
    const struct open_timeline *open = profile->lines->open;
    struct json_writer *json = &profile->json;
    uint64_t begin = open->timeline->header.begin;
    json_print(json, "meta:{interval:1 startTime:%g endTime:%g processType:0 product:%s importedFrom:'hpcviewer' stackwalk:1",
               (double)begin * 1e-6, (double)(begin + open->timeline->end) * 1e-6, command);
    json_print(json, "version:%d preprocessedProfileVersion:%d symbolicated:true markerSchema:[]", GECKO_VERSION,
               PROCESSED_VERSION);
    json_print(json, "sampleUnits:{time:'ms' eventDelay:'ms' threadCPUDelta:'µs'} categories:[");
    for (int i = 0; i < SHOWN_STATES; i++)
        json_print(json, "{name:%s color:%s subcategories:['Other']}", state_looks[i].name, colors[i]);
    json_print(json, "]}");
}

void print_timeline_firefox(struct timeline_lines *lines, const char *command, FILE *out)
{
    struct firefox_profile profile = {.lines = lines};
    struct json_writer *json = &profile.json;
    json_write_start(json, out, 0);
    json_print(json, "{");
    write_meta(&profile, command);
    json_print(json, "libs:[] threads:[");
    for (size_t thread = 0; thread < lines->open->chart.rows.n; thread++)
        write_thread(&profile, thread);
    json_print(json, "]");
    write_shared(&profile, json);
    json_print(json, "}");
    json_write_finish(json);
    idmap_free(&profile.stacks);
    vec_free(&profile.rows);
    vec_free(&profile.samples);
    vec_free(&profile.path);
}

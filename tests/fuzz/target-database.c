/* Databases: the files of HPCToolkit's format, and the two JSON files of the same folder. */
#include "tests/fuzz/fuzz-target.h"

#include "viewer-tui/base/task.h"
#include "viewer-tui/db/fates.h"
#include "viewer-tui/db/fold.h"
#include "viewer-tui/db/metric-selection.h"
#include "viewer-tui/db/node-costs.h"
#include "viewer-tui/db/procedure-code.h"
#include "viewer-tui/db/run.h"
#include "viewer-tui/db/time-samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- meta.db, profile.db ---- */

static void look_at_names(struct database *db)
{
    char buffer[NAME_SIZE];
    const char *name;
    struct v4_entry entry;
    look_at_text(database_title(db));
    for (uint32_t i = 0; i < db->modules.n && i < 1000; i++)
        if ((name = database_module_path(db, i)))
            look_at_text(name);
    for (uint32_t i = 0; i < db->files.n && i < 1000; i++) {
        if ((name = database_file_path(db, i)))
            look_at_text(name);
        if ((name = database_file_copy(db, i)))
            look_at_text(name);
    }
    for (uint32_t i = 0; i < database_n_procedures(db) && i < 1000; i++)
        look_at_text(database_procedure_name(db, i, buffer));
    for (uint32_t i = 0; i < db->entries.n && i < 1000; i++)
        if (database_entry(db, i, &entry, &name))
            look_at_text(database_program_name(db, database_program_of_entry(db, i)));
}

static void look_at_tree(struct database *db)
{
    const struct nodes *nodes = database_nodes(db);
    struct cost *costs = calloc(db->metrics.n + 1, sizeof *costs);
    PROMISE(nodes && costs);
    for (uint32_t i = 0; i < nodes->n; i++) {
        PROMISE(nodes->parent[i] <= i && nodes->end[i] > i && nodes->end[i] <= nodes->n);
        PROMISE(nodes_caller(nodes, i) <= i && nodes_call_site(nodes, i) <= i);
        for (size_t m = 0; m < db->metrics.n_stored; m++) {
            node_cost(db, i, m, INCLUSIVE);
            node_cost(db, i, m, EXCLUSIVE);
        }
    }
    node_costs_get(db, 0, costs);
    free(costs);
}

static void look_at_threads(const struct database *db)
{
    size_t n;
    for (uint32_t i = 0; i < database_n_profiles(db) && i < 100; i++) {
        struct values values = {0};
        const struct v4_profile profile = database_profile(db, i);
        if (values_open(&values, &db->profile, &profile.values))
            for (uint64_t at = 0; at < values.n_index && at < 1000; at++)
                values_at(&values, at, &n);
    }
}

static void read_database(const char *folder)
{
    struct database *db = database_open(folder);
    PROMISE(db || problem_text());
    if (!db)
        return;
    choose_complete(db, NULL);
    free(choose_metrics(db, NULL, NULL, true));
    look_at_names(db);
    look_at_tree(db);
    look_at_threads(db);
    for (unsigned i = 1; i < 4; i++) {
        fold_nodes(db, (struct fold_choice){.inlined = i & 1, .recursion = i & 2});
        look_at_tree(db);
        fold_undo(db);
    }
    database_forget_nodes(db);
    database_close(db);
}

/* The length of the first file in the bytes, by the footer at its end. */
static size_t first_file(const uint8_t *data, size_t size, const char *footer)
{
    const uint8_t *at = memmem(data, size, footer, strlen(footer));
    return at ? (size_t)(at - data) + strlen(footer) : size;
}

/* The input: meta.db and profile.db, one after the other. */
static void run_database(const uint8_t *data, size_t size)
{
    size_t meta = first_file(data, size, "_meta.db");
    input_folder("meta.db", data, meta);
    read_database(input_folder("profile.db", data + meta, size - meta));
    problem_clear();
}

const struct fuzz_target database_target = {"database", run_database, 8 << 20, 2048};

/* ---- timeline.db ---- */

static void look_at_records(const struct timeline *timeline, const struct timeline_thread *thread)
{
    uint64_t found = timeline_find(timeline, thread, timeline->end);
    PROMISE(found <= thread->n_records);
    for (struct time_samples sample = time_samples_from(timeline, thread, 0); time_samples_next(&sample);)
        for (uint64_t i = sample.first; i < sample.next; i++) {
            enum trace_state state = time_sample_state(&sample, i);
            PROMISE(sample.begin <= sample.end && state > 0 && state < TRACE_STATES);
            PROMISE(state == TRACE_DROPPED || sample.records[i].place < timeline->header.n_places);
        }
}

static void run_timeline(const uint8_t *data, size_t size)
{
    json_t *run = json_pack("{s: [{s: s, s: s}]}", "events", "name", "CPUTIME", "unit", "s");
    struct timeline *timeline = timeline_open(input_folder(TIMELINE_FILE, data, size), run);
    PROMISE(timeline || problem_text() || size == 0);
    for (uint32_t i = 0; timeline && i < timeline->header.n_threads; i++) {
        PROMISE(timeline_thread(timeline, timeline->threads[i].profile) == &timeline->threads[i]);
        look_at_records(timeline, &timeline->threads[i]);
    }
    timeline_close(timeline);
    problem_clear();
    json_decref(run);
}

const struct fuzz_target timeline_target = {"timeline", run_timeline, 1 << 16, 1};

/* ---- run.json ---- */

static void look_at_processes(const json_t *run)
{
    size_t i;
    const json_t *process;
    json_array_foreach(json_object_get(run, "processes"), i, process)
    {
        struct text text = {0};
        look_at_text(run_program_of(process));
        run_add_place(process, true, false, &text);
        vec_free(&text);
    }
}

static void run_run_json(const uint8_t *data, size_t size)
{
    json_t *run = run_read(input_folder(DATABASE_RUN_FILE, data, size));
    struct fates fates;
    if (run) {
        program_names programs = run_programs(run);
        run_workers(run);
        run_period(run, "work (CPUTIME)");
        run_increment(run, "work (CPUTIME)");
        PROMISE(run_most_workers(run) >= 1);
        run_hosts_differ(run);
        look_at_processes(run);
        fates_read(&fates, run);
        fates_free(&fates);
        vec_free(&programs);
    }
    problem_clear();
    json_decref(run);
}

const struct fuzz_target run_json_target = {"run-json", run_run_json, 1 << 18, 256};

/* ---- instructions.json ---- */

static void run_instructions_json(const uint8_t *data, size_t size)
{
    struct procedure_code code;
    const char *why = NULL, *folder = input_folder(DATABASE_INSTRUCTIONS_FILE, data, size);
    if (procedure_code_read(&code, folder, "/m", 0x1000, &why)) {
        for (size_t i = 0; i < code.statements.n; i++)
            procedure_code_statement(&code, code.statements.at[i].begin);
        procedure_code_cost(&code, "work", 0, UINT64_MAX);
    } else {
        PROMISE(why);
    }
    procedure_code_free(&code);
}

const struct fuzz_target instructions_json_target = {"instructions-json", run_instructions_json,
                                                     1 << 18, 256};

#include "hpcprof/base/file-writer.h"
#include "hpcprof/base/output-file.h"
#include "hpcprof/database/database-dir.h"
#include "hpcprof/database/database-files.h"
#include "hpcprof/database/run-account.h"
#include "hpcprof/database/time-line-files.h"
#include "hpcprof/database/v4-file.h"
#include "hpcprof/measurement/path-addresses.h"
#include "hpcprof/names/construct-names.h"
#include "hpcprof/names/header-functions.h"
#include "hpcprof/options.h"
#include "hpcprof/sources/source-copies.h"
#include "hpcprof/team/team.h"
#include "hpcprof/tree/recursive-calls.h"

#include "lib/database-format.h"
#include "lib/diag.h"
#include "lib/parallel.h"
#include "lib/hash-tables.h"
#include "lib/sanitized-text.h"
#include "lib/trace-format.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The result of each step, in their order. A step only reads the results of earlier ones. */
struct run {
    struct options options;
    const char *folder; /* that the database is written to */
    struct measurements measurements;
    struct executables executables;
    struct process_ends *ends;
    struct structures structures;
    struct runtime_code runtime_code;
    struct overhead overhead;
    struct waiting waiting;
    struct metric_table metrics;
    struct symbol_table symbols;
    struct clones clones;
    struct analysis analysis; /* all of the above */
    struct thread_creations creations;
    struct source_copies copies;
    char *title, *description;
    struct context_ids
        unknown_site_calls; /* of the logical projection, see hpcprof/attribution/projection.h */
    struct traced_threads traced;
    bool has_time_line;
};

/* ---- analysis ---- */

static void check_metrics(const struct metric_table *metrics)
{
    enum stored_statistic stored[STORED_STATISTICS];
    if (metrics->all.n > MAX_METRICS / (1 + statistics_stored(metrics->statistics, stored)))
        diag_fatal(NULL, "%zu metrics are more than a database can hold", metrics->all.n);
}

/* In a team, rank 0 goes first: the others then find the structures in the cache. Each has a folder
 * of its own for files that it needs meanwhile. */
static void find_structures(struct run *run, const struct rules *rules)
{
    char scratch[] = "/tmp/hpcprof-mpi-XXXXXX";
    struct module_addresses addresses;
    path_addresses_find(&addresses, &run->measurements, run->options.workers);
    autofree bool *needs_whole = runtime_rules_need_whole(rules, &run->measurements);
    if (!team_is_first()) {
        team_wait();
        if (!mkdtemp(scratch))
            diag_fatal(scratch, "%s", strerror(errno));
    }
    const struct structure_search search = {
        .directories = {run->measurements.directories.at, run->measurements.directories.n},
        .modules = &run->measurements.modules,
        .addresses = &addresses,
        .needs_whole = needs_whole,
        .rules = &run->options.rules,
        .scratch = team_is_first() ? run->folder : scratch,
        .large = run->options.large,
        .workers = run->options.workers,
    };
    structures_find(&run->structures, &search);
    if (team_is_first())
        team_wait();
    else
        rmdir(scratch);
    module_addresses_free(&addresses);
}

/* The functions must have the same numbers on all ranks of a team (hpcprof/team/team.h). */
static void check_team(const struct symbol_table *symbols)
{
    uint64_t hash = symbols->functions.n;
    for (size_t i = 0; !team_is_alone() && i < symbols->functions.n; i++) {
        const struct function *function = &symbols->functions.at[i];
        hash = hash_pair(hash, hash_bytes(function->name, strlen(function->name)));
        hash = hash_pair(hash, (uint64_t)function->module << 32 | function->file);
        hash = hash_pair(hash, function->entry ^ function->line);
    }
    if (!team_agrees(hash))
        diag_fatal(NULL, "the ranks see different binaries or debug information; all nodes must "
                         "have the same files");
}

static void analyze(struct run *run)
{
    const struct options *options = &run->options;
    if (!measurements_read(&run->measurements, options->directories, options->directory_count,
                           options->workers))
        exit(team_end(diag_exit_status())); /* every file and directory was reported */
    executables_find(&run->executables, &run->measurements);
    run->ends = process_ends_read(&run->measurements);
    struct rules rules;
    runtime_rules_read(&rules, &run->measurements);
    find_structures(run, &rules);
    runtime_code_find(&run->runtime_code, &rules, &run->measurements, &run->structures);
    overhead_find(&run->overhead, &run->runtime_code);
    waiting_find(&run->waiting, &run->runtime_code);
    metric_table_build(&run->metrics, &run->measurements, &run->overhead, &run->waiting,
                       options->statistics);
    check_metrics(&run->metrics);
    symbols_build(&run->symbols, &run->measurements, &run->structures);
    constructs_find(&run->symbols, &run->runtime_code);
    headers_find(&run->symbols, &run->runtime_code);
    check_team(&run->symbols);
    clones_find(&run->clones, &run->symbols, &run->runtime_code);
    run->analysis = (struct analysis){
        .measurements = &run->measurements,
        .executables = &run->executables,
        .ends = run->ends,
        .structures = &run->structures,
        .symbols = &run->symbols,
        .clones = &run->clones,
        .overhead = &run->overhead,
        .waiting = &run->waiting,
        .metrics = &run->metrics,
        .collapses_recursion = options->collapses_recursion,
    };
    thread_creations_find(&run->creations, &run->analysis);
}

static void free_analysis(struct run *run)
{
    traced_threads_free(&run->traced);
    thread_creations_free(&run->creations);
    clones_free(&run->clones);
    symbols_free(&run->symbols);
    metric_table_free(&run->metrics);
    waiting_free(&run->waiting);
    overhead_free(&run->overhead);
    runtime_code_free(&run->runtime_code);
    structures_free(&run->structures);
    executables_free(&run->executables);
    process_ends_free(run->ends);
    measurements_free(&run->measurements);
}

/* ---- files of a projection ---- */

static char *in_folder(const char *folder, const char *name)
{
    return mem_printf("%s/%s", folder, name);
}

/* Rank 0 of a team writes all files but profile.db and cct.db. */

static void make_folder(const char *path)
{
    if (team_is_first() && !output_make_directory(path))
        diag_fatal(path, "%s", strerror(errno));
}

/* Writes profile.db and cct.db. */
static void write_values(const struct run *run, const char *folder,
                         const struct numbered_contexts *contexts, struct projection *projection)
{
    char *profile_db = in_folder(folder, V4_PROFILE_FILE), *cct_db = in_folder(folder, V4_CCT_FILE);
    unsigned workers = run->options.workers;
    profile_db_write(profile_db, contexts, &run->analysis, projection, workers);
    cct_db_write(cct_db, profile_db, contexts->n, PROPAGATIONS * run->metrics.all.n, workers);
    free(profile_db);
    free(cct_db);
}

/* Writes meta.db, and copies the sources. */
static void write_meta(struct run *run, const char *folder, const char *copies_prefix,
                       const struct numbered_contexts *contexts)
{
    if (!team_is_first())
        return;
    source_copies_make(&run->copies, contexts);
    const struct meta_texts texts = {
        .title = run->title,
        .description = run->description,
        .copies_prefix = copies_prefix,
        .copies = run->copies.path_of,
    };
    autofree char *meta_db = in_folder(folder, V4_META_FILE);
    meta_db_write(meta_db, &texts, contexts, &run->analysis);
}

/* A projection to be written to a folder. */
struct output {
    struct run *run;
    const char *folder, *copies_prefix;
    const struct numbered_contexts *contexts;
    struct projection *projection;
};

enum { OUTPUT_VALUES, OUTPUT_META, OUTPUTS };

static void write_output(void *context, unsigned worker, size_t which)
{
    (void)worker;
    const struct output *output = context;
    if (which == OUTPUT_VALUES)
        write_values(output->run, output->folder, output->contexts, output->projection);
    else
        write_meta(output->run, output->folder, output->copies_prefix, output->contexts);
}

/* Writes values and meta.db at the same time: one thread makes meta.db. A team's ranks write together,
 * so each in one thread. */
static void write_projection(struct output output)
{
    bool at_once = team_is_alone() && output.run->options.workers > 1;
    parallel_for(OUTPUTS, at_once ? OUTPUTS : 1, write_output, &output);
}

static void write_metric_taxonomy(const struct run *run, const char *folder)
{
    char *metrics = in_folder(folder, "metrics"), *yaml = in_folder(metrics, "default.yaml");
    make_folder(metrics);
    if (team_is_first())
        metrics_yaml_write(yaml, &run->metrics);
    free(metrics);
    free(yaml);
}

static void build_projection(const struct run *run, enum projection_kind kind,
                             struct projection *projection, struct numbered_contexts *contexts)
{
    projection_build(projection, &run->analysis, kind, run->options.workers);
    context_tree_pack(&projection->tree);
    uint32_t *ids = contexts_number(contexts, &projection->tree, &run->symbols,
                                    run->options.workers);
    projection_renumber(projection, ids);
    free(ids);
}

static void copy_output(const char *from, const char *to)
{
    int fd = output_open(from);
    if (fd < 0)
        diag_fatal(from, "%s", strerror(errno));
    copy_file(fd, from, UINT64_MAX, to, 0);
    close(fd);
}

/* Gives a file of one folder a second name in another one; copies it if the file system has no
 * links. */
static void share_file(const char *from_folder, const char *to_folder, const char *name)
{
    char *from = in_folder(from_folder, name), *to = in_folder(to_folder, name);
    if (team_is_first() && !output_link(from, to))
        copy_output(from, to);
    free(from);
    free(to);
}

/* Makes the folder of the copies of sources, and a link to it in the physical projection's folder.
 * Returns false if the file system has no links. */
static bool link_sources(const char *folder, const char *physical)
{
    char *sources = in_folder(folder, COPIES_FOLDER), *link = in_folder(physical, COPIES_FOLDER);
    make_folder(sources);
    bool is_linked = team_is_first() && output_symlink("../" COPIES_FOLDER, link);
    free(sources);
    free(link);
    return is_linked;
}

/* ---- the database ---- */

static void write_instructions(const struct run *run, const struct projection *projection)
{
    autofree char *path = in_folder(run->folder, DATABASE_INSTRUCTIONS_FILE);
    if (team_is_first())
        instructions_json_write(path, &projection->instructions, &run->analysis,
                                run->options.shared);
}

/* Bytes from which on a smaller database is proposed. */
#define LARGE_DATABASE 100e6

/* The size of a projection's files. */
static double projection_size(const char *folder)
{
    static const char *const names[] = {V4_META_FILE, V4_PROFILE_FILE, V4_CCT_FILE};
    double size = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        autofree char *path = in_folder(folder, names[i]);
        struct stat status;
        size += stat(path, &status) == 0 ? (double)status.st_size : 0;
    }
    return size;
}

/* Says how large the database is without recursion, if that makes a large one small. `contexts` are those of
 * the logical projection, whose files are written. */
static void propose_collapse(const struct run *run, const struct numbered_contexts *contexts,
                             bool agree)
{
    double size = projection_size(run->folder) * (agree ? 1 : 2);
    if (size < LARGE_DATABASE || run->options.collapses_recursion || !team_is_first())
        return;
    size_t n = count_without_recursion(contexts, contexts->n / 2);
    if (n >= contexts->n / 2)
        return;
    double collapsed = size * (double)n / (double)contexts->n;
    autofree char *small = collapsed < 1e6 ? mem_strdup("less than 1 MB")
                                           : mem_printf("about %.0f MB", collapsed * 1e-6);
    diag_note(NULL,
              "the database takes %.0f MB, since it has all levels of recursive calls; hpcprof "
              "--collapse-recursion makes one of %s",
              size * 1e-6, small);
}

/* Writes timeline.db and the trace.db of both projections, if anything was traced. `physical` NULL: the projections
 * agree. */
static void write_time_line(struct run *run, const char *physical_folder,
                            const struct traced_nodes *logical, const struct traced_nodes *physical)
{
    unsigned workers = run->options.workers;
    run->has_time_line = traced_threads_find(&run->traced, &run->measurements);
    if (!run->has_time_line)
        return;
    char *timeline_db = in_folder(run->folder, TIMELINE_FILE),
         *trace_db = in_folder(run->folder, V4_TRACE_FILE),
         *physical_db = in_folder(physical_folder, V4_TRACE_FILE);
    timeline_db_write(timeline_db, &run->traced, logical, physical ? physical : logical, workers);
    trace_db_write(trace_db, &run->traced, logical, workers);
    if (physical)
        trace_db_write(physical_db, &run->traced, physical, workers);
    else
        share_file(run->folder, physical_folder, V4_TRACE_FILE);
    free(timeline_db);
    free(trace_db);
    free(physical_db);
}

static void free_traced(const struct run *run, struct traced_nodes *traced)
{
    size_t n = 0;
    for (size_t i = 0; i < run->measurements.files.n; i++)
        n += run->measurements.files.at[i].m->threads.n;
    for (size_t i = 0; traced && i < n; i++)
        vec_free(&traced[i]);
    free(traced);
}

/* Writes both projections. If they agree, the physical one shares the files with the values. */
static void write_projections(struct run *run)
{
    autofree char *physical = in_folder(run->folder, V4_PHYSICAL_FOLDER);
    struct numbered_contexts contexts;
    struct projection projection;
    bool agree = projections_agree(&run->analysis);
    make_folder(physical);
    bool has_sources = link_sources(run->folder, physical);
    const char *prefix = has_sources ? "" : "../"; /* of the copies, in the physical folder */
    build_projection(run, PROJECTION_LOGICAL, &projection, &contexts);
    write_instructions(run, &projection);
    struct traced_nodes *traced = projection_take_traced(&projection), *physical_traced = NULL;
    run->unknown_site_calls = projection.unknown_site_calls;
    projection.unknown_site_calls = (struct context_ids){0};
    if (agree)
        measurements_free_trees(&run->measurements);
    write_projection((struct output){run, run->folder, "", &contexts, &projection});
    propose_collapse(run, &contexts, agree);
    write_metric_taxonomy(run, run->folder);
    if (agree) {
        share_file(run->folder, physical, V4_PROFILE_FILE);
        share_file(run->folder, physical, V4_CCT_FILE);
        if (has_sources)
            share_file(run->folder, physical, V4_META_FILE);
    } else {
        projection_free(&projection);
        contexts_free(&contexts);
        build_projection(run, PROJECTION_PHYSICAL, &projection, &contexts);
        physical_traced = projection_take_traced(&projection);
        measurements_free_trees(&run->measurements);
        write_projection((struct output){run, physical, prefix, &contexts, &projection});
    }
    if (agree && !has_sources)
        write_meta(run, physical, prefix, &contexts);
    write_metric_taxonomy(run, physical);
    projection_free(&projection);
    contexts_free(&contexts);
    write_time_line(run, physical, traced, physical_traced);
    free_traced(run, traced);
    free_traced(run, physical_traced);
}

static void write_texts(const struct run *run)
{
    if (!team_is_first())
        return;
    char *json = in_folder(run->folder, DATABASE_RUN_FILE),
         *formats = in_folder(run->folder, "FORMATS.md");
    run_json_write(json, run->title, &run->analysis, &run->creations,
                   run->has_time_line ? &run->traced : NULL, &run->unknown_site_calls);
    formats_write(formats);
    free(json);
    free(formats);
}

static void write_database(struct run *run)
{
    run->title = run_title(&run->measurements);
    run->description = run_description(&run->measurements);
    source_copies_start(&run->copies, &run->symbols, &run->options.rules, run->folder);
    write_projections(run);
    write_texts(run);
    source_copies_finish(&run->copies);
    vec_free(&run->unknown_site_calls);
    free(run->title);
    free(run->description);
}

/* Makes the folder to write to; all ranks of a team know its name. */
static char *create_folder(const struct options *options)
{
    struct team_bytes bytes = {0};
    if (team_is_first()) {
        const char *made =
            database_dir_create(options->database, options->directories[0], options->shared);
        bytes.at = (uint8_t *)mem_strdup(made);
        bytes.n = bytes.cap = strlen(made) + 1;
    }
    team_broadcast(&bytes, 0);
    return (char *)bytes.at;
}

static void publish(void)
{
    autofree char *database = printable_text(database_dir_publish());
    puts(database);
}

int main(int argc, char **argv)
{
    struct run run = {0};
    diag_init(team_tool);
    options_read(&run.options, argc, argv);
    team_start(&argc, &argv);
    if (!team_is_first())
        diag_be_silent();
    autofree char *folder = create_folder(&run.options);
    run.folder = folder;
    analyze(&run);
    write_database(&run);
    run_account_print(&run.analysis, launched_program(&run.measurements));
    team_wait();
    if (team_is_first())
        publish();
    free_analysis(&run);
    options_free(&run.options);
    return team_end(diag_exit_status());
}

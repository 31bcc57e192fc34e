#include "hpcprof/base/file-writer.h"
#include "hpcprof/base/output-file.h"
#include "hpcprof/database/cct-db.h"
#include "hpcprof/database/database-dir.h"
#include "hpcprof/database/instructions-json.h"
#include "hpcprof/database/meta-db.h"
#include "hpcprof/database/metrics-yaml.h"
#include "hpcprof/database/profile-db.h"
#include "hpcprof/database/propagation.h"
#include "hpcprof/database/run-description.h"
#include "hpcprof/database/run-json.h"
#include "hpcprof/measurement/executables.h"
#include "hpcprof/metrics/overhead-samples.h"
#include "hpcprof/metrics/waiting-samples.h"
#include "hpcprof/modules/structure-finder.h"
#include "hpcprof/names/clones.h"
#include "hpcprof/options.h"
#include "hpcprof/runtime/runtime-code.h"
#include "hpcprof/sources/source-copies.h"

#include "lib/database-format.h"
#include "lib/diag.h"
#include "lib/sanitized-text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a run of hpcprof works on. */
struct run {
    struct options options;
    struct inputs inputs;
    struct rules rules;
    struct program program;
    struct creations creations;
    const char *folder; /* that the database is written to */
    char *title, *description;
    struct source_origins origins;
    char **copies;                   /* per file of the program: see hpcprof/sources/source-copies.h */
    struct context_ids no_call_site; /* of the logical projection, see hpcprof/attribution/projection.h */
};

static char *in_folder(const char *folder, const char *name)
{
    return mem_printf("%s/%s", folder, name);
}

static void make_folder(const char *path)
{
    if (!output_make_directory(path))
        diag_fatal(path, "%s", strerror(errno));
}

static void write_values(const struct run *run, const char *folder, const struct contexts *contexts,
                         struct fused *fused)
{
    char *profile_db = in_folder(folder, V4_PROFILE_FILE), *cct_db = in_folder(folder, V4_CCT_FILE);
    unsigned workers = run->options.workers;
    profile_db_write(profile_db, contexts, &run->inputs, fused, workers);
    cct_db_write(cct_db, profile_db, contexts->n, PROPAGATIONS * run->inputs.metrics.n, workers);
    free(profile_db);
    free(cct_db);
}

static void write_names(struct run *run, const char *folder, const char *copies_prefix,
                        const struct contexts *contexts)
{
    sources_copy(run->copies, &run->origins, contexts, run->folder, &run->options.rules);
    const struct meta_texts texts = {
        .title = run->title,
        .description = run->description,
        .copies_prefix = copies_prefix,
        .copies = run->copies,
    };
    char *meta_db = in_folder(folder, V4_META_FILE), *metrics = in_folder(folder, "metrics");
    char *yaml = in_folder(metrics, "default.yaml");
    meta_db_write(meta_db, &texts, contexts, &run->inputs);
    make_folder(metrics);
    metrics_yaml_write(yaml, &run->inputs);
    free(meta_db);
    free(metrics);
    free(yaml);
}

static void build_contexts(const struct run *run, enum projection projection, struct fused *fused,
                           struct contexts *contexts)
{
    fuse(fused, &run->inputs, &run->program, projection, run->options.workers);
    uint32_t *ids = contexts_number(contexts, &fused->tree, &run->program);
    fused_renumber(fused, ids);
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

/* The same values need not lie on the disk twice. */
static void share_file(const char *from_folder, const char *to_folder, const char *name)
{
    char *from = in_folder(from_folder, name), *to = in_folder(to_folder, name);
    if (!output_link(from, to))
        copy_output(from, to);
    free(from);
    free(to);
}

static void write_instructions(const struct run *run, const struct fused *fused)
{
    char *path = in_folder(run->folder, DATABASE_INSTRUCTIONS_FILE);
    instructions_json_write(path, &fused->instructions, &run->inputs, &run->program,
                            run->options.shared);
    free(path);
}

static void write_projections(struct run *run)
{
    char *physical = in_folder(run->folder, V4_PHYSICAL_FOLDER);
    struct contexts contexts;
    struct fused fused;
    bool agree = projections_agree(&run->inputs) && !run->program.has_clones;
    make_folder(physical);
    build_contexts(run, PROJECTION_LOGICAL, &fused, &contexts);
    write_instructions(run, &fused);
    run->no_call_site = fused.no_call_site;
    fused.no_call_site = (struct context_ids){0};
    if (agree)
        inputs_free_trees(&run->inputs);
    write_values(run, run->folder, &contexts, &fused);
    write_names(run, run->folder, "", &contexts);
    if (agree) {
        share_file(run->folder, physical, V4_PROFILE_FILE);
        share_file(run->folder, physical, V4_CCT_FILE);
    } else {
        fused_free(&fused);
        contexts_free(&contexts);
        build_contexts(run, PROJECTION_PHYSICAL, &fused, &contexts);
        inputs_free_trees(&run->inputs);
        write_values(run, physical, &contexts, &fused);
    }
    write_names(run, physical, "../", &contexts);
    fused_free(&fused);
    contexts_free(&contexts);
    free(physical);
}

static void write_texts(const struct run *run)
{
    char *json = in_folder(run->folder, DATABASE_RUN_FILE);
    char *formats = in_folder(run->folder, "FORMATS.md");
    const struct run_facts facts = {&run->inputs, &run->program, &run->creations,
                                    &run->no_call_site};
    run_json_write(json, run->title, &facts);
    text_write_formats(formats);
    free(json);
    free(formats);
}

static void write_database(struct run *run)
{
    run->title = text_title(&run->inputs);
    run->description = text_description(&run->inputs);
    program_build(&run->program, &run->inputs);
    clones_find(&run->program, &run->inputs);
    run->copies = mem_alloc(run->program.files.count * sizeof *run->copies);
    creations_find(&run->creations, &run->inputs, &run->program);
    source_origins_find(&run->origins, &run->program, &run->inputs);
    write_projections(run);
    write_texts(run);
    sources_finish();
    source_origins_free(&run->origins);
    for (uint32_t i = 0; i < run->program.files.count; i++)
        free(run->copies[i]);
    free(run->copies);
    vec_free(&run->no_call_site);
    creations_free(&run->creations);
    program_free(&run->program, &run->inputs);
    free(run->title);
    free(run->description);
}

int main(int argc, char **argv)
{
    struct run run = {0};
    diag_init("hpcprof");
    options_read(&run.options, argc, argv);
    run.folder =
        database_dir_create(run.options.database, run.options.directories[0], run.options.shared);
    inputs_read(&run.inputs, run.options.directories, run.options.directory_count,
                run.options.workers);
    executables_find(&run.inputs);
    structures_find(&run.inputs.modules, &run.options.rules, run.folder, run.options.workers);
    run.inputs.rules = &run.rules;
    runtime_code_find(&run.inputs);
    clones_note_missing(&run.inputs);
    if (overhead_measurable(&run.inputs)) {
        overhead_find_kinds(&run.inputs);
        inputs_add_overhead(&run.inputs);
    }
    if (waiting_find(&run.inputs))
        inputs_add_waiting(&run.inputs);
    if (run.inputs.metrics.n > MAX_METRICS)
        diag_fatal(NULL, "%zu metrics are more than a database can hold", run.inputs.metrics.n);
    write_database(&run);
    char *database = printable_text(database_dir_publish());
    puts(database);
    free(database);
    executables_free(&run.inputs);
    inputs_free(&run.inputs);
    rules_free(&run.rules);
    options_free(&run.options);
    return diag_exit_status();
}

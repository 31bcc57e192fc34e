#include "hpcprof/base/output-file.h"
#include "hpcprof/database/database-files.h"
#include "hpcprof/database/summary-statistics.h"
#include "hpcprof/database/value-propagation.h"
#include "hpcprof/team/team.h"

#include "lib/diag.h"
#include "lib/parallel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- values ---- */

struct block_job {
    const struct numbered_contexts *contexts;
    const struct metric_table *metrics;
    const struct projection *projection;
    struct file_writer *file;
    struct v4_profile *profiles;
    struct value_block *blocks;     /* of this process alone: per worker; in a team: all of them */
    struct values_scratch *scratch; /* per worker */
    struct parallel_turns turns;
    struct value_block sums; /* of all profiles */
    size_t n_sums; /* 1: the first task computes the sums; 0: they are there, or not needed */
    struct summary_statistics statistics;
};

static bool is_elsewhere(const struct block_job *job, size_t profile)
{
    const struct measurements *measurements = job->contexts->symbols->measurements;
    return measurements->files.at[job->projection->profiles.at[profile].file].is_elsewhere;
}

static void make_block(struct block_job *job, struct value_block *block, unsigned worker,
                       size_t profile)
{
    values_of_profile(block, &job->scratch[worker], job->contexts, job->metrics,
                      &job->projection->profiles.at[profile]);
    diag_progress_add(1);
}

/* A block of a team is kept until it is written. */
static void make_own_block(void *context, unsigned worker, size_t index)
{
    struct block_job *job = context;
    if (!is_elsewhere(job, index))
        make_block(job, &job->blocks[index], worker, index);
}

/* Gives a block its place in the file. */
static void place_block(struct file_writer *file, const struct value_block *block,
                        struct v4_context_values *values)
{
    values->n_values = block->values.n;
    file_align(file, 8);
    values->values = file_leave(file, block->values.n * sizeof *block->values.at);
    values->n_contexts = (uint32_t)block->contexts.n;
    file_align(file, 4);
    values->contexts = file_leave(file, block->contexts.n * sizeof *block->contexts.at);
}

static void write_placed_block(struct file_writer *file, const struct value_block *block,
                               const struct v4_context_values *place)
{
    file_write_at(file, place->values, block->values.at,
                  block->values.n * sizeof *block->values.at);
    file_write_at(file, place->contexts, block->contexts.at,
                  block->contexts.n * sizeof *block->contexts.at);
}

/* `values` is zeroed, and filled field by field so that its padding stays zero in the file. */
static void write_block(struct file_writer *file, const struct value_block *block,
                        struct v4_context_values *values, unsigned workers)
{
    values->n_values = block->values.n;
    values->values = file_align(file, 8);
    file_write_by(file, block->values.at, block->values.n * sizeof *block->values.at, workers);
    values->n_contexts = (uint32_t)block->contexts.n;
    values->contexts = file_align(file, 4);
    file_write_by(file, block->contexts.at, block->contexts.n * sizeof *block->contexts.at,
                  workers);
}

/* Counts of a block's values and contexts. */
struct block_size {
    uint64_t values, contexts;
};

/* The sizes of the blocks of all ranks; the caller frees. */
static struct block_size *share_sizes(const struct block_job *job, size_t count)
{
    struct block_size *sizes = mem_alloc(count * sizeof *sizes);
    for (size_t i = 0; i < count; i++)
        sizes[i] = (struct block_size){job->blocks[i].values.n, job->blocks[i].contexts.n};
    team_sum(&sizes[0].values, 2 * count);
    return sizes;
}

/* Moves on by a block that another rank writes. */
static void skip_block(struct file_writer *file, const struct block_size *size,
                       struct v4_context_values *values)
{
    values->n_values = size->values;
    values->values = file_align(file, 8);
    file_skip(file, size->values * sizeof(struct v4_metric_value));
    values->n_contexts = (uint32_t)size->contexts;
    values->contexts = file_align(file, 4);
    file_skip(file, size->contexts * sizeof(struct v4_context_index));
}

/* Writes this rank's blocks at their places among all. */
static void write_own_blocks(const struct block_job *job, size_t count)
{
    struct file_writer *file = job->file;
    struct v4_profile *profiles = job->profiles;
    autofree struct block_size *sizes = share_sizes(job, count);
    for (size_t i = 0; i < count; i++) {
        file_set_silent(file, is_elsewhere(job, i));
        if (is_elsewhere(job, i))
            skip_block(file, &sizes[i], &profiles[1 + i].values);
        else
            write_block(file, &job->blocks[i], &profiles[1 + i].values, 1);
    }
    file_set_silent(file, !team_is_first());
}

/* The number of the only profile with costs; 0 if there are none or several. */
static size_t only_profile(const struct projection *projection)
{
    uint64_t found[2] = {0, 0}; /* number of profiles, sum of their numbers; of all ranks */
    for (size_t i = 0; i < projection->profiles.n; i++)
        if (projection->profiles.at[i].costs.n) {
            found[0]++;
            found[1] += i + 1;
        }
    team_sum(found, 2);
    return found[0] == 1 ? found[1] : 0;
}

static bool has_statistics(const struct metric_table *metrics)
{
    enum stored_statistic stored[STORED_STATISTICS];
    return statistics_stored(metrics->statistics, stored) > 0;
}

/* Writes the values of all profiles together. If only one has any, they are the same. */
static void write_sums(const struct block_job *job, unsigned workers)
{
    size_t only = only_profile(job->projection);
    if (only)
        job->profiles[0].values = job->profiles[only].values;
    else
        write_block(job->file, &job->sums, &job->profiles[0].values, workers);
}

static void write_summary(struct block_job *job, unsigned workers)
{
    struct value_block summary = {0};
    if (!has_statistics(job->metrics)) {
        write_sums(job, workers);
        return;
    }
    summary_statistics_finish(&job->statistics, &summary, job->metrics->statistics,
                              job->projection->profiles.n, PROPAGATIONS * job->metrics->all.n);
    write_block(job->file, &summary, &job->profiles[0].values, workers);
    value_block_free(&summary);
}

static void read_at(int fd, const char *path, void *data, size_t size, uint64_t offset)
{
    uint8_t *to = data;
    while (size) {
        ssize_t got = pread(fd, to, size, (off_t)offset);
        if (got == 0 || (got < 0 && errno != EINTR))
            diag_fatal(path, "%s", got ? strerror(errno) : "it is shorter than it was written");
        if (got > 0) {
            to += got;
            offset += (uint64_t)got;
            size -= (size_t)got;
        }
    }
}

/* In a team, rank 0 adds the blocks that all have written to the statistics, in order: sums of
 * squares are rounded. */
static void add_written_blocks(struct block_job *job)
{
    struct file_writer *file = job->file;
    const struct v4_profile *profiles = job->profiles;
    file_sync(file);
    int fd = team_is_first() ? output_open(file->path) : -1;
    if (team_is_first() && fd < 0)
        diag_fatal(file->path, "%s", strerror(errno));
    struct value_block block = {0};
    for (size_t i = 0; team_is_first() && i < job->projection->profiles.n; i++) {
        const struct v4_context_values *at = &profiles[1 + i].values;
        block.values.n = block.contexts.n = 0;
        vec_reserve(&block.values, at->n_values);
        vec_reserve(&block.contexts, at->n_contexts);
        block.values.n = at->n_values;
        block.contexts.n = at->n_contexts;
        read_at(fd, file->path, block.values.at, at->n_values * sizeof *block.values.at,
                at->values);
        read_at(fd, file->path, block.contexts.at, at->n_contexts * sizeof *block.contexts.at,
                at->contexts);
        summary_statistics_add(&job->statistics, &block);
    }
    value_block_free(&block);
    if (fd >= 0)
        close(fd);
}

static void sum_profiles(struct block_job *job, unsigned worker)
{
    values_of_all(&job->sums, &job->scratch[worker], job->contexts, job->metrics, job->projection);
}

/* The places of blocks in the file depend on the sizes of those before them. */
static void make_and_write_block(void *context, unsigned worker, size_t task)
{
    struct block_job *job = context;
    if (task < job->n_sums) {
        sum_profiles(job, worker);
        return;
    }
    size_t index = task - job->n_sums;
    struct value_block *block = &job->blocks[worker];
    struct v4_context_values *place = &job->profiles[1 + index].values;
    make_block(job, block, worker, index);
    parallel_turn_wait(&job->turns, index);
    place_block(job->file, block, place);
    if (has_statistics(job->metrics))
        summary_statistics_add(&job->statistics, block);
    parallel_turn_pass(&job->turns);
    write_placed_block(job->file, block, place);
}

/* Computes the sums of all profiles before their blocks if statistics need them, else beside them:
 * that takes as long as all blocks if each thread has contexts of its own. */
static void start_sums(struct block_job *job)
{
    if (has_statistics(job->metrics)) {
        sum_profiles(job, 0);
        summary_statistics_start(&job->statistics, &job->sums, job->contexts->n);
    } else {
        job->n_sums = only_profile(job->projection) ? 0 : 1;
    }
}

static void write_own_profiles(struct block_job *job, unsigned workers)
{
    size_t count = job->projection->profiles.n;
    if (job->n_sums)
        sum_profiles(job, 0);
    parallel_for(count, workers, make_own_block, job);
    if (count)
        write_own_blocks(job, count);
    if (has_statistics(job->metrics))
        add_written_blocks(job);
}

static void write_blocks(struct block_job *job, unsigned workers)
{
    size_t count = job->projection->profiles.n, kept = team_is_alone() ? workers : count;
    job->blocks = mem_alloc(kept * sizeof *job->blocks);
    job->scratch = mem_alloc(workers * sizeof *job->scratch);
    diag_progress_begin("writing profiles", count);
    start_sums(job);
    if (team_is_alone()) {
        parallel_turns_start(&job->turns);
        parallel_for(job->n_sums + count, workers, make_and_write_block, job);
        parallel_turns_end(&job->turns);
    } else {
        write_own_profiles(job, workers);
    }
    write_summary(job, workers);
    diag_progress_end();
    value_block_free(&job->sums);
    for (size_t i = 0; i < kept; i++)
        value_block_free(&job->blocks[i]);
    for (unsigned i = 0; i < workers; i++)
        values_scratch_free(&job->scratch[i]);
    free(job->blocks);
    free(job->scratch);
}

/* ---- identifier tuples ---- */

struct id_tuple {
    struct v4_id_tuple head;
    struct v4_id ids[ID_KINDS];
};

/* The tuples are zeroed, and filled field by field so that their padding stays zero in the file. */
static void add_id(struct id_tuple *tuple, enum id_kind kind, enum v4_id_flag flags,
                   uint64_t logical, uint64_t physical)
{
    struct v4_id *id = &tuple->ids[tuple->head.n_ids++];
    id->kind = (uint8_t)kind;
    id->flags = (uint16_t)flags;
    id->logical_id = (uint32_t)logical;
    id->physical_id = physical;
}

/* The tuple of each profile; the caller frees. Files are sorted by host, so nodes are numbered as
 * they come. */
static struct id_tuple *make_id_tuples(const struct measurements *measurements,
                                       const struct projection *projection)
{
    struct id_tuple *tuples = mem_alloc(projection->profiles.n * sizeof *tuples);
    uint64_t node = 0;
    for (size_t i = 0; i < projection->profiles.n; i++) {
        const struct profile *profile = &projection->profiles.at[i];
        const struct measurement *m = measurements->files.at[profile->file].m;
        const struct measurement_process *process = &m->process;
        if (i > 0)
            node += !is_same_host(m, measurements->files.at[projection->profiles.at[i - 1].file].m);
        uint32_t thread = m->threads.at[profile->thread].index;
        add_id(&tuples[i], ID_NODE, V4_ID_IS_PHYSICAL, node, process->host_id);
        if (process->rank >= 0)
            add_id(&tuples[i], ID_RANK, 0, (uint64_t)process->rank, (uint64_t)process->rank);
        add_id(&tuples[i], ID_PROCESS, V4_ID_IS_PHYSICAL, profile->file, process->pid);
        add_id(&tuples[i], ID_THREAD, 0, thread, thread);
    }
    return tuples;
}

static struct v4_section write_id_tuples(struct file_writer *file, struct v4_profile *profiles,
                                         const struct measurements *measurements,
                                         const struct projection *projection)
{
    struct v4_section section = {.at = file_align(file, 8)};
    autofree struct id_tuple *tuples = make_id_tuples(measurements, projection);
    for (size_t i = 0; i < projection->profiles.n; i++) {
        profiles[1 + i].id_tuple = file->offset;
        file_write(file, &tuples[i],
                   sizeof tuples[i].head + tuples[i].head.n_ids * sizeof *tuples[i].ids);
    }
    section.size = file->offset - section.at;
    return section;
}

/* ---- the file ---- */

void profile_db_write(const char *path, const struct numbered_contexts *contexts,
                      const struct analysis *analysis, const struct projection *projection,
                      unsigned workers)
{
    struct file_writer file;
    struct v4_section sections[V4_PROFILE_SECTIONS];
    v4_create_shared(&file, path, V4_PROFILE_FORMAT, V4_PROFILE_SECTIONS);
    size_t count = projection->profiles.n + 1;
    autofree struct v4_profile *profiles = mem_alloc(count * sizeof *profiles);
    profiles[0].flags = V4_IS_SUMMARY;

    struct v4_section *infos = &sections[V4_PROFILE_INFOS];
    infos->at = file_align(&file, 8);
    struct v4_profiles head;
    memset(&head, 0, sizeof head);
    head.profiles = infos->at + sizeof head;
    head.n_profiles = (uint32_t)count;
    head.profile_size = sizeof *profiles;
    file_write(&file, &head, sizeof head);
    file_write(&file, profiles, count * sizeof *profiles); /* placeholder: file_patch fills it in */
    infos->size = file.offset - infos->at;

    sections[V4_PROFILE_ID_TUPLES] =
        write_id_tuples(&file, profiles, analysis->measurements, projection);
    struct block_job job = {.contexts = contexts,
                            .metrics = analysis->metrics,
                            .projection = projection,
                            .file = &file,
                            .profiles = profiles};
    write_blocks(&job, workers);
    file_patch(&file, head.profiles, profiles, count * sizeof *profiles);
    v4_close(&file, V4_PROFILE_FOOTER, sections, V4_PROFILE_SECTIONS);
}

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

/* Blocks per worker in a batch. While a batch is built, the one before it is written: writes to one
 * file do not run in parallel, so that others build meanwhile. */
#define BATCH_PER_WORKER 2

struct block_job {
    const struct numbered_contexts *contexts;
    const struct metric_table *metrics;
    struct projection *projection;
    size_t first; /* index of the profile of blocks[0] */
    struct value_block *blocks;
    struct file_writer *file;
    const struct v4_profile *profiles; /* of the batch before this one; its blocks are `built` */
    struct value_block *built;
    size_t n_built;
    struct values_scratch *scratch; /* per worker */
    struct value_block sums;        /* of all profiles */
    struct summary_statistics statistics;
};

static bool is_elsewhere(const struct block_job *job, size_t profile)
{
    const struct measurements *measurements = job->contexts->symbols->measurements;
    return measurements->files.at[job->projection->profiles.at[profile].file].is_elsewhere;
}

static void make_block(void *context, unsigned worker, size_t index)
{
    struct block_job *job = context;
    if (is_elsewhere(job, job->first + index))
        return;
    values_of_profile(&job->blocks[index], &job->scratch[worker], job->contexts, job->metrics,
                      &job->projection->profiles.at[job->first + index]);
    diag_progress_add(1);
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

static void write_placed_block(const struct block_job *job, size_t index)
{
    const struct value_block *block = &job->built[index];
    const struct v4_context_values *place = &job->profiles[index].values;
    file_write_at(job->file, place->values, block->values.at,
                  block->values.n * sizeof *block->values.at);
    file_write_at(job->file, place->contexts, block->contexts.at,
                  block->contexts.n * sizeof *block->contexts.at);
}

/* A task of a step: writes a block of the batch before, or makes one of this batch. */
static void write_or_make_block(void *context, unsigned worker, size_t index)
{
    struct block_job *job = context;
    if (index < job->n_built)
        write_placed_block(job, index);
    else
        make_block(context, worker, index - job->n_built);
}

/* `values` is zeroed, and filled field by field so that its padding stays zero in the file. */
static void write_block(struct file_writer *file, const struct value_block *block,
                        struct v4_context_values *values)
{
    values->n_values = block->values.n;
    values->values = file_align(file, 8);
    file_write(file, block->values.at, block->values.n * sizeof *block->values.at);
    values->n_contexts = (uint32_t)block->contexts.n;
    values->contexts = file_align(file, 4);
    file_write(file, block->contexts.at, block->contexts.n * sizeof *block->contexts.at);
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
static void write_own_blocks(struct file_writer *file, struct v4_profile *profiles,
                             const struct block_job *job, size_t count)
{
    struct block_size *sizes = share_sizes(job, count);
    for (size_t i = 0; i < count; i++) {
        file_set_silent(file, is_elsewhere(job, i));
        if (is_elsewhere(job, i))
            skip_block(file, &sizes[i], &profiles[1 + i].values);
        else
            write_block(file, &job->blocks[i], &profiles[1 + i].values);
    }
    file_set_silent(file, !team_is_first());
    free(sizes);
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
static void write_sums(struct file_writer *file, struct v4_profile *profiles,
                       const struct block_job *job)
{
    size_t only = only_profile(job->projection);
    if (only)
        profiles[0].values = profiles[only].values;
    else
        write_block(file, &job->sums, &profiles[0].values);
}

static void write_summary(struct file_writer *file, struct v4_profile *profiles,
                          struct block_job *job)
{
    struct value_block summary = {0};
    if (!has_statistics(job->metrics)) {
        write_sums(file, profiles, job);
        return;
    }
    summary_statistics_finish(&job->statistics, &summary, job->metrics->statistics,
                              job->projection->profiles.n, PROPAGATIONS * job->metrics->all.n);
    write_block(file, &summary, &profiles[0].values);
    value_block_free(&summary);
}

/* The sums of all profiles, which statistics need before the profiles are written. */
static void start_summary(struct block_job *job)
{
    if (has_statistics(job->metrics) || !only_profile(job->projection))
        values_of_all(&job->sums, &job->scratch[0], job->contexts, job->metrics, job->projection);
    if (has_statistics(job->metrics))
        summary_statistics_start(&job->statistics, &job->sums, job->contexts->n);
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
static void add_written_blocks(struct file_writer *file, const struct v4_profile *profiles,
                               struct block_job *job)
{
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

/* Makes and writes the blocks of all profiles, batch by batch. */
static void write_batches(struct file_writer *file, struct v4_profile *profiles,
                          struct block_job *job, size_t batch, unsigned workers)
{
    size_t count = job->projection->profiles.n;
    struct value_block *others = mem_alloc(batch * sizeof *others);
    job->file = file;
    for (job->first = 0; job->first < count || job->n_built; job->first += batch) {
        size_t left = job->first < count ? count - job->first : 0;
        size_t size = left < batch ? left : batch;
        parallel_for(job->n_built + size, workers, write_or_make_block, job);
        struct v4_profile *made = size ? profiles + 1 + job->first : NULL;
        for (size_t i = 0; i < size; i++) {
            place_block(file, &job->blocks[i], &made[i].values);
            if (has_statistics(job->metrics))
                summary_statistics_add(&job->statistics, &job->blocks[i]);
        }
        struct value_block *built = job->blocks;
        job->blocks = job->built ? job->built : others;
        job->built = built;
        job->n_built = size;
        job->profiles = made;
    }
    for (size_t i = 0; job->built && i < batch; i++)
        value_block_free(&job->built[i]);
    free(job->built ? job->built : others);
}

static void write_blocks(struct file_writer *file, struct v4_profile *profiles,
                         struct block_job *job, unsigned workers)
{
    size_t count = job->projection->profiles.n;
    /* All at once in a team: the offsets depend on the sizes of all. */
    size_t batch = team_is_alone() ? (size_t)workers * BATCH_PER_WORKER : count;
    job->blocks = mem_alloc(batch * sizeof *job->blocks);
    job->scratch = mem_alloc(workers * sizeof *job->scratch);
    diag_progress_begin("writing profiles", count);
    start_summary(job);
    if (team_is_alone())
        write_batches(file, profiles, job, batch, workers);
    else
        parallel_for(count, workers, make_block, job);
    if (!team_is_alone() && count)
        write_own_blocks(file, profiles, job, count);
    if (!team_is_alone() && has_statistics(job->metrics))
        add_written_blocks(file, profiles, job);
    write_summary(file, profiles, job);
    diag_progress_end();
    value_block_free(&job->sums);
    for (size_t i = 0; i < batch; i++)
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
    struct id_tuple *tuples = make_id_tuples(measurements, projection);
    for (size_t i = 0; i < projection->profiles.n; i++) {
        profiles[1 + i].id_tuple = file->offset;
        file_write(file, &tuples[i],
                   sizeof tuples[i].head + tuples[i].head.n_ids * sizeof *tuples[i].ids);
    }
    free(tuples);
    section.size = file->offset - section.at;
    return section;
}

/* ---- the file ---- */

void profile_db_write(const char *path, const struct numbered_contexts *contexts,
                      const struct analysis *analysis, struct projection *projection,
                      unsigned workers)
{
    struct file_writer file;
    struct v4_section sections[V4_PROFILE_SECTIONS];
    v4_create_shared(&file, path, V4_PROFILE_FORMAT, V4_PROFILE_SECTIONS);
    size_t count = projection->profiles.n + 1;
    struct v4_profile *profiles = mem_alloc(count * sizeof *profiles);
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
    struct block_job job = {
        .contexts = contexts, .metrics = analysis->metrics, .projection = projection};
    write_blocks(&file, profiles, &job, workers);
    file_patch(&file, head.profiles, profiles, count * sizeof *profiles);
    free(profiles);
    v4_close(&file, V4_PROFILE_FOOTER, sections, V4_PROFILE_SECTIONS);
}

#include "hpcprof/database/profile-db.h"

#include "hpcprof/database/id-tuples.h"
#include "hpcprof/database/v4-file.h"

#include "lib/diag.h"
#include "lib/parallel.h"

#include <stdlib.h>
#include <string.h>

/* Blocks are made in parallel, a batch at a time, and written in order. */
#define BATCH_PER_WORKER 4

struct block_job {
    const struct contexts *contexts;
    const struct inputs *inputs;
    struct fused *fused;
    size_t first; /* profile of blocks[0] */
    struct value_block *blocks;
    struct values_scratch *scratch; /* per worker */
};

static void make_block(void *context, unsigned worker, size_t index)
{
    struct block_job *job = context;
    values_of_profile(&job->blocks[index], &job->scratch[worker], job->contexts, job->inputs,
                      &job->fused->profiles.at[job->first + index]);
    diag_progress_add(1);
}

/* `values` is zeroed and filled field by field, so that padding is zero in the file too. */
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

static void write_blocks(struct file_writer *file, struct v4_profile *profiles,
                         struct block_job *job, unsigned workers)
{
    size_t count = job->fused->profiles.n, batch = (size_t)workers * BATCH_PER_WORKER;
    job->blocks = mem_alloc(batch * sizeof *job->blocks);
    job->scratch = mem_alloc(workers * sizeof *job->scratch);
    diag_progress_begin("writing profiles", count);
    for (job->first = 0; job->first < count; job->first += batch) {
        size_t size = count - job->first < batch ? count - job->first : batch;
        parallel_for(size, workers, make_block, job);
        for (size_t i = 0; i < size; i++)
            write_block(file, &job->blocks[i], &profiles[1 + job->first + i].values);
    }
    struct value_block all = {0};
    values_of_all(&all, &job->scratch[0], job->contexts, job->inputs, job->fused);
    write_block(file, &all, &profiles[0].values);
    value_block_free(&all);
    diag_progress_end();
    for (size_t i = 0; i < batch; i++)
        value_block_free(&job->blocks[i]);
    for (unsigned i = 0; i < workers; i++)
        values_scratch_free(&job->scratch[i]);
    free(job->blocks);
    free(job->scratch);
}

static struct v4_section write_id_tuples(struct file_writer *file, struct v4_profile *profiles,
                                         const struct inputs *inputs, const struct fused *fused)
{
    struct v4_section section = {.at = file_align(file, 8)};
    struct id_tuple *tuples = id_tuples(inputs, fused);
    for (size_t i = 0; i < fused->profiles.n; i++) {
        profiles[1 + i].id_tuple = file->offset;
        file_write(file, &tuples[i], id_tuple_size(&tuples[i]));
    }
    free(tuples);
    section.size = file->offset - section.at;
    return section;
}

void profile_db_write(const char *path, const struct contexts *contexts,
                      const struct inputs *inputs, struct fused *fused, unsigned workers)
{
    struct file_writer file;
    struct v4_section sections[V4_PROFILE_SECTIONS];
    v4_create(&file, path, V4_PROFILE_FORMAT, V4_PROFILE_SECTIONS);
    size_t count = fused->profiles.n + 1;
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
    file_write(&file, profiles, count * sizeof *profiles); /* written again when they are known */
    infos->size = file.offset - infos->at;

    sections[V4_PROFILE_ID_TUPLES] = write_id_tuples(&file, profiles, inputs, fused);
    struct block_job job = {.contexts = contexts, .inputs = inputs, .fused = fused};
    write_blocks(&file, profiles, &job, workers);
    file_patch(&file, head.profiles, profiles, count * sizeof *profiles);
    free(profiles);
    v4_close(&file, V4_PROFILE_FOOTER, sections, V4_PROFILE_SECTIONS);
}

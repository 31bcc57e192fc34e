#include "hpcprof/database/thread-blocks.h"

#include "lib/parallel.h"

#include <assert.h>
#include <stdlib.h>

static uint64_t padded(uint64_t size)
{
    return (size + 7) / 8 * 8;
}

static void make_block(const struct thread_blocks *blocks, struct team_bytes *bytes,
                       unsigned worker, size_t index)
{
    bytes->n = 0;
    blocks->make(blocks->context, worker, index, bytes);
    assert(bytes->n == blocks->sizes[index]);
    while (bytes->n % 8)
        vec_push(bytes, 0);
}

struct block_job {
    const struct thread_blocks *blocks;
    struct file_writer *file;
    struct team_bytes *bytes; /* by worker */
};

static void write_in_place(void *context, unsigned worker, size_t index)
{
    const struct block_job *job = context;
    struct team_bytes *bytes = &job->bytes[worker];
    if (!job->blocks->sizes[index])
        return;
    make_block(job->blocks, bytes, worker, index);
    file_write_at(job->file, job->blocks->offsets[index], bytes->at, bytes->n);
}

static void write_in_parallel(const struct thread_blocks *blocks, struct file_writer *file,
                              unsigned workers)
{
    struct block_job job = {blocks, file, mem_alloc(workers * sizeof *job.bytes)};
    for (size_t i = 0; i < blocks->threads->all.n; i++)
        blocks->offsets[i] = file_leave(file, padded(blocks->sizes[i]));
    parallel_for(blocks->threads->all.n, workers, write_in_place, &job);
    for (unsigned i = 0; i < workers; i++)
        vec_free(&job.bytes[i]);
    free(job.bytes);
}

static void write_own(const struct thread_blocks *blocks, struct file_writer *file)
{
    autofree struct team_bytes bytes = {0};
    for (size_t i = 0; i < blocks->threads->all.n; i++) {
        bool is_elsewhere = blocks->threads->all.at[i].is_elsewhere;
        blocks->offsets[i] = file->offset;
        file_set_silent(file, is_elsewhere);
        if (is_elsewhere) {
            file_skip(file, padded(blocks->sizes[i]));
        } else if (blocks->sizes[i]) {
            make_block(blocks, &bytes, 0, i);
            file_write(file, bytes.at, bytes.n);
        }
    }
    file_set_silent(file, !team_is_first());
}

void thread_blocks_write(const struct thread_blocks *blocks, struct file_writer *file,
                         unsigned workers)
{
    file_align(file, 8);
    if (team_is_alone())
        write_in_parallel(blocks, file, workers);
    else
        write_own(blocks, file);
}

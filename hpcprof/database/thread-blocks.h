/* Writes a block of bytes for each thread of the time line, one after another, each aligned to 8 bytes. Sizes are
 * known before the blocks are made, so they are made and written in parallel: at any time there is at
 * most one for each worker in memory. */
#ifndef HPCPROF_THREAD_BLOCKS_H
#define HPCPROF_THREAD_BLOCKS_H

#include "hpcprof/base/file-writer.h"
#include "hpcprof/database/traced-threads.h"
#include "hpcprof/team/team.h"

/* Appends the block of threads->all.at[index]. */
typedef void thread_block_maker(void *context, unsigned worker, size_t index,
                                struct team_bytes *bytes);

struct thread_blocks {
    const struct traced_threads *threads;
    const uint64_t *sizes; /* by index; 0: no block */
    uint64_t *offsets;     /* by index, set: where the block lies in the file */
    thread_block_maker *make;
    void *context;
};

/* All ranks of a team write their own threads' blocks. */
void thread_blocks_write(const struct thread_blocks *blocks, struct file_writer *file,
                         unsigned workers);

#endif

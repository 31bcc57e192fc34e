/* Signal handler: everything here may be used there.
 *
 * Chunks of the measurement file (doc/FORMAT-hpcrun.md). A chunk is built in memory and committed
 * by one write. If that fails, the caller keeps its data and may try again later. */
#ifndef HPCRUN_RECORD_CHUNK_H
#define HPCRUN_RECORD_CHUNK_H

#include "lib/bytes.h"
#include "lib/measurement-format.h"

#include <stdbool.h>

/* A chunk under construction. */
struct chunk {
    uint8_t *at;   /* CHUNK_BYTES of memory */
    char *scratch; /* SCRATCH_BYTES more, for the code that fills the chunk: stacks may be small */
    size_t used;   /* header included */
    enum chunk_kind kind;
    uint32_t thread;
};

#define CHUNK_BYTES   81920
#define SCRATCH_BYTES 16384
/* Bytes that chunks of many records leave free for their other numbers. */
#define CHUNK_SLACK 512

/* Before the first chunk of a file, while no thread is building one. */
void chunks_init(void);

/* Memory for one chunk at a time. When the process gets no more memory, one thread at a time still
 * gets a static buffer; false for others. */
bool chunk_memory(struct chunk *chunk);
void chunk_release(struct chunk *chunk);

/* Begins a chunk. The previous one may be abandoned. */
void chunk_begin(struct chunk *chunk, enum chunk_kind kind, uint32_t thread);

void chunk_u8(struct chunk *chunk, uint8_t value);
void chunk_u64(struct chunk *chunk, uint64_t value);
void chunk_v(struct chunk *chunk, uint64_t value);
void chunk_z(struct chunk *chunk, int64_t value);
/* A string. One that is longer than CHUNK_STRING ends with "..." there: what follows it must fit. */
#define CHUNK_STRING 8191
void chunk_str(struct chunk *chunk, const char *string);
/* Bytes, cut to what fits. */
void chunk_bytes(struct chunk *chunk, const void *data, size_t size);

/* Writes the chunk. False if it could not be written completely. */
bool chunk_commit(struct chunk *chunk);
#endif

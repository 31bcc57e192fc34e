/* Signal handler: everything here may be used there.
 *
 * Writes chunks to the measurement file (doc/FORMAT-hpcrun.md), each by one write. If that fails, the
 * caller keeps its data and may try again later. */
#ifndef HPCRUN_RECORD_CHUNK_WRITER_H
#define HPCRUN_RECORD_CHUNK_WRITER_H

#include "lib/chunk.h"

/* Before the first chunk of a file, while no thread is building one. */
void chunks_init(void);

/* Memory for one chunk at a time. When the process gets no more memory, one thread at a time still
 * gets a static buffer; false for others. */
bool chunk_memory(struct chunk *chunk);
void chunk_release(struct chunk *chunk);

/* Writes the chunk. False if it could not be written completely. */
bool chunk_commit(struct chunk *chunk);

#endif

/* Signal handler: everything but measurement_init may be used there.
 *
 * The measurement file of this process image (lib/FORMAT-hpcrun.md): creating it, and appending
 * chunks, each with one write. A chunk is built in memory and committed; when it can't be written,
 * the caller keeps its data and may try again later. */
#ifndef HPCRUN_RECORD_MEASUREMENT_H
#define HPCRUN_RECORD_MEASUREMENT_H

#include "lib/bytes.h"
#include "lib/measurement-format.h"

#include <stdbool.h>

/* Names the file for a new process image; nothing is created yet. */
void measurement_init(void);

/* Creates the file if it does not exist yet and writes what is known of the process; it gets its
 * name when that is done, for a process may be killed at any instant. False when that is not
 * possible now: another thread is at it, or it fails; a later call tries again. */
bool measurement_open(void);

/* Whether the file is open. */
bool measurement_is_there(void);

/* Closes the file; no chunk is written after that. */
void measurement_close(void);

/* In the child of a fork: the file is the parent's; its descriptor may serve the child's own. */
void measurement_leave_to_parent(void);

/* The file's path, valid for good; and how often writing failed, and with which errno last. */
const char *measurement_path(void);
uint64_t measurement_failures(long *error);

/* Before everything is written that could not be written so far: only what fails now is lost. */
void measurement_forget_failures(void);

/* Which exec of the process this image is. Known once the file is open. */
uint32_t measurement_exec_sequence(void);

/* A chunk in the making. */
struct chunk {
    uint8_t *at;   /* CHUNK_BYTES of memory */
    char *scratch; /* SCRATCH_BYTES more for whoever fills it: stacks may be small */
    size_t used;   /* header included */
    enum chunk_kind kind;
    uint32_t thread;
};

#define CHUNK_BYTES   65536
#define SCRATCH_BYTES 16384
/* Room that chunk_is_full leaves for one more record of numbers. */
#define CHUNK_SLACK 512

/* Memory for one chunk at a time. Where the process may have no more memory, one thread at a time
 * still gets some; false for others. */
bool chunk_memory(struct chunk *chunk);
void chunk_release(struct chunk *chunk);

/* Begins a chunk; a committed or abandoned one needs no end. */
void chunk_begin(struct chunk *chunk, enum chunk_kind kind, uint32_t thread);

void chunk_u8(struct chunk *chunk, uint8_t value);
void chunk_u64(struct chunk *chunk, uint64_t value);
void chunk_v(struct chunk *chunk, uint64_t value);
void chunk_z(struct chunk *chunk, int64_t value);
/* A string, cut to what fits. */
void chunk_str(struct chunk *chunk, const char *string);
void chunk_bytes(struct chunk *chunk, const void *data, size_t size);

/* Whether less than CHUNK_SLACK bytes are left. */
static inline bool chunk_is_full(const struct chunk *chunk)
{
    return chunk->used + CHUNK_SLACK > CHUNK_BYTES;
}

/* Writes the chunk. False when it could not be written whole. */
bool chunk_commit(struct chunk *chunk);

#endif

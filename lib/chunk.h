/* Signal handler: everything here may be used there.
 *
 * A chunk of the measurement file (doc/FORMAT-hpcrun.md, sections 4 and 5), built in memory. */
#ifndef LIB_CHUNK_H
#define LIB_CHUNK_H

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

/* Writes the header (section 4) but for the CRC, which is at CHUNK_CRC_OFFSET and of what comes before it
 * and the payload. */
static inline void chunk_header_put(uint8_t *at, enum chunk_kind kind, uint32_t thread,
                                    uint32_t number, size_t payload)
{
    put_u32(at, CHUNK_MAGIC);
    put_u16(at + 4, (uint16_t)kind);
    put_u16(at + 6, 0);
    put_u32(at + 8, (uint32_t)payload);
    put_u32(at + 12, thread);
    put_u32(at + 16, number);
}

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

/* Whether there is room for one more record of this size. */
static inline bool chunk_has_room(const struct chunk *chunk, size_t size)
{
    return chunk->used + size <= CHUNK_BYTES - CHUNK_SLACK;
}

/* Leaves room for a number that chunk_count puts there. */
size_t chunk_count_later(struct chunk *chunk);
void chunk_count(struct chunk *chunk, size_t where, uint32_t count);

#endif

/* Signal handler: everything here may be used there.
 *
 * The header of a chunk (doc/FORMAT-hpcrun.md, section 4). */
#ifndef HPCRUN_RECORD_CHUNK_HEADER_H
#define HPCRUN_RECORD_CHUNK_HEADER_H

#include "lib/bytes.h"
#include "lib/measurement-format.h"

/* Writes all but the CRC, which is at CHUNK_CRC_OFFSET and of what comes before it and the payload. */
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

#endif

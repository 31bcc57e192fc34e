/* Memory of one worker for what it computes about spans: blocks of a few sizes, which are used again
 * once they are free. A block may move to another worker, which then frees it into its own memory.
 * Normal context. */
#ifndef HPCRUN_SPAN_WORKER_MEMORY_H
#define HPCRUN_SPAN_WORKER_MEMORY_H

#include <stdint.h>

#define BLOCK_SIZES 15 /* a block of size s has FIRST_BLOCK << s bytes */
#define FIRST_BLOCK UINT64_C(128)

/* Zeroed memory has no blocks yet. */
struct worker_memory {
    void *free[BLOCK_SIZES]; /* by size; the first word of each block is the address of the next */
    uint8_t *chunk;          /* unused part of the last chunk */
    uint64_t left;           /* its bytes */
    uint64_t lookups;        /* of nodes of the recorded dag, so far */
};

/* A block of any contents; NULL without memory, or if there is no such size. */
void *block_take(struct worker_memory *memory, unsigned size);

void block_free(struct worker_memory *memory, void *block, unsigned size);

#endif

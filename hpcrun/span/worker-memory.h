/* Memory of one worker for what it computes about spans: blocks of a few sizes, which are used again
 * once they are free. A block may move to another worker, which then frees it into its own memory;
 * from there, batches of free blocks go to workers that need some. Normal context. */
#ifndef HPCRUN_SPAN_WORKER_MEMORY_H
#define HPCRUN_SPAN_WORKER_MEMORY_H

#include <stdint.h>

#define BLOCK_SIZES 15 /* a block of size s has FIRST_BLOCK << s bytes */
#define FIRST_BLOCK UINT64_C(128)

/* A free block. */
struct free_block {
    struct free_block *next;       /* of the same batch */
    struct free_block *next_batch; /* in the first block of a batch */
};

/* Zeroed memory has no blocks yet. */
struct worker_memory {
    struct free_block *free[BLOCK_SIZES]; /* by size: blocks that are free */
    struct free_block *full[BLOCK_SIZES]; /* a whole batch beside these; NULL: none */
    uint32_t count[BLOCK_SIZES];          /* of `free` */
    uint8_t *chunk;                       /* unused part of the last chunk */
    uint64_t left;                        /* its bytes */
};

/* A block of any contents; NULL without memory, or if there is no such size. */
void *block_take(struct worker_memory *memory, unsigned size);

void block_free(struct worker_memory *memory, void *block, unsigned size);

#endif

/* Signal handler: everything here runs in the sampling handler.
 *
 * A growing array that never moves its items. It consists of segments, each twice as long as the
 * one before. An item is found by its 32-bit index in constant time; a new item is zero. Emptying
 * the array keeps its memory for the next user. */
#ifndef HPCRUN_TREE_SEGMENTS_H
#define HPCRUN_TREE_SEGMENTS_H

#include "hpcrun/base/sys.h"

#define SEGMENT_FIRST_BITS 10
#define SEGMENT_COUNT      20 /* 2^30 items */

struct segments {
    uint8_t *at[SEGMENT_COUNT];
    uint32_t item_size;
    uint32_t count;
};

static inline unsigned segment_of(uint32_t index)
{
    return 31u - (unsigned)__builtin_clz(index + (1u << SEGMENT_FIRST_BITS)) - SEGMENT_FIRST_BITS;
}

static inline size_t segment_length(unsigned segment)
{
    return (size_t)1 << (SEGMENT_FIRST_BITS + segment);
}

/* The item with this index, which must be below count. */
static inline void *segments_item(const struct segments *s, uint32_t index)
{
    unsigned segment = segment_of(index);
    uint64_t within = index + (1u << SEGMENT_FIRST_BITS) - segment_length(segment);
    return s->at[segment] + within * s->item_size;
}

/* Appends a zeroed item, whose index is the old count. NULL without memory. */
void *segments_add(struct segments *s);

/* Empties the array. Keeps its memory, and zeroes the part that was used. */
void segments_clear(struct segments *s);

/* Empties the array and frees its memory. */
void segments_free(struct segments *s);

#endif

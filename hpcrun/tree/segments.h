/* Signal handler: everything here runs in the sampling handler.
 *
 * A growing array that never moves its items. It consists of segments, each twice as long as the
 * one before. An item is found by its 32-bit index in constant time; a new item is zero. Emptying
 * the array keeps its memory for the next user.
 *
 * An array whose segments shall outlive the process (segments_share) takes them from
 * base/shared-pages.h, and stores their offsets in the file where the caller wants them. Items are
 * published by the caller, after they are filled in. */
#ifndef HPCRUN_TREE_SEGMENTS_H
#define HPCRUN_TREE_SEGMENTS_H

#include "hpcrun/base/sys.h"
#include "lib/arena-format.h"

#define SEGMENT_COUNT ARENA_SEGMENTS

/* The first segments share a line of the cache with what is before them. */
struct segments {
    uint32_t item_size;
    uint32_t count;
    uint32_t shared;     /* set of segments in shared pages, by bit */
    uint32_t first_bits; /* the first segment has 2^first_bits items */
    struct arena_segments *offsets; /* where their offsets are stored; NULL: they are private */
    uint8_t *at[SEGMENT_COUNT];
};

/* Initializes a zeroed array. Maps no memory before the first item. */
static inline void segments_init(struct segments *s, size_t item_size, unsigned first_bits)
{
    s->item_size = (uint32_t)item_size;
    s->first_bits = first_bits;
}

static inline unsigned segment_of(const struct segments *s, uint32_t index)
{
    return 31u - (unsigned)__builtin_clz(index + (1u << s->first_bits)) - s->first_bits;
}

static inline size_t segment_length(const struct segments *s, unsigned segment)
{
    return (size_t)1 << (s->first_bits + segment);
}

/* The item with this index, which must be below count. */
static inline void *segments_item(const struct segments *s, uint32_t index)
{
    unsigned segment = segment_of(s, index);
    uint64_t within = index + (1u << s->first_bits) - segment_length(s, segment);
    return s->at[segment] + within * s->item_size;
}

/* Appends a zeroed item, whose index is the old count. NULL without memory. If there are no more
 * shared pages, a new segment is private, and segments_are_shared is false from then on. */
void *segments_add(struct segments *s);

/* Moves the array to shared pages. Offsets of its segments go to *offsets, which lies there, too.
 * The caller must not keep pointers to items. False if there are not enough shared pages; then a
 * part of the array has moved. */
bool segments_share(struct segments *s, struct arena_segments *offsets);

/* Whether the whole array lies in shared pages. */
static inline bool segments_are_shared(const struct segments *s)
{
    return s->offsets != NULL;
}

/* In the child of a fork, where the parent's shared pages are not mapped: forgets them, with what
 * they had. */
void segments_forget_shared(struct segments *s);

/* Empties the array. Keeps its memory, and zeroes the part that was used. */
void segments_clear(struct segments *s);

/* Empties the array and frees its memory. */
void segments_free(struct segments *s);

#endif

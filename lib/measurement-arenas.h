/* The arena file of a process that ended without writing everything (lib/arena-format.h,
 * doc/FORMAT-hpcrun.md, section 10). A part of the reader of measurement files; included only by
 * it. Any bytes are accepted: every offset, count and bound is checked. */
#ifndef LIB_MEASUREMENT_ARENAS_H
#define LIB_MEASUREMENT_ARENAS_H

#include "lib/arena-format.h"
#include "lib/measurement-builder.h"

/* An arena file; zeroed: there is none. */
struct arena_file {
    const uint8_t *at;
    size_t size;
    /* Bytes of items that may still be read: items of an intact file don't overlap, and are read a few
     * times. */
    size_t budget;
    struct arena_header header;
    struct idmap live; /* index of a thread with a live image -> place in offsets */
    VEC(uint64_t) offsets;
};

/* Opens the arena file that belongs to a measurement file, if there is one. Says in the builder's
 * problems why it can't be read. */
void arena_file_open(struct builder *b, struct arena_file *file, const char *measurement_path);
void arena_file_close(struct arena_file *file);

/* Whether a chunk of the measurement file does not count, since the thread has a live image. */
bool arena_file_replaces(const struct arena_file *file, enum chunk_kind kind, uint32_t thread);

/* Adds the threads with live images. Call after the last chunk. */
void arena_file_decode(struct builder *b, struct arena_file *file);

#endif

/* Images of structure files, so that hpcprof need not parse a large one again. An image has what
 * structure_read makes of the file, as it lies in memory. It lies beside the file in the cache
 * (lib/structure-cache.h), as FILE.image.
 *
 * An image belongs to one state of the file, by its size and time, and to one build of hpcprof. Of
 * any other state or build, and if anything in it is impossible, it counts as none: then the file is
 * read, and the image is written again. Nothing is reported if that fails. */
#ifndef HPCPROF_STRUCTURE_IMAGE_H
#define HPCPROF_STRUCTURE_IMAGE_H

#include "hpcprof/modules/structure.h"

#include <stdio.h>

/* Structure files below this size, in bytes, have no image: parsing takes less than a millisecond. */
#define IMAGE_LEAST_SIZE 65536

/* As structure_read, for a file of the cache. Any thread. */
struct structure *structure_read_cached(const char *path, char **cause);

/* What an image belongs to: of the structure file, and of hpcprof's own file. */
struct image_key {
    uint64_t size, time, program_size, program_time; /* bytes; ns */
};

/* Reads an image; NULL if it is another file's or damaged. Any bytes are accepted. Memory stays within
 * a small multiple of the image's size. */
struct structure *structure_image_read(FILE *file, const struct image_key *key);

/* Writes an image. Errors are those of the stream. */
void structure_image_write(FILE *file, const struct image_key *key, const struct structure *s);

#endif

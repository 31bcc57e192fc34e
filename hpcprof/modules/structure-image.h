/* Images of structure files, so that hpcprof need not parse a large one again, nor read all of it. An image
 * has what structure_read makes of the file. It is FILE.image in the cache's folder of
 * FILE (lib/structure-cache.h), and is mapped into memory.
 *
 * An image belongs to one state of the file, by its size and time, and to one build of hpcprof. Of
 * any other state or build, and if anything in it is impossible, it counts as none: then the file is
 * read, and the image is written again. Nothing is reported if that fails. */
#ifndef HPCPROF_STRUCTURE_IMAGE_H
#define HPCPROF_STRUCTURE_IMAGE_H

#include "hpcprof/modules/module-addresses.h"
#include "hpcprof/modules/structure-image-format.h"

#include <stdio.h>

/* Structure files below this size, in bytes, have no image: parsing takes less than a millisecond. */
#define IMAGE_LEAST_SIZE 65536

/* As structure_read, for a file of the cache. Other procedures than those that contain one of the addresses
 * may be left out, unless `only` is NULL. Any thread. */
struct structure *structure_read_cached(const char *path, const struct address_set *only,
                                        char **cause);

/* The structure in the bytes of an image, which begin at a multiple of 8; with `only`, that of the
 * procedures that contain one of the addresses. NULL if the image is another file's or damaged. Any bytes are
 * accepted. Memory stays within a small multiple of the image's size. */
struct structure *structure_image_read(const uint8_t *bytes, size_t size,
                                       const struct image_key *key, const struct address_set *only);

/* Writes an image. Errors are those of the stream. */
void structure_image_write(FILE *file, const struct image_key *key, const struct structure *s);

#endif

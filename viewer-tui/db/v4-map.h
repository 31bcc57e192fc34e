/* A file of a v4 database, mapped into memory and not trusted.
 *
 * Every access is checked: it fails (NULL or false) if the bytes lie outside of the file, are
 * misaligned, or are a string without end. Pointers into the map are valid until v4_map_close. */
#ifndef VIEWER_V4_MAP_H
#define VIEWER_V4_MAP_H

#include "lib/database-format.h"
#include "lib/long-text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct v4_map {
    char *path;
    const uint8_t *bytes;
    uint64_t size;
    struct v4_section sections[V4_META_SECTIONS];
};

/* What distinguishes the files of a database. */
struct v4_kind {
    const char *file;   /* name of the file */
    const char *format; /* identifier in the header */
    const char *footer;
    unsigned n_sections;
};

/* Maps FOLDER/kind->file and checks header, footer and section bounds. False, with the problem
 * noted and an empty map, if that fails. */
bool v4_map_open(struct v4_map *map, const char *folder, const struct v4_kind *kind);

/* Unmaps; an empty (zeroed) map may be closed. */
void v4_map_close(struct v4_map *map);

/* The `count` items of `stride` bytes at offset `at`; NULL if some lie outside of the file or `at` is not a multiple of
 * `alignment`. The result for count 0 must not be read. */
const void *v4_array(const struct v4_map *map, uint64_t at, uint64_t count, uint64_t stride,
                     uint64_t alignment);

/* Copies a structure of `size` bytes at an 8-byte boundary out of the file. */
bool v4_read(const struct v4_map *map, uint64_t at, void *out, size_t size);

/* The NUL-terminated string at `at`; NULL if it has no end in the file, or is longer than
 * V4_LONGEST_STRING. The limit bounds the time for a file with many pointers to one long string. */
#define V4_LONGEST_STRING LONGEST_TEXT
const char *v4_string(const struct v4_map *map, uint64_t at);

#endif

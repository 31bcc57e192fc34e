/* One file of a v4 database, mapped into memory and never trusted.
 *
 * Every access goes through a check: what lies outside of the file, is misaligned or has no end
 * gives NULL or false, and the caller decides what that costs. The map lives until v4_map_close;
 * pointers into it are valid until then. */
#ifndef VIEWER_V4_MAP_H
#define VIEWER_V4_MAP_H

#include "lib/database-format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct v4_map {
    char *path;
    const uint8_t *bytes;
    uint64_t size;
    struct v4_section sections[V4_META_SECTIONS];
};

/* What tells the files of a database apart. */
struct v4_kind {
    const char *file;   /* name in its folder */
    const char *format; /* in the header */
    const char *footer;
    unsigned n_sections;
};

/* Maps FOLDER/kind->file and checks header, footer and section bounds. On failure the problem is
 * noted (task.h), false returned, and the map is empty. */
bool v4_map_open(struct v4_map *map, const char *folder, const struct v4_kind *kind);

/* Unmaps; an empty (zeroed) map may be closed. */
void v4_map_close(struct v4_map *map);

/* The `size` bytes at offset `at`, NULL when they are not all in the file or `at` is no multiple
 * of `alignment`. */
const void *v4_bytes(const struct v4_map *map, uint64_t at, uint64_t size, uint64_t alignment);

/* As v4_bytes for `count` items of `stride` bytes, without overflow. Count 0 gives a pointer that
 * must not be read. */
const void *v4_array(const struct v4_map *map, uint64_t at, uint64_t count, uint64_t stride,
                     uint64_t alignment);

/* Copies a structure of `size` bytes at an 8-byte boundary out of the file. */
bool v4_read(const struct v4_map *map, uint64_t at, void *out, size_t size);

/* The NUL-terminated string at `at`; NULL when it has no end in the file, or is longer than
 * V4_LONGEST_STRING: a limit to what many pointers to one string can cost. */
#define V4_LONGEST_STRING 65535
const char *v4_string(const struct v4_map *map, uint64_t at);

#endif

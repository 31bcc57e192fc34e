#include "viewer-tui/db/v4-map.h"

#include "lib/alloc.h"
#include "lib/safe-input.h"
#include "viewer-tui/base/task.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

const void *v4_array(const struct v4_map *map, uint64_t at, uint64_t count, uint64_t stride,
                     uint64_t alignment)
{
    if (at > map->size || at % alignment != 0)
        return NULL;
    if (stride && count > (map->size - at) / stride)
        return NULL;
    return map->bytes + at;
}

bool v4_read(const struct v4_map *map, uint64_t at, void *out, size_t size)
{
    const void *bytes = v4_array(map, at, size, 1, 8);
    if (!bytes)
        return false;
    memcpy(out, bytes, size);
    return true;
}

const char *v4_string(const struct v4_map *map, uint64_t at)
{
    const char *text = v4_array(map, at, 1, 1, 1);
    if (!text)
        return NULL;
    uint64_t left = map->size - at;
    size_t limit = left < V4_LONGEST_STRING + 1 ? left : V4_LONGEST_STRING + 1;
    return memchr(text, '\0', limit) ? text : NULL;
}

/* What is wrong with the header or the footer; NULL if nothing is. */
static const char *check_frame(const struct v4_map *map, const struct v4_kind *kind)
{
    struct v4_header header;
    if (map->size < sizeof header + V4_FOOTER_SIZE)
        return "too short for a file of an HPCToolkit database";
    memcpy(&header, map->bytes, sizeof header);
    if (memcmp(header.magic, V4_MAGIC, V4_MAGIC_SIZE) != 0)
        return "not a file of an HPCToolkit database";
    if (memcmp(header.format, kind->format, V4_FORMAT_SIZE) != 0)
        return "another file of an HPCToolkit database has this name";
    if (header.major != V4_MAJOR)
        return "not version 4 of the HPCToolkit database";
    if (memcmp(map->bytes + map->size - V4_FOOTER_SIZE, kind->footer, V4_FOOTER_SIZE) != 0)
        return "truncated: the file does not end as it should";
    return NULL;
}

static const char *check_sections(struct v4_map *map, const struct v4_kind *kind)
{
    for (unsigned i = 0; i < kind->n_sections; i++) {
        struct v4_section *section = &map->sections[i];
        if (!v4_read(map, V4_HEADER_SIZE + i * sizeof *section, section, sizeof *section))
            return "truncated: the header ends early";
        if (!v4_array(map, section->at, section->size, 1, 1))
            return "corrupt: a section lies outside of the file";
    }
    return NULL;
}

bool v4_map_open(struct v4_map *map, const char *folder, const struct v4_kind *kind)
{
    struct stat status;
    char *unreadable = NULL;
    *map = (struct v4_map){.path = mem_printf("%s/%s", folder, kind->file)};
    map->bytes = input_map(map->path, &status, &unreadable);
    map->size = map->bytes ? (uint64_t)status.st_size : 0;
    const char *cause = unreadable ? unreadable : check_frame(map, kind);
    if (!cause)
        cause = check_sections(map, kind);
    if (!cause)
        return true;
    problem_found(map->path, "%s", cause);
    free(unreadable);
    v4_map_close(map);
    return false;
}

void v4_map_close(struct v4_map *map)
{
    if (map->bytes)
        munmap((void *)map->bytes, map->size);
    free(map->path);
    *map = (struct v4_map){0};
}

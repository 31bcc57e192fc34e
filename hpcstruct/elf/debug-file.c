#include "hpcstruct/elf/debug-file.h"

#include "hpcstruct/elf/debuginfod-cache.h"

#include "lib/bytes.h"

#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static struct elf_image *open_silently(const char *path)
{
    char *cause = NULL;
    struct elf_image *image = elf_open(path, &cause);
    free(cause);
    return image;
}

/* ---- by build-id ---- */

static char *build_id_path(const char *directory, struct elf_bytes id)
{
    if (id.size < 2)
        return NULL;
    char *hex = elf_build_id_text(id);
    char *path = mem_printf("%s/.build-id/%.2s/%s.debug", directory, hex, hex + 2);
    free(hex);
    return path;
}

/* Opens a file if it has this build-id. */
static struct elf_image *open_with_id(char *path, struct elf_bytes id)
{
    struct elf_image *image = path ? open_silently(path) : NULL;
    free(path);
    if (image && !elf_same_build_id(image->build_id, id)) {
        elf_close(image);
        return NULL;
    }
    return image;
}

/* ---- by debug link ---- */

static uint32_t checksum(struct elf_bytes bytes)
{
    return (uint32_t)crc32_z(crc32_z(0, NULL, 0), bytes.at, bytes.size);
}

static struct elf_image *open_with_checksum(char *path, uint32_t wanted)
{
    struct elf_image *image = open_silently(path);
    free(path);
    if (image && checksum(image->file) != wanted) {
        elf_close(image);
        return NULL;
    }
    return image;
}

/* The absolute directory of a file; the caller frees. */
static char *directory_of(const char *path)
{
    char *real = realpath(path, NULL);
    if (!real)
        real = mem_strdup(path);
    char *directory = mem_strdup(dirname(real));
    free(real);
    return directory;
}

static struct elf_image *open_by_link(const struct elf_image *image, const char *directory)
{
    const struct elf_section *link = elf_section(image, ".gnu_debuglink");
    if (!link || link->coding != ELF_PLAIN)
        return NULL;
    /* Contents: a file name, padded to four bytes, and the checksum of that file. */
    const char *name = elf_string(link->stored, 0);
    size_t crc_at = (strlen(name) + 4) & ~(size_t)3;
    if (name[0] == '\0' || strchr(name, '/') || crc_at + 4 > link->stored.size)
        return NULL;
    uint32_t wanted = get_u32(link->stored.at + crc_at);
    char *beside = directory_of(image->path);
    struct elf_image *found = open_with_checksum(mem_printf("%s/%s", beside, name), wanted);
    if (!found)
        found = open_with_checksum(mem_printf("%s/.debug/%s", beside, name), wanted);
    if (!found)
        found = open_with_checksum(mem_printf("%s%s/%s", directory, beside, name), wanted);
    free(beside);
    return found;
}

struct elf_image *debug_file_open(const struct elf_image *image, const char *directory)
{
    struct elf_image *found =
        open_with_id(build_id_path(directory, image->build_id), image->build_id);
    if (!found)
        found = open_by_link(image, directory);
    /* It has symbols, too, but a binary with debug information has these itself. */
    if (!found && !elf_section(image, ".debug_info"))
        found = debuginfod_cache_open(image->build_id);
    return found;
}

/* ---- supplement ---- */

struct elf_image *debug_file_open_supplement(const struct elf_image *image, const char *directory)
{
    const struct elf_section *link = elf_section(image, ".gnu_debugaltlink");
    if (!link || link->coding != ELF_PLAIN)
        return NULL;
    /* Contents: a path, and the build-id of that file. */
    const char *name = elf_string(link->stored, 0);
    size_t id_at = strlen(name) + 1;
    if (name[0] == '\0' || id_at >= link->stored.size)
        return NULL;
    struct elf_bytes id = {link->stored.at + id_at, link->stored.size - id_at};
    char *beside = directory_of(image->path);
    char *path = name[0] == '/' ? mem_strdup(name) : mem_printf("%s/%s", beside, name);
    struct elf_image *found = open_with_id(path, id);
    free(beside);
    if (!found)
        found = open_with_id(build_id_path(directory, id), id);
    return found ? found : debuginfod_cache_open(id);
}

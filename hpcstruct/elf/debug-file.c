#include "hpcstruct/elf/debug-file.h"

#include "hpcstruct/elf/debuginfod-cache.h"

#include "lib/bytes.h"
#include "lib/diag.h"
#include "lib/trusted-path.h"

#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* ---- trust ---- */

/* Whether a path leads to a file without links of users other than root, the user and `owner`. */
static bool is_reached_safely(const struct elf_image *image, uid_t owner)
{
    struct stat status;
    autofree char *real = trusted_path(image->path, owner);
    bool is_same = real && lstat(real, &status) == 0 && status.st_dev == image->status.st_dev &&
                   status.st_ino == image->status.st_ino;
    return is_same;
}

const char *debug_file_why_not(const struct elf_image *debug, const struct elf_image *of)
{
    const char *why = why_not_trusted(&debug->status, &of->status);
    if (!why && !is_reached_safely(debug, of->status.st_uid))
        why = "a link on the way to it belongs to another user";
    return why;
}

/* Closes the debug file unless it is that of the binary and trusted. */
static struct elf_image *accepted(struct elf_image *debug, bool is_right, const struct elf_image *of)
{
    const char *why = is_right ? debug_file_why_not(debug, of) : NULL;
    if (is_right && !why)
        return debug;
    if (why)
        diag_error(debug->path, "this debug file of %s is not used: %s", of->path, why);
    elf_close(debug);
    return NULL;
}

static struct elf_image *open_silently(const char *path)
{
    autofree char *cause = NULL;
    return elf_open(path, &cause);
}

/* ---- by build-id ---- */

static char *build_id_path(const char *directory, struct elf_bytes id)
{
    if (id.size < 2)
        return NULL;
    autofree char *hex = elf_build_id_text(id);
    return mem_printf("%s/.build-id/%.2s/%s.debug", directory, hex, hex + 2);
}

/* Opens a file if it has this build-id. */
static struct elf_image *open_with_id(char *path, struct elf_bytes id, const struct elf_image *of)
{
    struct elf_image *image = path ? open_silently(path) : NULL;
    free(path);
    return accepted(image, image && elf_same_build_id(image->build_id, id), of);
}

/* ---- by debug link ---- */

static uint32_t checksum(struct elf_bytes bytes)
{
    return (uint32_t)crc32_z(crc32_z(0, NULL, 0), bytes.at, bytes.size);
}

/* Whether a file with the checksum is that of a binary. Everybody can make a file with a given
 * checksum of 32 bits: so it must have the build-id of the binary, too, or its owner, if the binary
 * has no build-id. */
static bool is_of(const struct elf_image *debug, const struct elf_image *of)
{
    if (of->build_id.size)
        return elf_same_build_id(debug->build_id, of->build_id);
    return debug->status.st_uid == of->status.st_uid;
}

static struct elf_image *open_linked(char *path, uint32_t wanted, const struct elf_image *of)
{
    struct elf_image *image = open_silently(path);
    free(path);
    return accepted(image, image && is_of(image, of) && checksum(image->file) == wanted, of);
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
    autofree char *beside = directory_of(image->path);
    struct elf_image *found = open_linked(mem_printf("%s/%s", beside, name), wanted, image);
    if (!found)
        found = open_linked(mem_printf("%s/.debug/%s", beside, name), wanted, image);
    if (!found)
        found = open_linked(mem_printf("%s%s/%s", directory, beside, name), wanted, image);
    return found;
}

struct elf_image *debug_file_open(const struct elf_image *image, const char *directory)
{
    struct elf_image *found =
        open_with_id(build_id_path(directory, image->build_id), image->build_id, image);
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
    autofree char *beside = directory_of(image->path);
    char *path = name[0] == '/' ? mem_strdup(name) : mem_printf("%s/%s", beside, name);
    struct elf_image *found = open_with_id(path, id, image);
    if (!found)
        found = open_with_id(build_id_path(directory, id), id, image);
    return found ? found : debuginfod_cache_open(id);
}

#include "hpcstruct/elf/debuginfod-cache.h"

#include "lib/diag.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes of a build-id; they have 20 at most today. */
#define MOST_OF_BUILD_ID 64

/* NULL if no variable is an absolute path. */
static char *cache_directory(void)
{
    const char *own = getenv("DEBUGINFOD_CACHE_PATH"), *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    if (own && own[0])
        return own[0] == '/' ? mem_strdup(own) : NULL;
    if (cache && cache[0] == '/')
        return mem_printf("%s/debuginfod_client", cache);
    if (home && home[0] == '/')
        return mem_printf("%s/.cache/debuginfod_client", home);
    return NULL;
}

/* Whether no other user can place files in a directory. */
static bool is_safe(int directory)
{
    struct stat status;
    return fstat(directory, &status) == 0 && (status.st_uid == geteuid() || status.st_uid == 0) &&
           (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* Opens the file in the directory of a build-id; -1 if there is none, or it cannot be used (*cause is
 * then set). */
static int open_file(int directory, const char **cause)
{
    const char *name = "debuginfo";
    struct stat status;
    if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return -1;
    /* Some clients leave a file that cannot be read if no server has it; it is empty, too. */
    if (S_ISREG(status.st_mode) && status.st_size == 0)
        return -1;
    int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        *cause = errno == ELOOP ? "it is a link" : strerror(errno);
    return fd;
}

static struct elf_image *open_image(int fd, const char *path, struct elf_bytes id, char **cause)
{
    struct elf_image *image = elf_open_descriptor(fd, path, cause);
    if (!image)
        return NULL;
    const char *wrong = !elf_same_build_id(image->build_id, id) ? "it has another build-id"
                        : !elf_section(image, ".debug_info")    ? "it has no debug information"
                                                                : NULL;
    if (!wrong)
        return image;
    elf_close(image);
    *cause = mem_strdup(wrong);
    return NULL;
}

struct elf_image *debuginfod_cache_open(struct elf_bytes build_id)
{
    char *directory = build_id.size && build_id.size <= MOST_OF_BUILD_ID ? cache_directory() : NULL;
    if (!directory)
        return NULL;
    char *hex = elf_build_id_text(build_id), *damage = NULL;
    char *path = mem_printf("%s/%s/debuginfo", directory, hex);
    const char *cause = NULL;
    struct elf_image *image = NULL;
    const int flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
    int cache = open(directory, flags), fd = -1;
    int entry = cache < 0 ? -1 : openat(cache, hex, flags | O_NOFOLLOW);
    if (entry >= 0 && is_safe(cache) && is_safe(entry))
        fd = open_file(entry, &cause);
    else if (entry >= 0)
        cause = "other users can write to its directory";
    if (fd >= 0)
        image = open_image(fd, path, build_id, &damage);
    if (cause || damage)
        diag_note(path, "this file of debuginfod's cache is not used: %s", cause ? cause : damage);
    const int open_ones[] = {cache, entry, fd};
    for (size_t i = 0; i < sizeof open_ones / sizeof *open_ones; i++)
        if (open_ones[i] >= 0)
            close(open_ones[i]);
    free(damage);
    free(path);
    free(hex);
    free(directory);
    return image;
}

#include "hpcstruct/elf/debuginfod-cache.h"

#include "lib/diag.h"
#include "lib/trusted-path.h"

#include <stdlib.h>

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
static bool is_safe(const char *directory)
{
    struct stat status;
    return stat(directory, &status) == 0 && !why_not_trusted(&status, NULL);
}

/* Why the file in the directory of a build-id is not opened; "": there is none. */
static const char *why_not_opened(const char *path, const char *entry, const char *cache)
{
    struct stat status;
    if (lstat(path, &status) != 0)
        return "";
    if (!is_safe(cache) || !is_safe(entry))
        return "other users can write to its directory";
    if (S_ISLNK(status.st_mode))
        return "it is a link";
    /* Some clients leave a file that cannot be read if no server has it; it is empty, too. */
    return S_ISREG(status.st_mode) && status.st_size == 0 ? "" : NULL;
}

static struct elf_image *open_image(const char *path, struct elf_bytes id, char **cause)
{
    struct elf_image *image = elf_open(path, cause);
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
    autofree char *cache = build_id.size && build_id.size <= MOST_OF_BUILD_ID ? cache_directory() : NULL;
    if (!cache)
        return NULL;
    char *hex = elf_build_id_text(build_id), *damage = NULL;
    char *entry = mem_printf("%s/%s", cache, hex), *path = mem_printf("%s/debuginfo", entry);
    const char *why_not = why_not_opened(path, entry, cache);
    struct elf_image *image = why_not ? NULL : open_image(path, build_id, &damage);
    if (damage || (why_not && *why_not))
        diag_note(path, "this file of debuginfod's cache is not used: %s", damage ? damage : why_not);
    free(damage);
    free(path);
    free(entry);
    free(hex);
    return image;
}

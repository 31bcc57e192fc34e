#include "lib/structure-cache.h"

#include "lib/alloc.h"
#include "lib/safe-input.h"
#include "lib/safe-output.h"
#include "lib/structure-image.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the directory ---- */

/* Creates a directory and its missing parents. */
static bool make_directories(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool ok = mkdir(path, 0700) == 0 || errno == EEXIST;
        *slash = '/';
        if (!ok)
            return false;
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* A user who can write to the cache could show us wrong procedures and source files. */
static bool is_ours_alone(const char *path, char **cause)
{
    struct stat status;
    int directory = own_directory_open(path, cause);
    if (directory < 0)
        return false;
    bool is_alone = fstat(directory, &status) == 0 && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
    close(directory);
    if (!is_alone)
        *cause = mem_strdup("other users can write to it");
    return is_alone;
}

static bool is_usable(char *path, char **cause)
{
    if (make_directories(path) && access(path, R_OK | W_OK | X_OK) == 0)
        return is_ours_alone(path, cause);
    *cause = mem_strdup(strerror(errno));
    return false;
}

/* NULL if neither variable is an absolute path. */
static char *usual_directory(void)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && cache[0] == '/')
        return mem_printf("%s/hpctoolkit/structure", cache);
    if (home && home[0] == '/')
        return mem_printf("%s/.cache/hpctoolkit/structure", home);
    return NULL;
}

/* A directory in a place where other users may write, e.g. /tmp. It must be a directory, not a
 * link, belong to us and not be writable by others. */
static char *fallback_directory(void)
{
    const char *place = getenv("TMPDIR");
    char *own = mem_printf("%s/hpctoolkit-%lu", place && place[0] == '/' ? place : "/tmp",
                           (unsigned long)geteuid());
    char *path = mem_printf("%s/structure", own), *cause = NULL;
    struct stat status;
    bool ours = (mkdir(own, 0700) == 0 || errno == EEXIST) && lstat(own, &status) == 0 &&
                S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
                (status.st_mode & (S_IWGRP | S_IWOTH)) == 0 && is_usable(path, &cause);
    free(own);
    free(cause);
    if (ours)
        return path;
    free(path);
    return NULL;
}

char *structure_cache_directory(char **note)
{
    char *usual = usual_directory(), *why = NULL;
    *note = NULL;
    if (usual && is_usable(usual, &why))
        return usual;
    char *cause = usual ? mem_printf("%s: %s", usual, why)
                        : mem_strdup("neither XDG_CACHE_HOME nor HOME is set");
    char *fallback = fallback_directory();
    if (fallback)
        *note = mem_printf("%s; the cache is in %s", cause, fallback);
    else
        *note = mem_printf("no directory for the cache: %s", cause);
    free(cause);
    free(why);
    free(usual);
    return fallback;
}

/* ---- files ---- */

#define SUFFIX ".hpcstruct"

char *structure_cache_path(const char *directory, const uint8_t *id, size_t id_size,
                           uint64_t detail)
{
    /* Build-ids have 20 bytes at most today; a file name has 255. */
    const size_t most = 64;
    char hex[2 * 64 + 1] = "";
    for (size_t i = 0; i < id_size && i < most; i++)
        snprintf(hex + 2 * i, 3, "%02x", id[i]);
    return mem_printf("%s/%s-%016llx" SUFFIX, directory, hex, (unsigned long long)detail);
}

bool structure_cache_has(const char *path)
{
    static const char magic[IMAGE_MAGIC_SIZE] = STRUCTURE_GENERATOR;
    char start[IMAGE_MAGIC_SIZE], *cause = NULL;
    FILE *file = input_stream(path, &cause);
    free(cause);
    if (!file)
        return false;
    bool is_ours = fread(start, sizeof start, 1, file) == 1 && memcmp(start, magic, sizeof magic) == 0;
    fclose(file);
    return is_ours;
}

/* Whether `path` is a usable file that is newer than *than; if so, sets *than to its time. */
static bool is_newer(const char *path, struct timespec *than)
{
    struct stat status;
    if (stat(path, &status) != 0 || !structure_cache_has(path))
        return false;
    const struct timespec *time = &status.st_mtim;
    if (time->tv_sec < than->tv_sec ||
        (time->tv_sec == than->tv_sec && time->tv_nsec <= than->tv_nsec))
        return false;
    *than = *time;
    return true;
}

char *structure_cache_find(const char *directory, const char *build_id)
{
    char *prefix = mem_printf("%s-", build_id), *newest = NULL;
    DIR *stream = opendir(directory);
    struct timespec time = {0};
    for (struct dirent *entry; stream && (entry = readdir(stream));) {
        size_t length = strlen(entry->d_name), suffix = strlen(SUFFIX);
        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0 || length < suffix ||
            strcmp(entry->d_name + length - suffix, SUFFIX) != 0)
            continue;
        char *path = mem_printf("%s/%s", directory, entry->d_name);
        if (is_newer(path, &time)) {
            free(newest);
            newest = path;
        } else {
            free(path);
        }
    }
    if (stream)
        closedir(stream);
    free(prefix);
    return newest;
}

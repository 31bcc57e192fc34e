#include "hpcstruct/directory.h"

#include "hpcstruct/cached.h"

#include "lib/diag.h"
#include "lib/measurement-reader.h"
#include "lib/strtab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Modules to look at; the same one counts once, however many processes had it. */
struct modules {
    struct strtab paths;
    VEC(struct elf_bytes) build_ids; /* per path, copied; none: unknown */
    VEC(uint64_t) modified;          /* per path, as recorded */
};

static void add_module(struct modules *modules, const struct measurement_module *module)
{
    if (!module->used || (module->flags & MODULE_VDSO) || module->path[0] != '/')
        return;
    if (strtab_find(&modules->paths, module->path) != UINT32_MAX)
        return;
    strtab_id(&modules->paths, module->path);
    struct elf_bytes id = {0};
    if (module->build_id_size) {
        uint8_t *copy = mem_alloc(module->build_id_size);
        memcpy(copy, module->build_id, module->build_id_size);
        id = (struct elf_bytes){copy, module->build_id_size};
    }
    vec_push(&modules->build_ids, id);
    vec_push(&modules->modified, module->modified);
}

static void add_file(struct modules *modules, const char *path)
{
    char *cause = NULL;
    struct measurement *measurement = measurement_open(path, &cause);
    if (!measurement) {
        diag_error(path, "%s", cause);
        free(cause);
        return;
    }
    for (size_t i = 0; i < measurement->problems.n; i++)
        diag_error(path, "%s", measurement->problems.at[i]);
    for (size_t i = 0; i < measurement->modules.n; i++)
        add_module(modules, &measurement->modules.at[i]);
    measurement_free(measurement);
}

/* Whether the file on disk is the one that was measured; if not, says so. */
static bool is_unchanged(const struct modules *modules, size_t index)
{
    const char *path = strtab_string(&modules->paths, (uint32_t)index);
    struct elf_bytes recorded = modules->build_ids.at[index];
    struct stat status;
    char *cause = NULL;
    struct elf_image *image = elf_open(path, &cause);
    if (!image) {
        diag_error(path, "%s", cause);
        free(cause);
        return false;
    }
    bool same = true;
    if (recorded.size)
        same = image->build_id.size == recorded.size &&
               memcmp(image->build_id.at, recorded.at, recorded.size) == 0;
    else if (modules->modified.at[index] && stat(path, &status) == 0)
        same = modules->modified.at[index] ==
               (uint64_t)status.st_mtim.tv_sec * 1000000000 + (uint64_t)status.st_mtim.tv_nsec;
    elf_close(image);
    if (!same)
        diag_error(path, "it has changed since the run");
    return same;
}

static void free_modules(struct modules *modules)
{
    for (size_t i = 0; i < modules->build_ids.n; i++)
        free((void *)modules->build_ids.at[i].at);
    vec_free(&modules->build_ids);
    vec_free(&modules->modified);
    strtab_free(&modules->paths);
}

void directory_structures(const char *directory, const struct analysis_options *options)
{
    struct measurement_files files = {0};
    struct modules modules = {0};
    char *cause = NULL;
    if (!measurement_list(directory, &files, &cause)) {
        diag_error(directory, "%s", cause);
        free(cause);
    } else if (files.paths.n == 0) {
        diag_error(directory, "no measurement files in it");
    }
    for (size_t i = 0; i < files.paths.n; i++)
        add_file(&modules, files.paths.at[i]);
    for (size_t i = 0; i < modules.paths.count; i++) {
        if (!is_unchanged(&modules, i))
            continue;
        char *structure = cached_structure(strtab_string(&modules.paths, (uint32_t)i), options);
        if (structure)
            printf("%s: %s\n", strtab_string(&modules.paths, (uint32_t)i), structure);
        free(structure);
    }
    if (fflush(stdout) != 0)
        diag_error("standard output", "%s", strerror(errno));
    measurement_files_free(&files);
    free_modules(&modules);
}

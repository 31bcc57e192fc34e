#include "hpcstruct/structure/cached-structures.h"

#include "lib/diag.h"
#include "lib/hash-tables.h"
#include "lib/measurement.h"
#include "lib/path.h"
#include "lib/sanitized-text.h"
#include "lib/structure-cache.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the file of a binary ---- */

/* A hash that changes if a debug file is installed, replaced or removed. */
static uint64_t debug_file_hash(const struct elf_image *image)
{
    if (!image)
        return 0;
    const struct timespec *when = &image->status.st_mtim;
    uint64_t time = (uint64_t)when->tv_sec * 1000000000 + (uint64_t)when->tv_nsec;
    return hash_pair(hash_pair(hash_bytes(image->path, strlen(image->path)), image->file.size),
                     time);
}

static uint64_t size_of_section(const struct elf_image *image, const char *name)
{
    const struct elf_section *section = elf_section(image, name);
    return section ? section->stored.size : 0;
}

/* A hash of everything but the code on which the structure depends: the name of the binary (it is
 * part of the names of procedures without symbols), symbols and debug information. A stripped
 * binary has the build-id of the unstripped one. */
static uint64_t detail_hash(const struct binary *binary, const struct analysis_options *options)
{
    const char *name = path_base(binary->path);
    uint64_t detail = hash_bytes(name, strlen(name));
    detail = hash_pair(detail, size_of_section(binary->image, ".symtab"));
    detail = hash_pair(detail, size_of_section(binary->image, ".debug_info"));
    detail = hash_pair(detail, size_of_section(binary->image, ".debug_line"));
    detail = hash_pair(detail, debug_file_hash(binary->debug));
    detail = hash_pair(detail, debug_file_hash(binary->supplement));
    for (size_t i = 0; i < binary->split.files.n; i++)
        detail = hash_pair(detail, debug_file_hash(binary->split.files.at[i]));
    return hash_pair(detail, options->with_calls);
}

static char *path_for(const char *directory, const struct binary *binary,
                      const struct analysis_options *options)
{
    struct elf_bytes id = binary->image->build_id;
    uint64_t contents;
    if (!id.size) {
        contents = hash_bytes(binary->image->file.at, binary->image->file.size);
        id = (struct elf_bytes){(const uint8_t *)&contents, sizeof contents};
    }
    return structure_cache_path(directory, id.at, id.size, detail_hash(binary, options));
}

/* Frees `found` and returns NULL if there is no such file. */
static char *make_structure(const struct binary *binary, const struct analysis_options *options,
                            char *found)
{
    struct analysis_options all = *options;
    all.only = NULL;
    all.what = WRITE_IMAGE;
    if (binary_write(binary, &all, found))
        return found;
    free(found);
    return NULL;
}

static char *structure_of(const struct binary *binary, const struct analysis_options *options,
                          const char *directory, uint64_t large, FILE *out)
{
    char *found = path_for(directory, binary, options);
    if (structure_cache_has(found))
        return found;
    if (!options->only || binary_size(binary) <= large)
        return make_structure(binary, options, found);
    free(found);
    struct analysis_options some = *options;
    some.what = WRITE_IMAGE;
    if (!binary_analyze(binary, &some, out))
        diag_error("standard output", "%s", strerror(errno));
    return NULL;
}

char *cached_structure(const char *path, const struct analysis_options *options, uint64_t large,
                       FILE *out)
{
    struct binary binary;
    char *note, *found = NULL;
    autofree char *directory = structure_cache_directory(&note);
    if (!directory)
        diag_error(NULL, "%s", note);
    else if (note)
        diag_note(NULL, "%s", note);
    free(note);
    if (directory && binary_open(&binary, path, options)) {
        found = structure_of(&binary, options, directory, large, out);
        binary_close(&binary);
    }
    return found;
}

/* ---- measured modules ---- */

/* A load module, as recorded in the measurement. */
struct recorded_module {
    uint32_t path;             /* in modules.paths */
    struct elf_bytes build_id; /* owned; empty: unknown */
    uint64_t modified;         /* time, as in struct measurement_module */
};

/* The modules of all processes, each version once. */
struct recorded_modules {
    struct strtab paths;
    struct idmap known; /* (path, version) -> index in all */
    VEC(struct recorded_module) all;
};

/* Differs between a module and one that was rebuilt under the same name. */
static uint64_t version_of(const struct measurement_module *module)
{
    return module->build_id_size ? hash_bytes(module->build_id, module->build_id_size)
                                 : module->modified;
}

static void add_module(struct recorded_modules *modules, const struct measurement_module *module)
{
    if (!module->used || (module->flags & MODULE_VDSO) || module->path[0] != '/')
        return;
    struct recorded_module added = {.path = strtab_id(&modules->paths, module->path),
                                    .modified = module->modified};
    if (idmap_get(&modules->known, added.path, version_of(module)) != IDMAP_NONE)
        return;
    idmap_put(&modules->known, added.path, version_of(module), (uint32_t)modules->all.n);
    if (module->build_id_size) {
        uint8_t *copy = mem_alloc(module->build_id_size);
        memcpy(copy, module->build_id, module->build_id_size);
        added.build_id = (struct elf_bytes){copy, module->build_id_size};
    }
    vec_push(&modules->all, added);
}

static void add_file(struct recorded_modules *modules, const char *path)
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

/* Whether the file on disk is the one that was measured. Prints a message if not. */
static bool is_unchanged(const struct recorded_module *module, const char *path)
{
    char *cause = NULL;
    struct elf_image *image = elf_open(path, &cause);
    if (!image) {
        diag_error(path, "%s", cause);
        free(cause);
        return false;
    }
    bool same = true;
    if (module->build_id.size)
        same = image->build_id.size == module->build_id.size &&
               memcmp(image->build_id.at, module->build_id.at, module->build_id.size) == 0;
    else if (module->modified)
        same = module->modified == (uint64_t)image->status.st_mtim.tv_sec * 1000000000 +
                                       (uint64_t)image->status.st_mtim.tv_nsec;
    elf_close(image);
    if (!same)
        diag_error(path, "it has changed since the run");
    return same;
}

static void print_pair(const char *path, const char *structure)
{
    char *printable = printable_text(path), *printable_structure = printable_text(structure);
    printf("%s: %s\n", printable, printable_structure);
    free(printable);
    free(printable_structure);
}

static void print_structure(const struct recorded_modules *modules,
                            const struct recorded_module *module,
                            const struct analysis_options *options)
{
    const char *path = strtab_string(&modules->paths, module->path);
    if (!is_unchanged(module, path))
        return;
    autofree char *structure = cached_structure(path, options, 0, NULL);
    if (structure)
        print_pair(path, structure);
}

static void free_modules(struct recorded_modules *modules)
{
    for (size_t i = 0; i < modules->all.n; i++)
        free((void *)modules->all.at[i].build_id.at);
    vec_free(&modules->all);
    idmap_free(&modules->known);
    strtab_free(&modules->paths);
}

void cache_measured_modules(const char *directory, const struct analysis_options *options)
{
    struct measurement_files files = {0};
    struct recorded_modules modules = {0};
    char *cause = NULL;
    if (!measurement_list(directory, &files, &cause)) {
        diag_error(directory, "%s", cause);
        free(cause);
    } else if (files.paths.n == 0) {
        diag_error(directory, "no measurement files in it");
    }
    for (size_t i = 0; i < files.paths.n; i++)
        add_file(&modules, files.paths.at[i]);
    for (size_t i = 0; i < modules.all.n; i++)
        print_structure(&modules, &modules.all.at[i], options);
    if (fflush(stdout) != 0)
        diag_error("standard output", "%s", strerror(errno));
    measurement_files_free(&files);
    free_modules(&modules);
}

#include "hpcprof/sources/source-copies.h"

#include "hpcprof/base/file-writer.h"
#include "hpcprof/base/output-file.h"

#include "lib/diag.h"
#include "lib/path.h"
#include "lib/sanitized-text.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Refused files that are reported by name. */
#define MAX_REPORTED 3

/* ---- copying an open file ---- */

/* Makes the directories that lead to `path`. */
static bool make_parents(char *path, const char *database)
{
    bool good = true;
    for (char *slash = strchr(path + strlen(database) + 1, '/'); good && slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        good = output_make_directory(path) || errno == EEXIST;
        *slash = '/';
    }
    return good;
}

/* The absolute path of a source, normalized; NULL: unknown. The caller frees. */
static char *absolute_path(const char *source)
{
    autofree char *absolute = source[0] == '/' ? mem_strdup(source) : realpath(source, NULL);
    return absolute ? path_normalize(absolute) : NULL;
}

/* The path of a source's copy below the database: "src" and its absolute path, in UTF-8 like all
 * names in the database. The caller frees. */
static char *copy_path(const char *source)
{
    char *name = utf8_repaired(source), *copy = mem_printf(COPIES_FOLDER "%s", name);
    free(name);
    return copy;
}

static bool write_copy(int from, const char *source, const struct stat *status,
                       const char *database, const char *copy)
{
    autofree char *target = mem_printf("%s/%s", database, copy);
    bool good = make_parents(target, database);
    if (!good)
        diag_error(target, "%s", strerror(errno));
    else
        good = copy_file(from, source, (uint64_t)status->st_size, target,
                         (status->st_mode & 0777) | S_IRUSR);
    return good;
}

/* Copies an open file unless it was copied before. Returns the path of the copy, or NULL; the
 * caller frees. */
static char *copy_open_file(struct source_copies *copies, int from, const char *file,
                            const struct stat *status)
{
    char *source = absolute_path(file), *copy = source ? copy_path(source) : NULL;
    uint32_t known = copy ? strtab_find(&copies->copies, copy) : UINT32_MAX;
    bool is_new = known == UINT32_MAX;
    bool good = copy && (is_new ? write_copy(from, source, status, copies->database, copy)
                                : strtab_find(&copies->copied, source) == known);
    if (good && is_new) {
        strtab_id(&copies->copied, source);
        strtab_id(&copies->copies, copy);
    }
    free(source);
    if (good)
        return copy;
    free(copy);
    return NULL;
}

/* ---- finding files ---- */

/* A source file that is searched for. */
struct search {
    struct source_copies *copies;
    const struct source_owners *owners;
    const char *why_refused; /* why the first file found is not copied; NULL: none was refused */
    char *refused_file;
    char *copy; /* path of the copy; NULL: none yet */
};

/* A path_visitor. */
static bool try_file(void *context, const char *file, const char *found_in)
{
    struct search *search = context;
    struct stat status;
    const char *why;
    int fd =
        source_open(&search->copies->permissions, file, found_in, search->owners, &status, &why);
    if (fd < 0) {
        if (!search->why_refused) {
            search->why_refused = why;
            search->refused_file = mem_strdup(file);
        }
        return false;
    }
    search->copy = copy_open_file(search->copies, fd, file, &status);
    close(fd);
    return search->copy != NULL;
}

/* Returns the path of the copy, or "". */
static char *copy_source(struct source_copies *copies, uint32_t file)
{
    struct search search = {.copies = copies, .owners = &copies->permissions.of_file[file]};
    const char *path = strtab_string(&copies->symbols->files, file);
    bool is_copied = path_visit_sources(copies->rules, path, try_file, &search);
    if (!is_copied && search.why_refused && copies->n_refused++ < MAX_REPORTED)
        diag_note(search.refused_file, "this source file is not copied: %s", search.why_refused);
    free(search.refused_file);
    return search.copy ? search.copy : mem_strdup("");
}

/* ---- all together ---- */

void source_copies_start(struct source_copies *copies, const struct symbol_table *symbols,
                         const struct path_rules *rules, const char *database)
{
    *copies = (struct source_copies){
        .rules = rules,
        .database = database,
        .symbols = symbols,
        .path_of = mem_alloc(symbols->files.count * sizeof *copies->path_of),
    };
    source_permissions_find(&copies->permissions, symbols);
}

void source_copies_make(struct source_copies *copies, const struct numbered_contexts *contexts)
{
    assert(contexts->symbols == copies->symbols);
    for (size_t i = 0; i < contexts->files.ids.n; i++) {
        uint32_t file = contexts->files.ids.at[i];
        if (!copies->path_of[file])
            copies->path_of[file] = copy_source(copies, file);
    }
}

void source_copies_finish(struct source_copies *copies)
{
    if (copies->n_refused > MAX_REPORTED)
        diag_note(
            NULL,
            "%zu more source files are not copied for such reasons; -I DIR says where sources are",
            copies->n_refused - MAX_REPORTED);
    for (uint32_t i = 0; i < copies->symbols->files.count; i++)
        free(copies->path_of[i]);
    free(copies->path_of);
    source_permissions_free(&copies->permissions);
    strtab_free(&copies->copied);
    strtab_free(&copies->copies);
}

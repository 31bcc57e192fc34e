#include "hpcprof/sources/source-copies.h"

#include "hpcprof/base/file-writer.h"
#include "hpcprof/base/output-file.h"
#include "hpcprof/sources/source-access.h"

#include "lib/diag.h"
#include "lib/path.h"
#include "lib/sanitized-text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A source that is looked for. */
struct wanted {
    const char *path, *database;
    const struct source_origins *origins;
    const struct source_origin *origin;
    const char *refused; /* why a file that was found is not copied; NULL */
    char *refused_file;
    char *copy;
};

/* What is copied: several recorded paths may mean one file. Two files whose paths differ in bytes
 * that are not UTF-8 would have one copy: the second has none. Same id: the source and its copy. */
static struct strtab copied_sources, copies_made;

/* ---- refused files ---- */

#define MOST_TOLD 3
static size_t refused_count;

static void count_refused(const struct wanted *wanted)
{
    if (refused_count++ < MOST_TOLD)
        diag_note(wanted->refused_file, "this source file is not copied: %s", wanted->refused);
}

void sources_finish(void)
{
    if (refused_count > MOST_TOLD)
        diag_note(NULL,
                  "%zu more source files are not copied for such reasons; -I DIR says where "
                  "sources are",
                  refused_count - MOST_TOLD);
    refused_count = 0;
    strtab_free(&copied_sources);
    strtab_free(&copies_made);
}

/* ---- copies ---- */

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

/* The absolute path of a source, normalized, or NULL. */
static char *absolute_path(const char *source)
{
    char *absolute = source[0] == '/' ? mem_strdup(source) : realpath(source, NULL);
    char *normal = absolute ? path_normalize(absolute) : NULL;
    free(absolute);
    return normal;
}

/* The path of the copy of a source below the database: "src" and its absolute path, in UTF-8 as all
 * names in the database. */
static char *copy_path(const char *source)
{
    char *name = utf8_repaired(source), *copy = mem_printf("src%s", name);
    free(name);
    return copy;
}

static bool write_copy(int from, const char *source, const struct stat *status,
                       const char *database, const char *copy)
{
    char *target = mem_printf("%s/%s", database, copy);
    bool good = make_parents(target, database);
    if (!good)
        diag_error(target, "%s", strerror(errno));
    else
        good = copy_file(from, source, (uint64_t)status->st_size, target,
                         (status->st_mode & 0777) | S_IRUSR);
    free(target);
    return good;
}

/* The path of the copy, or NULL; the caller frees. */
static char *copy_open(int from, const char *file, const struct stat *status, const char *database)
{
    char *source = absolute_path(file), *copy = source ? copy_path(source) : NULL;
    uint32_t made = copy ? strtab_find(&copies_made, copy) : UINT32_MAX;
    bool good = copy && (made != UINT32_MAX ? strtab_find(&copied_sources, source) == made
                                            : write_copy(from, source, status, database, copy));
    if (good && made == UINT32_MAX) {
        strtab_id(&copied_sources, source);
        strtab_id(&copies_made, copy);
    }
    free(source);
    if (good)
        return copy;
    free(copy);
    return NULL;
}

/* A path_visitor. */
static bool try_file(void *context, const char *file, const char *found_in)
{
    struct wanted *wanted = context;
    const char *compiled_in = found_in ? NULL : source_origins_tree(wanted->origins, file);
    char *own = mem_printf("%.*s", (int)(path_base(file) - file), file);
    const struct source_tree tree = {
        .path = found_in      ? found_in
                : compiled_in ? compiled_in
                              : own,
        .is_of_sources = found_in || compiled_in,
    };
    struct stat status;
    const char *why;
    int fd = source_open(file, &tree, wanted->origin, &status, &why);
    free(own);
    if (fd < 0) {
        if (!wanted->refused) {
            wanted->refused = why;
            wanted->refused_file = mem_strdup(file);
        }
        return false;
    }
    wanted->copy = copy_open(fd, file, &status, wanted->database);
    close(fd);
    return wanted->copy != NULL;
}

void sources_copy(char **copies, const struct source_origins *origins,
                  const struct contexts *contexts, const char *database,
                  const struct path_rules *rules)
{
    for (size_t i = 0; i < contexts->files.ids.n; i++) {
        uint32_t id = contexts->files.ids.at[i];
        if (copies[id])
            continue;
        struct wanted wanted = {.path = strtab_string(&contexts->program->files, id),
                                .database = database,
                                .origins = origins,
                                .origin = &origins->of_file[id]};
        if (!path_visit_sources(rules, wanted.path, try_file, &wanted) && wanted.refused)
            count_refused(&wanted);
        free(wanted.refused_file);
        copies[id] = wanted.copy ? wanted.copy : mem_strdup("");
    }
}

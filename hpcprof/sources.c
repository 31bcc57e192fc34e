#include "hpcprof/sources.h"

#include "hpcprof/file-writer.h"

#include "lib/diag.h"
#include "lib/path.h"
#include "lib/utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Makes the directories that lead to `path`. */
static void make_parents(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        int status = mkdir(path, 0777);
        if (status != 0 && errno != EEXIST)
            diag_fatal(path, "%s", strerror(errno));
        *slash = '/';
    }
}

/* The path of the copy of a source below the database: "src" and its absolute path, in UTF-8 as all
 * names in the database. */
static char *copy_path(const char *source)
{
    char *absolute = source[0] == '/' ? mem_strdup(source) : realpath(source, NULL);
    if (!absolute)
        return NULL;
    char *normal = path_normalize(absolute), *name = utf8_repaired(normal);
    char *copy = mem_printf("src%s", name);
    free(absolute);
    free(normal);
    free(name);
    return copy;
}

/* The path of the copy, or "". */
static char *copy_source(const char *path, const char *database, const struct path_rules *rules)
{
    char *source = path_find_source(rules, path), *copy = source ? copy_path(source) : NULL;
    if (copy) {
        char *target = mem_printf("%s/%s", database, copy);
        make_parents(target);
        if (!copy_file(source, target)) {
            free(copy);
            copy = NULL;
        }
        free(target);
    }
    free(source);
    return copy ? copy : mem_strdup("");
}

void sources_copy(char **copies, const struct contexts *contexts, const char *database,
                  const struct path_rules *rules)
{
    for (size_t i = 0; i < contexts->files.ids.n; i++) {
        uint32_t id = contexts->files.ids.at[i];
        const char *path = strtab_string(&contexts->program->files, id);
        if (!copies[id])
            copies[id] = copy_source(path, database, rules);
    }
}

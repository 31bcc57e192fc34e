#include "hpcprof/modules/structure-finder.h"

#include "hpcprof/modules/measured-binary.h"
#include "hpcprof/base/trusted-path.h"
#include "hpcprof/base/subprocess.h"

#include "lib/diag.h"
#include "lib/parallel.h"
#include "lib/path.h"
#include "lib/structure-cache.h"

#include <errno.h>
#include <libxml/parser.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct finder {
    const struct path_rules *rules;
    const char *scratch;
    char *hpcstruct;             /* its path */
    char *cache;                 /* directory of structure files, or NULL */
    VEC(struct module *) wanted; /* the largest first: they take longest */
    double wanted_size;          /* of all their files */
    unsigned workers;
};

/* The module stays without structure. */
static void give_up(struct module *module, char *why)
{
    diag_error(module->path, "%s: its code is shown without names", why);
    free(module->why);
    module->why = why;
}

/* ---- which file ---- */

/* The path of the binary that was measured, or NULL, and then why it cannot be had; the caller
 * frees both. */
static char *find_binary(const struct finder *finder, const struct module *module, char **why)
{
    enum binary_match worst = BINARY_MISSING;
    *why = mem_strdup("the file does not exist");
    for (size_t i = 0; i < 2 * module->paths.n; i++) {
        const char *recorded = module->paths.at[i / 2];
        char *path = i % 2 ? mem_strdup(recorded) : path_replace(finder->rules, recorded);
        char *cause = NULL;
        enum binary_match match = path ? binary_compare(path, module, &cause) : BINARY_MISSING;
        if (path && match == BINARY_MATCHES)
            return path;
        free(path);
        if (match > worst) {
            worst = match;
            free(*why);
            *why = cause;
        } else {
            free(cause);
        }
    }
    return NULL;
}

/* ---- hpcstruct ---- */

/* The first line of what hpcstruct says, without its name. */
static char *first_line(const char *text)
{
    static const char name[] = "hpcstruct: ";
    if (strncmp(text, name, strlen(name)) == 0)
        text += strlen(name);
    return mem_strndup(text, strcspn(text, "\n"));
}

static char *failure(const struct program_output *result)
{
    char *line = first_line(result->errors), *text;
    if (line[0] != '\0')
        text = mem_printf("hpcstruct: %s", line);
    else if (result->status != -1 && WIFSIGNALED(result->status))
        text = mem_printf("hpcstruct was killed by signal %d", WTERMSIG(result->status));
    else
        text = mem_strdup("hpcstruct failed");
    free(line);
    return text;
}

/* The -j of a module's hpcstruct: its share of the workers, or one. */
static unsigned workers_for(const struct finder *finder, const struct module *module)
{
    double share = finder->wanted_size ? (double)module->file_size / finder->wanted_size : 0;
    unsigned workers = (unsigned)(share * finder->workers + 0.5);
    return workers ? workers : 1;
}

/* The path of the structure file in the cache, or NULL; *why is what hpcstruct complains about, or
 * NULL. The caller frees both. */
static char *make_structure(const struct finder *finder, const struct module *module,
                            const char *binary, char **why)
{
    char workers[16];
    snprintf(workers, sizeof workers, "%u", workers_for(finder, module));
    char *const arguments[] = {"hpcstruct", "-j", workers, "--cache", (char *)binary, NULL};
    struct program_output result = run_program(finder->hpcstruct, arguments);
    char *path = first_line(result.output);
    if (path[0] != '/' || access(path, R_OK) != 0) {
        free(path);
        path = NULL;
    }
    *why = path && result.status == 0 ? NULL : failure(&result);
    program_output_free(&result);
    return path;
}

/* NULL, and then *why, when there is none to be had. A damaged file in the cache is told and made
 * again once. */
static struct structure *structure_of_binary(const struct finder *finder,
                                             const struct module *module, const char *binary,
                                             char **why)
{
    for (int attempt = 0; attempt < 2; attempt++) {
        char *path = make_structure(finder, module, binary, why), *cause = NULL;
        if (!path)
            return NULL;
        if (*why)
            diag_error(binary, "%s", *why);
        free(*why);
        *why = NULL;
        struct structure *s = structure_read(path, &cause);
        if (!s) {
            diag_error(path, "the structure file is damaged: %s", cause);
            unlink(path);
        }
        free(path);
        free(cause);
        if (s)
            return s;
    }
    *why = mem_strdup("its structure file is damaged");
    return NULL;
}

/* ---- modules ---- */

/* That of another kernel is no cause for complaint: nobody can have it. */
static struct structure *structure_of_vdso(const struct finder *finder, struct module *module)
{
    char *path = mem_printf("%s/[vdso]", finder->scratch), *why = NULL;
    struct structure *s = NULL;
    if (!binary_write_vdso(module, path)) {
        free(module->why);
        module->why = mem_strdup("the vdso of another kernel");
    } else {
        s = structure_of_binary(finder, module, path, &why);
        if (!s)
            give_up(module, why);
    }
    unlink(path);
    free(path);
    return s;
}

static struct structure *structure_from_cache(const struct finder *finder,
                                              const struct module *module)
{
    char *path = NULL, *cause = NULL;
    if (finder->cache && module->build_id[0] != '\0')
        path = structure_cache_find(finder->cache, module->build_id);
    struct structure *s = path ? structure_read(path, &cause) : NULL;
    free(path);
    free(cause);
    return s;
}

static struct structure *structure_of_file(const struct finder *finder, struct module *module)
{
    char *why, *binary = find_binary(finder, module, &why);
    struct structure *s;
    module->owner = NO_USER;
    if (binary) {
        free(why);
        s = structure_of_binary(finder, module, binary, &why);
        if (!real_path_owner(binary, &module->owner))
            module->owner = NO_USER;
        module->binary = binary;
    } else if ((s = structure_from_cache(finder, module))) {
        diag_note(module->path, "%s: its structure is still in the cache", why);
        free(why);
    }
    if (!s)
        give_up(module, why);
    return s;
}

static void find_one(void *context, unsigned worker, size_t index)
{
    (void)worker;
    const struct finder *finder = context;
    struct module *module = finder->wanted.at[index];
    module->structure =
        module->is_vdso ? structure_of_vdso(finder, module) : structure_of_file(finder, module);
    if (module->structure)
        module->quality = module->structure->has_lines ? STRUCTURE_FULL : STRUCTURE_SYMBOLS;
    diag_progress_add(1);
}

static int by_size(const void *a, const void *b)
{
    const struct module *x = *(struct module *const *)a, *y = *(struct module *const *)b;
    if (x->file_size != y->file_size)
        return x->file_size < y->file_size ? 1 : -1;
    return (x > y) - (x < y);
}

static void list_wanted(struct finder *finder, struct modules *modules)
{
    for (size_t i = 0; i < modules->all.n; i++) {
        if (!modules->all.at[i].used)
            continue;
        vec_push(&finder->wanted, &modules->all.at[i]);
        finder->wanted_size += (double)modules->all.at[i].file_size;
    }
    if (finder->wanted.n)
        qsort(finder->wanted.at, finder->wanted.n, sizeof *finder->wanted.at, by_size);
}

/* Without hpcstruct one line is enough for all modules. */
static void do_without(struct finder *finder)
{
    diag_error(finder->hpcstruct, "%s: code is shown without names", strerror(errno));
    for (size_t i = 0; i < finder->wanted.n; i++) {
        free(finder->wanted.at[i]->why);
        finder->wanted.at[i]->why = mem_strdup("there is no hpcstruct");
    }
}

void structures_find(struct modules *modules, const struct path_rules *rules, const char *scratch,
                     unsigned workers)
{
    struct finder finder = {.rules = rules,
                            .scratch = scratch,
                            .hpcstruct = path_of_tool("hpcstruct"),
                            .workers = workers};
    char *note;
    finder.cache = structure_cache_directory(&note);
    free(note); /* hpcstruct tells it */
    list_wanted(&finder, modules);
    xmlInitParser();
    if (finder.wanted.n && access(finder.hpcstruct, X_OK) != 0) {
        do_without(&finder);
    } else {
        diag_progress_begin("recovering program structure", finder.wanted.n);
        parallel_for(finder.wanted.n, workers, find_one, &finder);
        diag_progress_end();
    }
    vec_free(&finder.wanted);
    free(finder.hpcstruct);
    free(finder.cache);
}

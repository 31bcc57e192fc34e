#include "hpcprof/modules/structure-finder.h"

#include "hpcprof/base/subprocess.h"
#include "hpcprof/modules/measured-binary.h"
#include "hpcprof/modules/structure-image.h"

#include "lib/diag.h"
#include "lib/parallel.h"
#include "lib/path.h"
#include "lib/structure-cache.h"
#include "lib/trusted-path.h"

#include <errno.h>
#include <libxml/parser.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A module whose structure is wanted, and where the result goes. */
struct wanted_module {
    const struct load_module *module;
    struct module_structure *result;
};

struct finder {
    const struct path_rules *rules;
    const char *scratch;
    char *hpcstruct;                  /* path of the tool */
    char *cache;                      /* directory of structure files; NULL: none */
    VEC(struct wanted_module) wanted; /* largest file first: it takes longest */
    double wanted_size;               /* bytes of all their files */
    unsigned workers;
};

static void set_why(struct module_structure *result, char *why)
{
    free(result->why);
    result->why = why;
}

/* Leaves the module without structure; takes `why`. */
static void give_up(const struct wanted_module *wanted, char *why)
{
    diag_error(wanted->module->path, "%s: its code is shown without names", why);
    set_why(wanted->result, why);
}

/* ---- which file ---- */

/* Returns the path of the binary that was measured; NULL if it cannot be had, and then *why says
 * why. The caller frees both. */
static char *find_binary(const struct finder *finder, const struct load_module *module, char **why)
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

/* The first line of a text, without the leading "hpcstruct: ". */
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

/* The -j of a module's hpcstruct: workers in proportion to its share of all bytes, at least one. */
static unsigned workers_for(const struct finder *finder, const struct load_module *module)
{
    double share = finder->wanted_size ? (double)module->file_size / finder->wanted_size : 0;
    unsigned workers = (unsigned)(share * finder->workers + 0.5);
    return workers ? workers : 1;
}

/* Returns the path of the structure file in the cache; NULL if there is none. *why is hpcstruct's
 * complaint; NULL if it has none. The caller frees both. */
static char *make_structure(const struct finder *finder, const struct load_module *module,
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

/* Returns NULL and sets *why if there is no structure. A damaged file in the cache is reported and
 * made again once. */
static struct structure *structure_of_binary(const struct finder *finder,
                                             const struct load_module *module, const char *binary,
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
        struct structure *s = structure_read_cached(path, &cause);
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

/* A vdso of another kernel is no error: its code exists only on the machine of the run. */
static void find_for_vdso(const struct finder *finder, const struct wanted_module *wanted)
{
    char *path = mem_printf("%s/[vdso]", finder->scratch), *why = NULL;
    if (!binary_write_vdso(wanted->module, path))
        set_why(wanted->result, mem_strdup("it is the vdso of another kernel"));
    else if (!(wanted->result->structure = structure_of_binary(finder, wanted->module, path, &why)))
        give_up(wanted, why);
    unlink(path);
    free(path);
}

static struct structure *structure_from_cache(const struct finder *finder,
                                              const struct load_module *module)
{
    char *path = NULL, *cause = NULL;
    if (finder->cache && module->build_id[0] != '\0')
        path = structure_cache_find(finder->cache, module->build_id);
    struct structure *s = path ? structure_read_cached(path, &cause) : NULL;
    free(path);
    free(cause);
    return s;
}

static void find_for_file(const struct finder *finder, const struct wanted_module *wanted)
{
    const struct load_module *module = wanted->module;
    struct module_structure *result = wanted->result;
    char *why;
    result->binary = find_binary(finder, module, &why);
    if (result->binary) {
        free(why);
        result->structure = structure_of_binary(finder, module, result->binary, &why);
        if (!trusted_path_owner(result->binary, &result->owner))
            result->owner = NO_USER;
    } else if ((result->structure = structure_from_cache(finder, module))) {
        diag_note(module->path, "%s: its structure is still in the cache", why);
        free(why);
    }
    if (!result->structure)
        give_up(wanted, why);
}

static void find_one(void *context, unsigned worker, size_t index)
{
    (void)worker;
    const struct finder *finder = context;
    const struct wanted_module *wanted = &finder->wanted.at[index];
    if (wanted->module->is_vdso)
        find_for_vdso(finder, wanted);
    else
        find_for_file(finder, wanted);
    if (wanted->result->structure)
        wanted->result->quality =
            wanted->result->structure->has_lines ? STRUCTURE_FULL : STRUCTURE_SYMBOLS;
    diag_progress_add(1);
}

static int by_size(const void *a, const void *b)
{
    const struct load_module *x = ((const struct wanted_module *)a)->module;
    const struct load_module *y = ((const struct wanted_module *)b)->module;
    if (x->file_size != y->file_size)
        return x->file_size < y->file_size ? 1 : -1;
    return (x > y) - (x < y);
}

static void list_wanted(struct finder *finder, struct structures *structures,
                        const struct load_modules *modules)
{
    for (size_t i = 0; i < modules->all.n; i++) {
        const struct load_module *module = &modules->all.at[i];
        structures->of_module[i] =
            (struct module_structure){.owner = NO_USER, .why = mem_strdup("")};
        if (!module->is_used)
            continue;
        vec_push(&finder->wanted, (struct wanted_module){module, &structures->of_module[i]});
        finder->wanted_size += (double)module->file_size;
    }
    if (finder->wanted.n)
        qsort(finder->wanted.at, finder->wanted.n, sizeof *finder->wanted.at, by_size);
}

/* Reports a missing hpcstruct once instead of once per module. */
static void do_without_hpcstruct(struct finder *finder)
{
    diag_error(finder->hpcstruct, "%s: code is shown without names", strerror(errno));
    for (size_t i = 0; i < finder->wanted.n; i++)
        set_why(finder->wanted.at[i].result, mem_strdup("hpcstruct is missing"));
}

void structures_find(struct structures *structures, const struct load_modules *modules,
                     const struct path_rules *rules, const char *scratch, unsigned workers)
{
    struct finder finder = {.rules = rules,
                            .scratch = scratch,
                            .hpcstruct = path_of_tool("hpcstruct"),
                            .workers = workers};
    char *note;
    finder.cache = structure_cache_directory(&note);
    free(note); /* hpcstruct reports it */
    structures->n = modules->all.n;
    structures->of_module = mem_alloc(structures->n * sizeof *structures->of_module);
    list_wanted(&finder, structures, modules);
    xmlInitParser();
    if (finder.wanted.n && access(finder.hpcstruct, X_OK) != 0) {
        do_without_hpcstruct(&finder);
    } else {
        diag_progress_begin("recovering program structure", finder.wanted.n);
        parallel_for(finder.wanted.n, workers, find_one, &finder);
        diag_progress_end();
    }
    vec_free(&finder.wanted);
    free(finder.hpcstruct);
    free(finder.cache);
}

void structures_free(struct structures *structures)
{
    for (size_t i = 0; i < structures->n; i++) {
        structure_free(structures->of_module[i].structure);
        free(structures->of_module[i].binary);
        free(structures->of_module[i].why);
    }
    free(structures->of_module);
    *structures = (struct structures){0};
}

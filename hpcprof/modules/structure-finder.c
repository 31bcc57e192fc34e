#include "hpcprof/modules/structure-finder.h"

#include "hpcprof/modules/measured-binary.h"

#include "lib/diag.h"
#include "lib/parallel.h"
#include "lib/path.h"
#include "lib/safe-input.h"
#include "lib/structure-cache.h"
#include "lib/subprocess.h"
#include "lib/trusted-path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A module whose structure is wanted, and where the result goes. */
struct wanted_module {
    const struct load_module *module;
    const struct address_set *addresses; /* that call paths go through */
    bool needs_whole;
    struct module_structure *result;
};

struct finder {
    const struct structure_search *search;
    char *hpcstruct;                  /* path of the tool */
    char *cache;                      /* directory of structure files; NULL: none */
    VEC(struct wanted_module) wanted; /* largest file first: it takes longest */
    double wanted_size;               /* bytes of all their files */
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
        char *path = i % 2 ? mem_strdup(recorded) : path_replace(finder->search->rules, recorded);
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
    unsigned workers = (unsigned)(share * finder->search->workers + 0.5);
    return workers ? workers : 1;
}

/* The progress of one module's hpcstruct, in bytes of the file. */
struct module_progress {
    uint64_t size, done;
};

static void move_on(struct module_progress *module, uint64_t done)
{
    if (done > module->done) {
        diag_progress_add(done - module->done);
        module->done = done;
    }
}

static void watch_module(void *context, const struct diag_progress *progress)
{
    struct module_progress *module = context;
    double part = progress->total ? (double)progress->done / (double)progress->total : 0;
    move_on(module, (uint64_t)((part < 1 ? part : 1) * (double)module->size));
}

/* Runs hpcstruct. Where all procedures matter, or their addresses cannot be given (NO_INPUT), it makes the
 * whole structure. */
static struct program_output run_hpcstruct(const struct finder *finder,
                                           const struct wanted_module *wanted, const char *binary)
{
    char workers[16], large[16], progress_fd[16];
    snprintf(workers, sizeof workers, "%u", workers_for(finder, wanted->module));
    snprintf(large, sizeof large, "%u", finder->search->large);
    snprintf(progress_fd, sizeof progress_fd, "%d", PROGRESS_FD);
    char *const whole[] = {"hpcstruct", "-j",        workers,        "--cache",
                           "--progress", progress_fd, (char *)binary, NULL};
    char *const part[] = {"hpcstruct", "-j", workers,      "--cache",   "--large",      large,
                          "--only",    "-",  "--progress", progress_fd, (char *)binary, NULL};
    struct module_progress progress = {.size = wanted->module->file_size};
    int addresses = wanted->needs_whole ? NO_INPUT : address_set_file(wanted->addresses);
    bool is_whole = addresses == NO_INPUT;
    struct program_output result =
        run_program(&(struct program_start){.path = finder->hpcstruct,
                                            .arguments = is_whole ? whole : part,
                                            .input = addresses,
                                            .watch = watch_module,
                                            .context = &progress});
    move_on(&progress, progress.size);
    if (!is_whole)
        close(addresses);
    return result;
}

/* The addresses whose procedures are wanted; NULL: all procedures are. */
static const struct address_set *only_of(const struct wanted_module *wanted)
{
    return wanted->needs_whole ? NULL : wanted->addresses;
}

/* Reads an image of the cache. NULL if there is none; *damaged is then its path, owned, if it cannot be
 * read. */
static struct structure *read_cached(const char *path, const struct wanted_module *wanted,
                                     char **damaged)
{
    struct stat status;
    autofree char *cause = NULL;
    int fd = input_open(path, &status, &cause);
    if (fd < 0)
        return NULL;
    struct structure *s = structure_read_file(fd, only_of(wanted));
    close(fd);
    if (!s) {
        diag_error(path, "the structure file is damaged");
        *damaged = mem_strdup(path);
    }
    return s;
}

/* Reads what hpcstruct printed: the path of the image in the cache, or the image. NULL: neither;
 * *damaged as above. */
static struct structure *read_output(struct program_output *result,
                                     const struct wanted_module *wanted, char **damaged)
{
    autofree char *line = NULL;
    size_t size = 0;
    if (!result->output)
        return NULL;
    struct structure *s = structure_read_file(fileno(result->output), only_of(wanted));
    if (!s && getline(&line, &size, result->output) > 0) {
        line[strcspn(line, "\n")] = '\0';
        s = read_cached(line, wanted, damaged);
    }
    return s;
}

/* Runs hpcstruct and reads the structure. *why: the cause if there is none. *damaged as above. */
static struct structure *make_structure(const struct finder *finder,
                                        const struct wanted_module *wanted, const char *binary,
                                        char **why, char **damaged)
{
    struct program_output result = run_hpcstruct(finder, wanted, binary);
    struct structure *s = read_output(&result, wanted, damaged);
    char *complaint = s && result.status == 0 ? NULL : failure(&result);
    if (s && complaint)
        diag_error(binary, "%s", complaint);
    if (s) {
        free(complaint);
        complaint = NULL;
    }
    program_output_free(&result);
    *why = complaint;
    return s;
}

/* Returns NULL and sets *why if there is no structure. A damaged file in the cache is reported and
 * made again once. */
static struct structure *structure_of_binary(const struct finder *finder,
                                             const struct wanted_module *wanted, const char *binary,
                                             char **why)
{
    for (int attempt = 0; attempt < 2; attempt++) {
        autofree char *damaged = NULL;
        struct structure *s = make_structure(finder, wanted, binary, why, &damaged);
        if (!damaged)
            return s;
        unlink(damaged);
        free(*why);
    }
    *why = mem_strdup("its structure file is damaged");
    return NULL;
}

/* ---- modules ---- */

/* A vdso of another kernel is no error: its code exists only on the machine of the run. */
static void find_for_vdso(const struct finder *finder, const struct wanted_module *wanted)
{
    char *path = mem_printf("%s/[vdso]", finder->search->scratch), *why = NULL;
    if (!binary_write_vdso(wanted->module, path))
        set_why(wanted->result, mem_strdup("it is the vdso of another kernel"));
    else if (!(wanted->result->structure = structure_of_binary(finder, wanted, path, &why)))
        give_up(wanted, why);
    unlink(path);
    free(path);
}

/* A procedure without a name is no error: the kernel may have hidden its addresses from the process. */
static void find_for_kernel(const struct finder *finder, const struct wanted_module *wanted)
{
    wanted->result->structure =
        kernel_structure(&finder->search->directories, wanted->module->header_hash, wanted->addresses);
    if (!wanted->result->structure)
        set_why(wanted->result, mem_strdup("the kernel hid its addresses from the program"));
}

static struct structure *structure_from_cache(const struct finder *finder,
                                              const struct wanted_module *wanted)
{
    char *path = NULL, *damaged = NULL;
    if (finder->cache && wanted->module->build_id[0] != '\0')
        path = structure_cache_find(finder->cache, wanted->module->build_id);
    struct structure *s = path ? read_cached(path, wanted, &damaged) : NULL;
    free(path);
    free(damaged);
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
        result->structure = structure_of_binary(finder, wanted, result->binary, &why);
        if (!trusted_path_owner(result->binary, &result->owner))
            result->owner = NO_USER;
    } else if ((result->structure = structure_from_cache(finder, wanted))) {
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
    else if (wanted->module->is_kernel)
        find_for_kernel(finder, wanted);
    else
        find_for_file(finder, wanted);
    struct structure *s = wanted->result->structure;
    if (s) {
        structure_mark_sampled(s, wanted->addresses->all.at, wanted->addresses->all.n,
                               wanted->needs_whole);
        wanted->result->quality = s->has_lines ? STRUCTURE_FULL : STRUCTURE_SYMBOLS;
    }
}

static int by_size(const void *a, const void *b)
{
    const struct load_module *x = ((const struct wanted_module *)a)->module;
    const struct load_module *y = ((const struct wanted_module *)b)->module;
    if (x->file_size != y->file_size)
        return x->file_size < y->file_size ? 1 : -1;
    return (x > y) - (x < y);
}

static void list_wanted(struct finder *finder, struct structures *structures)
{
    const struct structure_search *search = finder->search;
    for (size_t i = 0; i < search->modules->all.n; i++) {
        const struct load_module *module = &search->modules->all.at[i];
        structures->of_module[i] =
            (struct module_structure){.owner = NO_USER, .why = mem_strdup("")};
        if (!module->is_used)
            continue;
        const struct wanted_module wanted = {
            .module = module,
            .addresses = &search->addresses->of_module[i],
            .needs_whole = search->needs_whole && search->needs_whole[i],
            .result = &structures->of_module[i],
        };
        vec_push(&finder->wanted, wanted);
        finder->wanted_size += (double)module->file_size;
    }
    vec_sort(&finder->wanted, by_size);
}

/* Reports a missing hpcstruct once instead of once per module. */
static void do_without_hpcstruct(struct finder *finder)
{
    diag_error(finder->hpcstruct, "%s: code is shown without names", strerror(errno));
    for (size_t i = 0; i < finder->wanted.n; i++)
        set_why(finder->wanted.at[i].result, mem_strdup("hpcstruct is missing"));
}

void structures_find(struct structures *structures, const struct structure_search *search)
{
    struct finder finder = {.search = search, .hpcstruct = path_of_tool("hpcstruct")};
    char *note;
    finder.cache = structure_cache_directory(&note);
    free(note); /* hpcstruct reports it */
    structures->n = search->modules->all.n;
    structures->of_module = mem_alloc(structures->n * sizeof *structures->of_module);
    list_wanted(&finder, structures);
    if (finder.wanted.n && access(finder.hpcstruct, X_OK) != 0) {
        do_without_hpcstruct(&finder);
    } else {
        diag_progress_begin_bytes("recovering program structure", (size_t)finder.wanted_size);
        parallel_for(finder.wanted.n, search->workers, find_one, &finder);
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

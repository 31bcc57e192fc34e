#include "hpcprof/sources/source-permission.h"

#include "lib/path.h"
#include "lib/trusted-path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- owners ---- */

static void add_owner(struct source_owners *owners, uid_t owner)
{
    if (owner == 0)
        owners->has_root = true;
    if (owner == geteuid())
        owners->has_user = true;
    else if (owner != 0)
        owners->other = owner;
}

static void add_module(struct source_permissions *permissions, const struct symbol_table *symbols,
                       size_t index)
{
    const struct module_structure *module = &symbols->structures->of_module[index];
    const struct structure *s = module->structure;
    uid_t owner = s ? module->owner : NO_USER;
    if (owner == NO_USER)
        return;
    for (uint32_t i = 0; i < s->files.count; i++)
        add_owner(&permissions->of_file[symbols->file_of[index][i]], owner);
    if (owner != 0 && owner != geteuid())
        return;
    for (uint32_t i = 0; i < s->directories.count; i++)
        if (strcmp(strtab_string(&s->directories, i), "/") != 0) /* contains every file */
            strtab_id(&permissions->directories, strtab_string(&s->directories, i));
}

/* The user who owns all measurement files; NO_USER if they have several owners. */
static uid_t owner_of_measurements(const struct measurements *measurements)
{
    uid_t all = NO_USER, owner;
    for (size_t i = 0; i < measurements->files.n; i++) {
        if (!trusted_path_owner(measurements->files.at[i].m->path, &owner) || (i && owner != all))
            return NO_USER;
        all = owner;
    }
    return all;
}

void source_permissions_find(struct source_permissions *permissions,
                             const struct symbol_table *symbols)
{
    size_t count = symbols->files.count;
    *permissions =
        (struct source_permissions){.of_file = mem_alloc(count * sizeof *permissions->of_file)};
    for (size_t i = 0; i < count; i++)
        permissions->of_file[i].other = NO_USER;
    for (size_t i = 0; i < symbols->structures->n; i++)
        add_module(permissions, symbols, i);
    uid_t owner = owner_of_measurements(symbols->measurements);
    if (owner == NO_USER)
        return;
    for (size_t i = 0; i < symbols->functions.n; i++) {
        const struct function *function = &symbols->functions.at[i];
        if (function->module == NO_SYMBOL && function->file != NO_SYMBOL)
            add_owner(&permissions->of_file[function->file], owner);
    }
}

void source_permissions_free(struct source_permissions *permissions)
{
    free(permissions->of_file);
    strtab_free(&permissions->directories);
}

/* The innermost directory of compilation that contains an absolute path; NULL: none. */
static const char *directory_of_compilation(const struct source_permissions *permissions,
                                            const char *path)
{
    autofree char *above = mem_strdup(path);
    const char *tree = NULL;
    for (char *slash; !tree && (slash = strrchr(above, '/')) && slash != above;) {
        *slash = '\0';
        uint32_t id = strtab_find(&permissions->directories, above);
        tree = id == UINT32_MAX ? NULL : strtab_string(&permissions->directories, id);
    }
    return tree;
}

/* ---- access ---- */

/* Opens a path without links, component by component, so that a component that has become a link
 * meanwhile is not followed. *may_search: everybody may search the directories. */
static int open_without_links(char *path, bool *may_search)
{
    struct stat status;
    int directory = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    char *name = path + 1;
    *may_search = true;
    for (char *slash; directory >= 0 && (slash = strchr(name, '/')); name = slash + 1) {
        *slash = '\0';
        int next = openat(directory, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        *slash = '/';
        close(directory);
        directory = next;
        if (next >= 0 && (fstat(next, &status) != 0 || !(status.st_mode & S_IXOTH)))
            *may_search = false;
    }
    if (directory < 0)
        return -1;
    int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    close(directory);
    return fd;
}

/* The directory tree in which a file was looked for. */
struct source_tree {
    const char *path;
    bool is_of_sources; /* a directory of compilation, of -I or of -R */
};

/* `for_everybody`: everybody may read the file. */
static bool is_permitted(const struct stat *status, bool for_everybody,
                         const struct source_tree *tree, const struct source_owners *owners)
{
    bool is_own = status->st_uid == geteuid() && (owners->has_user || owners->has_root);
    bool is_theirs = owners->other != NO_USER && status->st_uid == owners->other;
    return for_everybody ||
           ((is_own || is_theirs) && (status->st_uid != 0 || tree->is_of_sources));
}

/* A link to what everybody may read gives nothing away: the program could have named that file itself. */
static const char *why_not(const struct stat *status, bool for_everybody, bool is_in_tree,
                           const struct source_tree *tree, const struct source_owners *owners)
{
    if (!S_ISREG(status->st_mode))
        return "it is not a regular file";
    if (status->st_size > SOURCE_MAX_BYTES)
        return "it has more than 64 MiB";
    if (!for_everybody && !is_in_tree)
        return "a symbolic link leads out of the directory in which it was looked for, to a file that not all "
               "users may read";
    if (!is_permitted(status, for_everybody, tree, owners))
        return "not all users may read it, so it must be below the directory in which a program of its owner was "
               "compiled";
    return NULL;
}

static int open_in_tree(const char *path, const struct source_tree *tree,
                        const struct source_owners *owners, struct stat *status, const char **why)
{
    char *top = trusted_path(tree->path, owners->other), *file = trusted_path(path, owners->other);
    bool may_search = false, is_in_tree = file && top && path_is_below(file, top);
    int fd = file ? open_without_links(file, &may_search) : -1;
    if (!file && errno == EPERM)
        *why = "a symbolic link on the way is another user's";
    else if (fd < 0 || fstat(fd, status) != 0)
        *why = strerror(errno);
    else
        *why = why_not(status, may_search && (status->st_mode & S_IROTH), is_in_tree, tree, owners);
    if (*why && fd >= 0) {
        close(fd);
        fd = -1;
    }
    free(file);
    free(top);
    return fd;
}

int source_open(const struct source_permissions *permissions, const char *path,
                const char *found_in, const struct source_owners *owners, struct stat *status,
                const char **why)
{
    const char *compiled_in = found_in ? NULL : directory_of_compilation(permissions, path);
    autofree char *own = mem_printf("%.*s", (int)(path_base(path) - path), path);
    const struct source_tree tree = {
        .path = found_in      ? found_in
                : compiled_in ? compiled_in
                              : own,
        .is_of_sources = found_in || compiled_in,
    };
    return open_in_tree(path, &tree, owners, status, why);
}

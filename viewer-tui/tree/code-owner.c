#include "viewer-tui/tree/code-owner.h"

#include "lib/alloc.h"
#include "lib/measurement-format.h"
#include "lib/path.h"
#include "lib/safe-input.h"
#include "lib/source-names.h"
#include "viewer-tui/tree/labels.h"
#include "viewer-tui/tree/start-names.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* dpkg's lists of the files of each package, such as "zlib1g:amd64.list". */
#define LISTS  "/var/lib/dpkg/info"
#define SUFFIX ".list"

/* /lib and /bin are links to folders in /usr. */
static const char *without_usr(const char *path)
{
    return strncmp(path, "/usr/", 5) == 0 ? path + 4 : path;
}

static bool has_file(const char *list, const char *path)
{
    char *line = NULL, *cause = NULL;
    size_t size = 0;
    bool is_found = false;
    FILE *file = input_stream(list, &cause);
    free(cause);
    if (!file)
        return false;
    while (!is_found && getline(&line, &size, file) > 0) {
        line[strcspn(line, "\n")] = '\0';
        is_found = strcmp(without_usr(line), without_usr(path)) == 0;
    }
    free(line);
    fclose(file);
    return is_found;
}

char *package_of(const char *path)
{
    char *found = NULL;
    const struct dirent *entry;
    DIR *directory = opendir(LISTS);
    while (directory && !found && (entry = readdir(directory))) {
        size_t length = strlen(entry->d_name), suffix = strlen(SUFFIX);
        if (length <= suffix || strcmp(entry->d_name + length - suffix, SUFFIX) != 0)
            continue;
        autofree char *list = mem_printf("%s/%s", LISTS, entry->d_name);
        size_t name = strcspn(entry->d_name, ":");
        if (has_file(list, path))
            found = mem_strndup(entry->d_name, name < length ? name : length - suffix);
    }
    if (directory)
        closedir(directory);
    return found;
}

/* An owner that the rules about source files leave open. */
#define OPEN (CODE_OWN + 1)

static bool begins_with_one_of(const char *text, const char *const *beginnings)
{
    for (; *beginnings; beginnings++)
        if (strncmp(text, *beginnings, strlen(*beginnings)) == 0)
            return true;
    return false;
}

static bool is_of_package(const char *path)
{
    char *package = strncmp(path, "/opt/", 5) == 0 ? package_of(path) : NULL;
    free(package);
    return package != NULL;
}

static bool is_in(const char *path, const char *directory)
{
    size_t length = strlen(directory);
    return length && strncmp(path, directory, length) == 0 &&
           (path[length] == '/' || path[length] == '\0' || directory[length - 1] == '/');
}

/* What the user's list says. */
static unsigned listed_owner(const struct path_rules *rules, const char *path)
{
    unsigned owner = OPEN;
    size_t longest = 0;
    for (size_t i = 0; rules && i < rules->own.n; i++) {
        const char *entry = rules->own.at[i], *directory = entry + (*entry == '!');
        if (is_in(path, directory) && strlen(directory) >= longest) {
            longest = strlen(directory);
            owner = *entry == '!' ? CODE_OF_PACKAGE : CODE_OWN;
        }
    }
    return owner;
}

/* A path_visitor: any file will do. */
static bool is_there(void *context, const char *file, const char *tree)
{
    (void)context, (void)file, (void)tree;
    return true;
}

static unsigned find_owner_of_file(const struct database *db, uint32_t file)
{
    static const struct path_rules none;
    const char *path = database_file_path(db, file);
    const struct path_rules *rules = db->rules ? db->rules : &none;
    unsigned listed = path ? listed_owner(rules, path) : OPEN;
    if (!path || listed != OPEN)
        return listed;
    if (path_is_of_dependency(path))
        return CODE_OF_PACKAGE;
    if (overhead_kind(path))
        return CODE_OF_SYSTEM;
    if (path_is_installed(path))
        return strstr(path, "-packages/") ? CODE_OF_PACKAGE : CODE_OF_SYSTEM; /* Python's site-packages */
    if (!database_file_copy(db, file) && !path_visit_sources(rules, path, is_there, NULL))
        return OPEN;
    return is_of_package(path) ? CODE_OF_PACKAGE : CODE_OWN;
}

/* Beginnings of the names of libraries that belong to a language or a parallel runtime. */
static const char *const system_libraries[] = {
    "ld-linux", "libc.so",   "libc-2",  "libm.so", "libm-2",  "libmvec",  "libpthread", "libdl.so", "librt.so",
    "libgcc_s", "libstdc++", "libc++",  "libgomp", "libomp.", "libiomp5", "libtbb",     "libasan",  "libubsan",
    "libhpcrun", "linux-vdso", "[vdso]", KERNEL_MODULE, NULL};

bool code_is_of_python(const char *module)
{
    static const char *const interpreters[] = {"python3", "libpython3", NULL};
    return begins_with_one_of(path_base(module), interpreters);
}

static unsigned find_owner_of_module(const struct database *db, uint32_t module)
{
    static const char *const of_packages[] = {"/lib", "/bin/", "/sbin/", "/snap/", NULL};
    const char *path = database_module_path(db, module);
    unsigned listed = path ? listed_owner(db->rules, path) : CODE_OF_SYSTEM;
    if (listed != OPEN)
        return listed;
    if (begins_with_one_of(path_base(path), system_libraries) || code_is_of_python(path))
        return CODE_OF_SYSTEM;
    bool is_packaged = path_is_installed(path) || begins_with_one_of(path, of_packages);
    return is_packaged || is_of_package(path) ? CODE_OF_PACKAGE : CODE_OWN;
}

static unsigned owner_of(struct database *db, uint32_t number, bool is_module)
{
    uint32_t known = idmap_get(&db->owners, number, is_module);
    if (known != IDMAP_NONE)
        return known;
    unsigned owner = is_module ? find_owner_of_module(db, number) : find_owner_of_file(db, number);
    idmap_put(&db->owners, number, is_module, owner);
    return owner;
}

/* Python code without a file is made by exec, mostly for a library: "<string>", "<__array_function__ internals>". But that
 * of the standard input, and the outermost one of a string, is the user's: python3 -, python3 -c. So is IPython's. */
static unsigned owner_of_text(const struct procedure *procedure, const char *path)
{
    static const char *const of_users[] = {"<stdin>", "<ipython-input-", NULL};
    if (begins_with_one_of(path, of_users))
        return CODE_OWN;
    if (strcmp(path, "<string>") != 0)
        return CODE_OF_SYSTEM;
    return procedure->name && strcmp(procedure->name, "<module>") == 0 ? CODE_OWN : CODE_OF_PACKAGE;
}

/* OCaml's library and runtime are a part of each program: "camlStdlib__Hashtbl__add_12"; caml_alloc, without a file. */
static bool is_of_ocaml(const struct procedure *procedure)
{
    static const char library[] = "camlStdlib", runtime[] = "caml_";
    const char *name = procedure->name ? procedure->name : "";
    return strncmp(name, library, strlen(library)) == 0 ||
           (procedure->file == NOTHING && strncmp(name, runtime, strlen(runtime)) == 0);
}

enum code_owner code_owner_of_procedure(struct database *db, uint32_t id, uint32_t module)
{
    struct procedure procedure = database_procedure(db, id);
    const char *path = database_file_path(db, procedure.file);
    unsigned owner = path && *path == '<' ? owner_of_text(&procedure, path) : owner_of(db, procedure.file, false);
    if (is_of_ocaml(&procedure)) {
        const char *place = path || module == NOTHING ? path : database_module_path(db, module);
        unsigned listed = place ? listed_owner(db->rules, place) : OPEN;
        return listed != OPEN ? (enum code_owner)listed : CODE_OF_SYSTEM;
    }
    if (owner != OPEN)
        return (enum code_owner)owner;
    if (module == NOTHING) { /* hpcprof's placeholders look like "<unknown code>" */
        bool has_name = procedure.name && *procedure.name && *procedure.name != '<';
        return has_name ? CODE_OWN : CODE_OF_SYSTEM;
    }
    return (enum code_owner)owner_of(db, module, true);
}

enum code_owner code_owner(const struct view *view, uint32_t row)
{
    const struct row *at = view_row(view, row);
    return row_is_procedure(at) ? code_owner_of_procedure(view->db, at->place, label_module(view, row)) : CODE_OF_SYSTEM;
}

/* The module with the code of a procedure's node; NOTHING: made at run time. */
static uint32_t module_of(const struct database *db, uint32_t node)
{
    const struct nodes *nodes = db->nodes;
    uint32_t module = database_procedure(db, nodes->place[node]).module;
    while (nodes->kind[node] == KIND_INLINED)
        node = nodes_caller(nodes, node);
    return module == NOTHING && is_procedure_kind(nodes->kind[node])
               ? database_procedure(db, nodes->place[node]).module
               : module;
}

enum code_rank code_rank(struct database *db, uint32_t node)
{
    uint32_t id = db->nodes->place[node], module = module_of(db, node);
    struct procedure procedure = database_procedure(db, id);
    const char *at = procedure.name ? strrchr(procedure.name, '@') : NULL;
    if (procedure.file == NOTHING && at && at > procedure.name && strcmp(at, "@plt") == 0)
        return RANK_NONE; /* of the linker: "puts@plt" is in the user's binary, but not the user's */
    enum code_owner owner = code_owner_of_procedure(db, id, module);
    bool has_name = database_procedure_has_name(db, id);
    if (owner == CODE_OWN)
        return has_name ? RANK_OWN : RANK_OWN_WITHOUT_NAME;
    if (owner == CODE_OF_PACKAGE)
        return has_name ? RANK_PACKAGE : RANK_PACKAGE_WITHOUT_NAME;
    if (!has_name)
        return RANK_NONE;
    return database_is_kernel(db, module) ? RANK_KERNEL : name_is_of_start(procedure.name) ? RANK_START : RANK_SYSTEM;
}

uint32_t code_own_procedure(struct database *db, uint32_t node)
{
    const struct nodes *nodes = db->nodes;
    uint32_t found = NOTHING, unnamed_in = NOTHING; /* module of what has no name */
    enum code_rank best = RANK_NONE;
    for (node = nodes->procedure[node]; is_procedure_kind(nodes->kind[node]); node = nodes_caller(nodes, node)) {
        enum code_rank rank = code_rank(db, node);
        if (rank >= RANK_OWN_WITHOUT_NAME)
            return nodes->place[node];
        uint32_t module = module_of(db, node);
        if (best == RANK_PACKAGE_WITHOUT_NAME && rank >= best && module != unnamed_in)
            best = RANK_PACKAGE; /* callers in other modules say less */
        if (rank <= best)
            continue;
        found = nodes->place[node];
        best = rank;
        unnamed_in = module;
    }
    return found;
}

#include "hpcprof/measurement/executables.h"

#include "lib/path.h"
#include "lib/sanitized-text.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether a path ends in this name, or in NAME/__main__.py: python3 executes that of a folder or an archive. */
static bool is_path_of(const char *path, const char *name)
{
    static const char main[] = "/__main__.py";
    size_t length = strlen(path), of_name = strlen(name), of_main = sizeof main - 1;
    if (length >= of_main && strcmp(path + length - of_main, main) == 0)
        length -= strcmp(name, main + 1) != 0 ? of_main : 0;
    return length >= of_name && strncmp(path + length - of_name, name, of_name) == 0 &&
           (length == of_name || path[length - of_name - 1] == '/');
}

static bool is_file_of_names(const struct measurement *m, const char *argument)
{
    const char *base = path_base(argument);
    for (size_t t = 0; *base && t < m->name_tables.n; t++)
        for (size_t i = 0; i < m->name_tables.at[t].names.n; i++)
            if (is_path_of(m->name_tables.at[t].names.at[i].file, base))
                return true;
    return false;
}

/* The script that an interpreter executes; NULL: the process is no interpreter, or has no script. */
static const char *script_of(const struct measurement *m)
{
    for (size_t i = 1; m->name_tables.n && i < m->process.arguments.n; i++) {
        const char *argument = m->process.arguments.at[i];
        if (strcmp(argument, "-c") == 0)
            return NULL; /* what follows are arguments of code */
        if (argument[0] && argument[0] != '-' && is_file_of_names(m, argument))
            return argument;
    }
    return NULL;
}

/* The module of code that only imports a function and calls it, as workers of multiprocessing begin:
 * "from NAME import main; main(3)". NULL: the code does something else. The caller frees. */
static char *module_of_code(const char *code)
{
    static const char import[] = "import sys; "; /* from 3.14 on */
    int name = 0, end = 0, function = 0, function_end = 0, call = 0;
    code += strncmp(code, import, sizeof import - 1) == 0 ? sizeof import - 1 : 0;
    sscanf(code, "from %n%*s%n import %n%*[A-Za-z0-9_]%n; %n", &name, &end, &function,
           &function_end, &call);
    int length = function_end - function;
    bool is_call =
        call && strncmp(code + call, code + function, length) == 0 && code[call + length] == '(';
    return is_call ? mem_printf("%.*s", end - name, code + name) : NULL;
}

/* The module that an interpreter executes by an option: `python3 -m NAME`, or `-c CODE` of a module. NULL: there
 * is none. The caller frees. */
static char *module_of(const struct measurement *m)
{
    const char *const *arguments = (const char *const *)m->process.arguments.at;
    for (size_t i = 1; m->name_tables.n && i + 1 < m->process.arguments.n; i++) {
        const char *option = arguments[i], *value = arguments[i + 1];
        if (strcmp(option, "-c") == 0)
            return module_of_code(value);
        if (strcmp(option, "-m") == 0)
            return *value ? mem_strdup(value) : NULL;
        if (option[0] != '-')
            return NULL;
        i += strcmp(option, "-X") == 0 || strcmp(option, "-W") == 0;
    }
    return NULL;
}

char *executable_as_called(const struct measurement *m)
{
    const struct measurement_process *process = &m->process;
    const char *path = process->executable, *script = script_of(m);
    if (script)
        return script[0] == '/' ? mem_strdup(script)
                                : mem_printf("%s/%s", process->directory, script);
    char *module = module_of(m);
    if (module)
        return module;
    const char *called = process->arguments.n ? process->arguments.at[0] : "";
    if (*path == '\0')
        return mem_strdup(called);
    const char *name = path_base(called[0] == '-' ? called + 1 : called);
    if (*name == '\0')
        return mem_strdup(path);
    return mem_printf("%.*s%s", (int)(path_base(path) - path), path, name);
}

static bool has_samples(const struct measurement *m)
{
    for (size_t i = 0; i < m->threads.n; i++)
        if (m->threads.at[i].values.n)
            return true;
    return false;
}

/* Whether another path ends in the same name, so that only the whole path identifies the
 * executable. */
static bool is_ambiguous(const struct strtab *paths, uint32_t index)
{
    const char *base = path_base(strtab_string(paths, index));
    for (uint32_t i = 0; i < paths->count; i++)
        if (i != index && strcmp(path_base(strtab_string(paths, i)), base) == 0)
            return true;
    return false;
}

void executables_find(struct executables *executables, const struct measurements *measurements)
{
    size_t n = measurements->files.n;
    assert(executables->names.n == 0);
    struct strtab paths = {0};
    autofree bool *is_sampled = mem_alloc(n * sizeof *is_sampled);
    executables->of_file = mem_alloc(n * sizeof *executables->of_file);
    for (size_t i = 0; i < n; i++) {
        const struct measurement *m = measurements->files.at[i].m;
        autofree char *path = executable_as_called(m);
        executables->of_file[i] = strtab_id(&paths, path);
        is_sampled[executables->of_file[i]] |= has_samples(m);
    }
    for (uint32_t i = 0; i < paths.count; i++) {
        const char *path = strtab_string(&paths, i);
        const char *name = is_ambiguous(&paths, i) ? path : path_base(path);
        vec_push(&executables->names, utf8_repaired(*name ? name : "unknown program"));
        executables->n_sampled += is_sampled[i];
    }
    strtab_free(&paths);
}

void executables_free(struct executables *executables)
{
    for (size_t i = 0; i < executables->names.n; i++)
        free(executables->names.at[i]);
    vec_free(&executables->names);
    free(executables->of_file);
}

uint32_t executables_entry(const struct executables *executables, size_t file)
{
    return executables->n_sampled > 1 ? executables->of_file[file] + 1 : 0;
}

const char *executables_entry_name(const struct executables *executables, uint32_t entry)
{
    return entry ? executables->names.at[entry - 1] : NULL;
}

#include "hpcprof/measurement/executables.h"

#include "lib/path.h"
#include "lib/sanitized-text.h"

#include <stdlib.h>
#include <string.h>

/* The executable's path; if that is unknown, the first argument of the process. */
static const char *path_of(const struct measurement_process *process)
{
    if (process->executable[0] == '\0' && process->arguments.n)
        return process->arguments.at[0];
    return process->executable;
}

static bool has_samples(const struct measurement *m)
{
    for (size_t i = 0; i < m->threads.n; i++)
        if (m->threads.at[i].values.n)
            return true;
    return false;
}

/* Whether another path ends in the same name: then only the whole path tells them apart. */
static bool is_ambiguous(const struct strtab *paths, uint32_t index)
{
    const char *base = path_base(strtab_string(paths, index));
    for (uint32_t i = 0; i < paths->count; i++)
        if (i != index && strcmp(path_base(strtab_string(paths, i)), base) == 0)
            return true;
    return false;
}

void executables_find(struct inputs *inputs)
{
    struct strtab paths = {0};
    bool *are_sampled = mem_alloc(inputs->files.n * sizeof *are_sampled);
    for (size_t i = 0; i < inputs->files.n; i++) {
        struct input *input = &inputs->files.at[i];
        input->executable = strtab_id(&paths, path_of(&input->m->process));
        are_sampled[input->executable] |= has_samples(input->m);
    }
    for (uint32_t i = 0; i < paths.count; i++) {
        const char *path = strtab_string(&paths, i);
        const char *name = is_ambiguous(&paths, i) ? path : path_base(path);
        vec_push(&inputs->executables, utf8_repaired(*name ? name : "unknown program"));
        inputs->n_sampled_executables += are_sampled[i];
    }
    free(are_sampled);
    strtab_free(&paths);
}

void executables_free(struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->executables.n; i++)
        free(inputs->executables.at[i]);
    vec_free(&inputs->executables);
}

uint32_t executables_entry(const struct inputs *inputs, size_t input)
{
    return inputs->n_sampled_executables > 1 ? inputs->files.at[input].executable + 1 : 0;
}

const char *executables_entry_name(const struct inputs *inputs, uint32_t entry)
{
    return entry ? inputs->executables.at[entry - 1] : NULL;
}

#include "hpcprof/sources/source-owners.h"

#include "hpcprof/base/trusted-path.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void add_owner(struct source_origin *origin, uid_t owner)
{
    if (owner == 0)
        origin->by_root = true;
    if (owner == geteuid())
        origin->by_user = true;
    else if (owner != 0)
        origin->by_other = owner;
}

static void add_module(struct source_origins *origins, const struct program *program, size_t index)
{
    const struct module *module = &program->modules->all.at[index];
    const struct structure *s = module->structure;
    uid_t owner = s ? module->owner : NO_USER;
    if (owner == NO_USER)
        return;
    for (uint32_t i = 0; i < s->files.count; i++)
        add_owner(&origins->of_file[program->file_of[index][i]], owner);
    if (owner != 0 && owner != geteuid())
        return;
    for (uint32_t i = 0; i < s->directories.count; i++)
        if (strcmp(strtab_string(&s->directories, i), "/") != 0) /* says nothing */
            strtab_id(&origins->trees, strtab_string(&s->directories, i));
}

/* The one user whom all measurements are of, or NO_USER. */
static uid_t owner_of_measurements(const struct inputs *inputs)
{
    uid_t all = NO_USER, owner;
    for (size_t i = 0; i < inputs->files.n; i++) {
        if (!real_path_owner(inputs->files.at[i].m->path, &owner) || (i && owner != all))
            return NO_USER;
        all = owner;
    }
    return all;
}

void source_origins_find(struct source_origins *origins, const struct program *program,
                         const struct inputs *inputs)
{
    size_t count = program->files.count;
    *origins = (struct source_origins){.of_file = mem_alloc(count * sizeof *origins->of_file)};
    for (size_t i = 0; i < count; i++)
        origins->of_file[i].by_other = NO_USER;
    for (size_t i = 0; i < program->modules->all.n; i++)
        add_module(origins, program, i);
    uid_t owner = owner_of_measurements(inputs);
    if (owner == NO_USER)
        return;
    for (size_t i = 0; i < program->functions.n; i++) {
        const struct function *function = &program->functions.at[i];
        if (function->module == PROGRAM_NONE && function->file != PROGRAM_NONE)
            add_owner(&origins->of_file[function->file], owner);
    }
}

void source_origins_free(struct source_origins *origins)
{
    free(origins->of_file);
    strtab_free(&origins->trees);
}

const char *source_origins_tree(const struct source_origins *origins, const char *path)
{
    char *above = mem_strdup(path);
    const char *tree = NULL;
    for (char *slash; !tree && (slash = strrchr(above, '/')) && slash != above;) {
        *slash = '\0';
        uint32_t id = strtab_find(&origins->trees, above);
        tree = id == UINT32_MAX ? NULL : strtab_string(&origins->trees, id);
    }
    free(above);
    return tree;
}

#include "hpcprof/clones.h"

#include "lib/beside.h"
#include "lib/diag.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What stands before and after the star. */
struct pattern {
    char *prefix, *suffix;
};

struct patterns {
    VEC(struct pattern) all;
    struct strtab files; /* that have been read */
};

/* ---- rules ---- */

static void take_line(struct patterns *patterns, char *line)
{
    char *rest = NULL, *key = strtok_r(line, " \t\r\n", &rest);
    char *value = key ? strtok_r(NULL, " \t\r\n", &rest) : NULL;
    char *star = value && strcmp(key, "clone") == 0 ? strchr(value, '*') : NULL;
    if (!star)
        return;
    *star = '\0';
    const struct pattern pattern = {mem_strdup(value), mem_strdup(star + 1)};
    vec_push(&patterns->all, pattern);
}

/* `base` is the base name of a rules file. */
static void read_rules(struct patterns *patterns, const char *base)
{
    char *name = mem_printf("../lib/agents/%s", base), *path = path_beside_executable(name);
    char line[1024];
    errno = EINVAL;
    FILE *file = strchr(base, '/') ? NULL : fopen(path, "r");
    if (!file)
        diag_note(path, "%s: clones of procedures are told apart", strerror(errno));
    while (file && fgets(line, sizeof line, file))
        take_line(patterns, line);
    if (file)
        fclose(file);
    free(path);
    free(name);
}

static void read_patterns(struct patterns *patterns, const struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->files.n; i++) {
        const struct measurement *m = inputs->files.at[i].m;
        for (size_t k = 0; k < m->agents.n; k++) {
            size_t known = patterns->files.count;
            if (strtab_id(&patterns->files, m->agents.at[k].rules) == known)
                read_rules(patterns, m->agents.at[k].rules);
        }
    }
}

static void free_patterns(struct patterns *patterns)
{
    for (size_t i = 0; i < patterns->all.n; i++) {
        free(patterns->all.at[i].prefix);
        free(patterns->all.at[i].suffix);
    }
    vec_free(&patterns->all);
    strtab_free(&patterns->files);
}

/* The source procedure's name, which the caller frees; NULL when it isn't the name of a clone. */
static char *source_name(const struct patterns *patterns, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < patterns->all.n; i++) {
        const char *prefix = patterns->all.at[i].prefix, *suffix = patterns->all.at[i].suffix;
        size_t before = strlen(prefix), after = strlen(suffix);
        if (length > before + after && strncmp(name, prefix, before) == 0 &&
            strcmp(name + length - after, suffix) == 0)
            return mem_printf("%.*s", (int)(length - before - after), name + before);
    }
    return NULL;
}

/* ---- functions ---- */

/* The function of a module with this name that stands where the clone does; the clone itself when
 * there is none. */
static uint32_t find_source(const struct program *program, uint32_t first, uint32_t count,
                            const char *name, uint32_t clone)
{
    const struct function *its = &program->functions.at[clone];
    for (uint32_t i = first; i < first + count; i++) {
        const struct function *other = &program->functions.at[i];
        if (other->line == its->line && other->file == its->file && strcmp(other->name, name) == 0)
            return i;
    }
    return clone;
}

void clones_find(struct program *program, const struct inputs *inputs)
{
    struct patterns patterns = {0};
    read_patterns(&patterns, inputs);
    for (size_t module = 0; module < inputs->modules.all.n && patterns.all.n; module++) {
        const struct structure *s = inputs->modules.all.at[module].structure;
        uint32_t first = program->first_function[module], count = s ? s->functions.n : 0;
        for (uint32_t i = first; i < first + count; i++) {
            char *name = source_name(&patterns, program->functions.at[i].name);
            if (name)
                program->original[i] = find_source(program, first, count, name, i);
            program->has_clones |= program->original[i] != i;
            free(name);
        }
    }
    free_patterns(&patterns);
}

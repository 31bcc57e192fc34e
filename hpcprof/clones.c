#include "hpcprof/clones.h"

#include <stdlib.h>
#include <string.h>

/* The source procedure's name, which the caller frees; NULL when it isn't the name of a clone. */
static char *source_name(const struct rules_file *file, const char *name)
{
    const struct rule *rule = rules_match(file, 1u << RULE_CLONE, name);
    if (!rule)
        return NULL;
    size_t before = strcspn(rule->pattern, "*"), after = strlen(rule->pattern) - before - 1;
    size_t length = strlen(name);
    return length > before + after
               ? mem_printf("%.*s", (int)(length - before - after), name + before)
               : NULL;
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

/* Finds the clones among a module's functions by one rules file. */
static void find_in_module(struct program *program, const struct inputs *inputs, size_t module,
                           const struct rules_file *file)
{
    const struct structure *s = inputs->modules.all.at[module].structure;
    uint32_t first = program->first_function[module], count = s ? s->functions.n : 0;
    for (uint32_t i = first; i < first + count; i++) {
        char *name = source_name(file, program->functions.at[i].name);
        if (name)
            program->original[i] = find_source(program, first, count, name, i);
        program->has_clones |= program->original[i] != i;
        free(name);
    }
}

void clones_find(struct program *program, const struct inputs *inputs)
{
    for (size_t k = 0; k < inputs->rules.files.n; k++)
        for (size_t module = 0; module < inputs->modules.all.n; module++)
            if (rules_have(&inputs->rules.files.at[k], RULE_CLONE))
                find_in_module(program, inputs, module, &inputs->rules.files.at[k]);
}

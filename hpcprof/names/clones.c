#include "hpcprof/names/clones.h"

#include "hpcprof/runtime/rules.h"

#include "lib/diag.h"

#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

/* A pattern at its first star. */
struct split_pattern {
    size_t before;     /* length of what stands before the star */
    const char *after; /* what follows it */
};

static struct split_pattern split(const char *pattern)
{
    size_t before = strcspn(pattern, "*");
    return (struct split_pattern){before, pattern + before + 1};
}

static bool is_of_parts(const struct rule *rule)
{
    return strchr(split(rule->pattern).after, '*') != NULL;
}

/* Whether a clone's name, by the rule's pattern, may be made of the name of a procedure. */
static bool may_be_of(const struct rule *rule, const char *clone, const char *procedure)
{
    struct split_pattern pattern = split(rule->pattern);
    size_t length = strlen(procedure);
    const char *at = clone + pattern.before, *rest = at + length;
    if (strncmp(at, procedure, length) != 0)
        return false;
    return is_of_parts(rule) ? *rest == '_' : strcmp(rest, pattern.after) == 0;
}

/* ---- functions ---- */

/* A module's functions in a program. */
struct its_functions {
    uint32_t first, count;
};

/* The function of the module that is where a clone comes from: of its file and line or, of a part,
 * the last one declared before it; the clone itself when there is none. */
static uint32_t find_source(const struct program *program, struct its_functions all,
                            const struct rule *rule, uint32_t clone)
{
    const struct function *its = &program->functions.at[clone];
    uint32_t found = clone;
    for (uint32_t i = all.first; i < all.first + all.count; i++) {
        const struct function *other = &program->functions.at[i];
        bool is_there = other->file == its->file &&
                        (is_of_parts(rule) ? other->line <= its->line : other->line == its->line);
        bool is_nearer = found == clone || other->line > program->functions.at[found].line;
        if (i != clone && is_there && is_nearer && may_be_of(rule, its->name, other->name))
            found = i;
    }
    return found;
}

/* By the first rule that its name matches and that knows where it comes from. */
static void find_original(struct program *program, struct its_functions all,
                          const struct rules_file *file, uint32_t function)
{
    const char *name = program->functions.at[function].name;
    for (const struct rule *rule = rules_match(file, RULE_CLONE, name, NULL);
         rule && program->original[function] == function;
         rule = rules_match(file, RULE_CLONE, name, rule)) {
        uint32_t source = find_source(program, all, rule, function);
        program->original[function] = source;
        bool is_whole = program->functions.at[source].line == program->functions.at[function].line;
        program->is_part[function] = is_of_parts(rule) && source != function && !is_whole;
    }
    program->has_clones |= program->original[function] != function;
    program->has_parts |= program->is_part[function];
}

void clones_find(struct program *program, const struct inputs *inputs)
{
    for (size_t k = 0; k < inputs->rules->files.n; k++) {
        const struct rules_file *file = &inputs->rules->files.at[k];
        for (size_t module = 0; module < inputs->modules.all.n; module++) {
            const struct structure *s = inputs->modules.all.at[module].structure;
            struct its_functions all = {program->first_function[module], s ? s->functions.n : 0};
            for (uint32_t i = all.first; i < all.first + all.count; i++)
                find_original(program, all, file, i);
        }
    }
}

/* ---- programs without names ---- */

static const char NO_NAMES[] =
    "it was stripped: the clones that its parallel language's compiler made "
    "of a procedure cannot be told to be one, and are shown apart";

/* Whether code is there that has no name, and no clone by its name. */
static bool lacks_names(const struct structure *s, const struct rules_file *file)
{
    bool has_nameless = false;
    for (size_t i = 0; i < s->functions.n; i++) {
        const char *name = strtab_string(&s->names, s->functions.at[i].name);
        if (rules_match(file, RULE_CLONE, name, NULL))
            return false;
        has_nameless |= *name == '<';
    }
    return has_nameless;
}

static void note_program(struct module *module, const struct rules_file *file)
{
    bool is_known = *module->why || !module->structure || !module->used;
    if (is_known || rules_have_module(file, module->path) || !lacks_names(module->structure, file))
        return;
    diag_note(module->path, "%s", NO_NAMES);
    free(module->why);
    module->why = mem_strdup(NO_NAMES);
}

/* The executable of a process where an agent took part that has rules for clones. */
static void note_executable(struct inputs *inputs, const struct input *input,
                            const struct rules_file *file)
{
    for (size_t i = 0; i < input->m->modules.n; i++)
        if (input->m->modules.at[i].flags & MODULE_MAIN)
            note_program(&inputs->modules.all.at[input->module_of[i]], file);
}

void clones_note_missing(struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->files.n; i++) {
        const struct measurement *m = inputs->files.at[i].m;
        for (size_t k = 0; k < m->agents.n; k++) {
            const struct measurement_agent *agent = &m->agents.at[k];
            const struct rules_file *file = rules_find_file(inputs->rules, agent->rules);
            bool took_part = !measurement_refusal(m, agent->name);
            if (took_part && file && rules_have(file, RULE_CLONE))
                note_executable(inputs, &inputs->files.at[i], file);
        }
    }
}

#include "hpcprof/names/clones.h"

#include "lib/diag.h"

#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

/* A pattern, split at its first star. */
struct split_pattern {
    size_t before;     /* length of the text before the star */
    const char *after; /* text after it */
};

static struct split_pattern split(const char *pattern)
{
    size_t before = strcspn(pattern, "*");
    return (struct split_pattern){before, pattern + before + 1};
}

/* Whether a rule is about parts of procedures. */
static bool is_about_parts(const struct rule *rule)
{
    return strchr(split(rule->pattern).after, '*') != NULL;
}

/* Whether the rule's pattern allows that a clone's name was made from the name of a procedure. */
static bool is_name_of_clone(const struct rule *rule, const char *clone, const char *procedure)
{
    struct split_pattern pattern = split(rule->pattern);
    size_t length = strlen(procedure);
    const char *at = clone + pattern.before, *rest = at + length;
    if (strncmp(at, procedure, length) != 0)
        return false;
    return is_about_parts(rule) ? *rest == '_' : strcmp(rest, pattern.after) == 0;
}

/* ---- functions ---- */

struct clone_search {
    struct clones *clones;
    const struct symbol_table *symbols;
    uint32_t first, end; /* functions of the module */
};

/* Returns the function of the module that a clone comes from: the one at its file and line or, for
 * a part, the last one declared before it. Returns the clone itself if there is none. */
static uint32_t find_source(const struct clone_search *search, const struct rule *rule,
                            uint32_t clone)
{
    const struct function *functions = search->symbols->functions.at, *own = &functions[clone];
    uint32_t found = clone;
    for (uint32_t i = search->first; i < search->end; i++) {
        const struct function *other = &functions[i];
        bool is_there =
            other->file == own->file &&
            (is_about_parts(rule) ? other->line <= own->line : other->line == own->line);
        bool is_nearer = found == clone || other->line > functions[found].line;
        if (i != clone && is_there && is_nearer && is_name_of_clone(rule, own->name, other->name))
            found = i;
    }
    return found;
}

/* Applies the first rule that matches the function's name and finds a source. */
static void find_original(const struct clone_search *search, const struct rules_file *file,
                          uint32_t function)
{
    struct clones *clones = search->clones;
    const struct function *functions = search->symbols->functions.at;
    const char *name = functions[function].name;
    for (const struct rule *rule = rules_match(file, RULE_CLONE, name, NULL);
         rule && clones->original[function] == function;
         rule = rules_match(file, RULE_CLONE, name, rule)) {
        uint32_t source = find_source(search, rule, function);
        clones->original[function] = source;
        bool is_whole = functions[source].line == functions[function].line;
        clones->is_part[function] = is_about_parts(rule) && source != function && !is_whole;
    }
    clones->has_clones |= clones->original[function] != function;
    clones->has_parts |= clones->is_part[function];
}

static void find_in_module(struct clone_search *search, const struct rules_file *file,
                           uint32_t module)
{
    const struct structure *s = symbols_structure(search->symbols, module);
    search->first = search->symbols->first_function[module];
    search->end = search->first + (uint32_t)(s ? s->functions.n : 0);
    for (uint32_t i = search->first; i < search->end; i++)
        find_original(search, file, i);
}

/* ---- stripped programs ---- */

static const char NO_NAMES[] =
    "it was stripped: the clones that its parallel language's compiler made of a procedure "
    "cannot be recognized, and are shown separately";

/* Whether the structure has code without names, and no clone by its name. */
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

static void check_program(struct clones *clones, const struct runtime_code *code, uint32_t index,
                          const struct rules_file *file)
{
    const struct load_module *module = &code->measurements->modules.all.at[index];
    const struct module_structure *structure = &code->structures->of_module[index];
    bool is_reported = *structure->why || clones->lacks_names[index];
    if (is_reported || !structure->structure || !module->is_used ||
        rules_have_module(file, module->path) || !lacks_names(structure->structure, file))
        return;
    diag_note(module->path, "%s", NO_NAMES);
    clones->lacks_names[index] = true;
}

static void check_executable(struct clones *clones, const struct runtime_code *code,
                             const struct measurement_file *process, const struct rules_file *file)
{
    for (size_t i = 0; i < process->m->modules.n; i++)
        if (process->m->modules.at[i].flags & MODULE_MAIN)
            check_program(clones, code, process->module_of[i], file);
}

/* Checks the executable of each process where an agent took part that has rules for clones. */
static void check_names(struct clones *clones, const struct runtime_code *code)
{
    for (size_t i = 0; i < code->measurements->files.n; i++) {
        const struct measurement_file *process = &code->measurements->files.at[i];
        for (size_t k = 0; k < process->m->agents.n; k++) {
            const struct measurement_agent *agent = &process->m->agents.at[k];
            const struct rules_file *file = rules_find_file(&code->rules, agent->rules);
            bool took_part = !measurement_refusal(process->m, agent->name);
            if (took_part && file && rules_have(file, RULE_CLONE))
                check_executable(clones, code, process, file);
        }
    }
}

/* ---- all together ---- */

void clones_find(struct clones *clones, const struct symbol_table *symbols,
                 const struct runtime_code *code)
{
    size_t n = symbols->functions.n, modules = symbols->structures->n;
    *clones = (struct clones){
        .original = mem_alloc(n * sizeof *clones->original),
        .is_part = mem_alloc(n * sizeof *clones->is_part),
        .lacks_names = mem_alloc(modules * sizeof *clones->lacks_names),
    };
    for (uint32_t i = 0; i < n; i++)
        clones->original[i] = i;
    struct clone_search search = {.clones = clones, .symbols = symbols};
    for (size_t k = 0; k < code->rules.files.n; k++)
        for (uint32_t module = 0; module < modules; module++)
            find_in_module(&search, &code->rules.files.at[k], module);
    check_names(clones, code);
}

void clones_free(struct clones *clones)
{
    free(clones->original);
    free(clones->is_part);
    free(clones->lacks_names);
}

const char *clones_why_separate(const struct clones *clones, uint32_t module)
{
    return clones->lacks_names[module] ? NO_NAMES : NULL;
}

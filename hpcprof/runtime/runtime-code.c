#include "hpcprof/runtime/runtime-code.h"

#include <stdlib.h>
#include <string.h>

/* ---- which rules apply ---- */

static bool has_module(const struct input *input, uint32_t module)
{
    for (size_t i = 0; i < input->m->modules.n; i++)
        if (input->module_of[i] == module)
            return true;
    return false;
}

/* An agent that refused says nothing of who waits: its runtime's idle workers would be overhead. */
static bool has_agent(const struct input *input, const struct rules_file *file)
{
    for (size_t i = 0; i < input->m->agents.n; i++)
        if (strcmp(input->m->agents.at[i].rules, file->base) == 0 &&
            !measurement_refusal(input->m, input->m->agents.at[i].name))
            return true;
    return false;
}

/* Whether an agent took part in a process that has the module. */
static bool is_with_agent(const struct inputs *inputs, uint32_t module,
                          const struct rules_file *file)
{
    for (size_t i = 0; i < inputs->files.n; i++)
        if (has_agent(&inputs->files.at[i], file) && has_module(&inputs->files.at[i], module))
            return true;
    return false;
}

static bool applies(const struct inputs *inputs, uint32_t module, const struct rules_file *file)
{
    return file->is_of_agent ? is_with_agent(inputs, module, file)
                             : rules_have_module(file, inputs->modules.all.at[module].path);
}

/* ---- functions ---- */

/* Gives each function that has none the rule of the file that it matches; whether any does. */
static bool match_functions(const struct rules_file *file, const struct module *module,
                            const struct rule **of_function)
{
    const struct structure *s = module->structure;
    bool has_any = false, is_own = rules_have_module(file, module->path);
    for (size_t i = 0; i < s->functions.n; i++) {
        const char *name = strtab_string(&s->names, s->functions.at[i].name);
        if (!of_function[i])
            of_function[i] = rules_match_code(file, name, is_own);
        has_any |= of_function[i] != NULL;
    }
    return has_any;
}

/* ---- scopes ---- */

/* The length of a path's folder, with the slash. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* Whether two functions are declared in one folder; one without a file is in any. */
static bool are_neighbors(const struct structure *s, uint32_t x, uint32_t y)
{
    uint32_t file_x = s->functions.at[x].file, file_y = s->functions.at[y].file;
    if (file_x == STRUCTURE_NONE || file_y == STRUCTURE_NONE)
        return true;
    const char *path_x = strtab_string(&s->files, file_x);
    const char *path_y = strtab_string(&s->files, file_y);
    size_t length = folder_length(path_x);
    return length == folder_length(path_y) && strncmp(path_x, path_y, length) == 0;
}

/* Gives scopes the rules of their functions. `owner` has, for each scope with a rule, the function
 * that matched it. A scope stands behind the one around it. */
static void mark_scopes(struct module *module, const struct rule *const *of_function)
{
    const struct structure *s = module->structure;
    uint32_t *owner = mem_alloc((s->scopes.n + 1) * sizeof *owner);
    for (uint32_t i = 0; i < s->scopes.n; i++) {
        const struct structure_scope *scope = &s->scopes.at[i];
        bool is_function = scope->kind != SCOPE_LOOP;
        uint32_t around = scope->parent;
        if (is_function && of_function[scope->function]) {
            module->rule_of_scope[i] = of_function[scope->function];
            owner[i] = scope->function;
        } else if (around != STRUCTURE_NONE && module->rule_of_scope[around] &&
                   (!is_function || are_neighbors(s, scope->function, owner[around]))) {
            module->rule_of_scope[i] = module->rule_of_scope[around];
            owner[i] = owner[around];
        }
    }
    free(owner);
}

static void find_in_module(struct inputs *inputs, uint32_t index)
{
    struct module *module = &inputs->modules.all.at[index];
    const struct structure *s = module->structure;
    const struct rule **of_function = mem_alloc((s->functions.n + 1) * sizeof *of_function);
    bool has_any = false;
    for (size_t i = 0; i < inputs->rules->files.n; i++)
        if (applies(inputs, index, &inputs->rules->files.at[i]))
            has_any |= match_functions(&inputs->rules->files.at[i], module, of_function);
    if (has_any) {
        module->rule_of_scope = mem_alloc((s->scopes.n + 1) * sizeof *module->rule_of_scope);
        mark_scopes(module, of_function);
    }
    free(of_function);
}

/* ---- all of it ---- */

static void read_rules(struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->files.n; i++) {
        const struct measurement *m = inputs->files.at[i].m;
        for (size_t k = 0; k < m->agents.n; k++)
            rules_read_agent(inputs->rules, m->agents.at[k].rules);
    }
    rules_read_runtimes(inputs->rules);
}

void runtime_code_find(struct inputs *inputs)
{
    read_rules(inputs);
    for (uint32_t i = 0; i < inputs->modules.all.n; i++)
        if (inputs->modules.all.at[i].structure)
            find_in_module(inputs, i);
}

const struct rule *runtime_code_rule(const struct module *module,
                                     const struct structure_statement *statement)
{
    bool has_scope = statement && module->rule_of_scope && statement->scope != STRUCTURE_NONE;
    return has_scope ? module->rule_of_scope[statement->scope] : NULL;
}

bool runtime_code_has(const struct module *module, enum rule_key key)
{
    for (size_t i = 0; module->rule_of_scope && i < module->structure->scopes.n; i++)
        if (module->rule_of_scope[i] && module->rule_of_scope[i]->key == key)
            return true;
    return false;
}

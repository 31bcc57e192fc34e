#include "hpcprof/runtime/runtime-code.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- which rules apply ---- */

static bool has_module(const struct measurement_file *file, uint32_t module)
{
    for (size_t i = 0; i < file->m->modules.n; i++)
        if (file->module_of[i] == module)
            return true;
    return false;
}

/* An agent that refused reports no waiting workers, so its rules would count them as overhead. */
static bool took_part(const struct measurement *m, const struct rules_file *rules)
{
    for (size_t i = 0; i < m->agents.n; i++)
        if (strcmp(m->agents.at[i].rules, rules->base) == 0 &&
            !measurement_refusal(m, m->agents.at[i].name))
            return true;
    return false;
}

/* Whether the agent took part in a process that has the module. */
static bool is_with_agent(const struct measurements *measurements, uint32_t module,
                          const struct rules_file *rules)
{
    for (size_t i = 0; i < measurements->files.n; i++) {
        const struct measurement_file *file = &measurements->files.at[i];
        if (took_part(file->m, rules) && has_module(file, module))
            return true;
    }
    return false;
}

static bool applies(const struct measurements *measurements, uint32_t module,
                    const struct rules_file *rules)
{
    return rules->is_of_agent ? is_with_agent(measurements, module, rules)
                              : rules_have_module(rules, measurements->modules.all.at[module].path);
}

/* ---- functions ---- */

/* Gives each function that has no rule yet the rule of the file that it matches. Returns whether
 * any function has one. */
static bool match_functions(const struct rules_file *file, const char *path,
                            const struct structure *s, const struct rule **of_function)
{
    bool has_any = false, is_own = rules_have_module(file, path);
    for (size_t i = 0; i < s->functions.n; i++) {
        const char *name = strtab_string(&s->names, s->functions.at[i].name);
        if (!of_function[i])
            of_function[i] = rules_match_code(file, name, is_own);
        has_any |= of_function[i] != NULL;
    }
    return has_any;
}

/* ---- scopes ---- */

/* The length of the folder in a path, slash included. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* Whether two functions are declared in the same folder. A function without a file counts as being
 * in every folder. */
static bool is_same_folder(const struct structure *s, uint32_t x, uint32_t y)
{
    uint32_t file_x = s->functions.at[x].file, file_y = s->functions.at[y].file;
    if (file_x == STRUCTURE_NONE || file_y == STRUCTURE_NONE)
        return true;
    const char *path_x = strtab_string(&s->files, file_x);
    const char *path_y = strtab_string(&s->files, file_y);
    size_t length = folder_length(path_x);
    return length == folder_length(path_y) && strncmp(path_x, path_y, length) == 0;
}

/* Gives scopes the rules of their functions. `owner` is, for each scope with a rule, the function
 * that matched it. Outer scopes come before inner ones. */
static void mark_scopes(const struct structure *s, const struct rule *const *of_function,
                        const struct rule **rule_of_scope)
{
    uint32_t *owner = mem_alloc((s->scopes.n + 1) * sizeof *owner);
    for (uint32_t i = 0; i < s->scopes.n; i++) {
        const struct structure_scope *scope = &s->scopes.at[i];
        bool is_function = scope->kind != SCOPE_LOOP;
        uint32_t around = scope->parent;
        if (is_function && of_function[scope->function]) {
            rule_of_scope[i] = of_function[scope->function];
            owner[i] = scope->function;
        } else if (around != STRUCTURE_NONE && rule_of_scope[around] &&
                   (!is_function || is_same_folder(s, scope->function, owner[around]))) {
            rule_of_scope[i] = rule_of_scope[around];
            owner[i] = owner[around];
        }
    }
    free(owner);
}

static void find_in_module(struct runtime_code *code, uint32_t module)
{
    const struct structure *s = code->structures->of_module[module].structure;
    const char *path = code->measurements->modules.all.at[module].path;
    const struct rule **of_function = mem_alloc((s->functions.n + 1) * sizeof *of_function);
    bool has_any = false;
    for (size_t i = 0; i < code->rules.files.n; i++)
        if (applies(code->measurements, module, &code->rules.files.at[i]))
            has_any |= match_functions(&code->rules.files.at[i], path, s, of_function);
    if (has_any) {
        code->rule_of_scope[module] = mem_alloc((s->scopes.n + 1) * sizeof **code->rule_of_scope);
        mark_scopes(s, of_function, code->rule_of_scope[module]);
    }
    free(of_function);
}

/* ---- all of it ---- */

static void read_rules(struct runtime_code *code)
{
    for (size_t i = 0; i < code->measurements->files.n; i++) {
        const struct measurement *m = code->measurements->files.at[i].m;
        for (size_t k = 0; k < m->agents.n; k++)
            rules_read_agent(&code->rules, m->agents.at[k].rules);
    }
    rules_read_runtimes(&code->rules);
}

void runtime_code_find(struct runtime_code *code, const struct measurements *measurements,
                       const struct structures *structures)
{
    assert(structures->n == measurements->modules.all.n);
    *code = (struct runtime_code){
        .measurements = measurements,
        .structures = structures,
        .rule_of_scope = mem_alloc(structures->n * sizeof *code->rule_of_scope),
    };
    read_rules(code);
    for (uint32_t i = 0; i < structures->n; i++)
        if (structures->of_module[i].structure)
            find_in_module(code, i);
}

void runtime_code_free(struct runtime_code *code)
{
    for (size_t i = 0; i < code->structures->n; i++)
        free(code->rule_of_scope[i]);
    free(code->rule_of_scope);
    rules_free(&code->rules);
}

/* ---- lookup ---- */

const struct rule *runtime_code_rule(const struct runtime_code *code, uint32_t module,
                                     const struct structure_statement *statement)
{
    const struct rule **rule_of_scope = code->rule_of_scope[module];
    return statement && rule_of_scope ? rule_of_scope[statement->scope] : NULL;
}

bool runtime_code_has(const struct runtime_code *code, uint32_t module, enum rule_key key)
{
    const struct rule **rule_of_scope = code->rule_of_scope[module];
    size_t n = rule_of_scope ? code->structures->of_module[module].structure->scopes.n : 0;
    for (size_t i = 0; i < n; i++)
        if (rule_of_scope[i] && rule_of_scope[i]->key == key)
            return true;
    return false;
}

struct frame_code frame_code_of(const struct runtime_code *code,
                                const struct measurement_file *file,
                                const struct measurement_node *node)
{
    struct frame_code frame = {.has_module = node->ip_space < file->m->modules.n};
    if (!frame.has_module)
        return frame;
    frame.module = file->module_of[node->ip_space];
    frame.address = node->ip_offset;
    frame.flags = file->m->modules.at[node->ip_space].flags;
    frame.structure = code->structures->of_module[frame.module].structure;
    if (frame.structure)
        frame.statement = structure_find(frame.structure, frame.address);
    return frame;
}

bool frame_code_is_callee(const struct frame_code *frame)
{
    return frame->flags & (MODULE_LIBC | MODULE_VDSO) ||
           (frame->statement && structure_is_stub(frame->structure, frame->statement));
}

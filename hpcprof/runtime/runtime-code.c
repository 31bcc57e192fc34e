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

/* Whether the agent of some rules took part in a process that has the module, but no module of the
 * runtime's own: the runtime may be linked into the module. */
static bool may_contain_runtime(const struct measurements *measurements, uint32_t module,
                                const struct rules_file *rules)
{
    for (size_t i = 0; i < measurements->files.n; i++) {
        const struct measurement_file *file = &measurements->files.at[i];
        bool has_own = false;
        for (size_t k = 0; k < file->m->modules.n; k++)
            has_own |= rules_have_module(rules, file->m->modules.at[k].path);
        if (!has_own && took_part(file->m, rules) && has_module(file, module))
            return true;
    }
    return false;
}

static bool need_whole(const struct measurements *measurements, uint32_t module,
                       const struct rules_file *rules)
{
    const char *path = measurements->modules.all.at[module].path;
    bool is_interpreter = rules_have(rules, RULE_RUNTIME_EXPORT); /* it is in no other module */
    return (rules_have_module(rules, path) && !is_interpreter) || rules_have(rules, RULE_HEADER) ||
           (applies(measurements, module, rules) &&
            (rules_have(rules, RULE_CLONE) || rules_have(rules, RULE_COMPILED_IN))) ||
           (rules_have(rules, RULE_OVERHEAD) && !is_interpreter &&
            may_contain_runtime(measurements, module, rules));
}

bool *runtime_rules_need_whole(const struct rules *rules, const struct measurements *measurements)
{
    size_t n = measurements->modules.all.n;
    bool *need = mem_alloc(n * sizeof *need);
    for (uint32_t i = 0; i < n; i++)
        for (size_t k = 0; k < rules->files.n; k++)
            need[i] |= need_whole(measurements, i, &rules->files.at[k]);
    return need;
}

/* ---- functions ---- */

/* What a function of a module is. */
struct function_code {
    bool is_stub;            /* a PLT stub */
    bool has_debug;          /* it has debug information: lines, or it was inlined */
    bool is_helper;          /* where it is inlined, it belongs to the code around it */
    const struct rule *rule; /* NULL: none */
};

static void mark_debug(const struct structure *s, uint32_t scope, bool *is_marked,
                       struct function_code *functions)
{
    while (scope != STRUCTURE_NONE && !is_marked[scope]) {
        if (s->scopes.at[scope].kind != SCOPE_LOOP)
            functions[s->scopes.at[scope].function].has_debug = true;
        is_marked[scope] = true;
        scope = s->scopes.at[scope].parent;
    }
}

/* Of each function of a structure. The caller frees. */
static struct function_code *find_function_code(const struct structure *s)
{
    struct function_code *functions = mem_alloc((s->functions.n + 1) * sizeof *functions);
    autofree bool *is_marked = mem_alloc((s->scopes.n + 1) * sizeof *is_marked);
    for (uint32_t i = 0; i < s->scopes.n; i++) {
        if (s->scopes.at[i].kind == SCOPE_PROCEDURE && s->scopes.at[i].is_stub)
            functions[s->scopes.at[i].function].is_stub = true;
        if (s->scopes.at[i].kind == SCOPE_INLINED)
            mark_debug(s, i, is_marked, functions);
    }
    for (size_t i = 0; i < s->statements.n; i++)
        if (s->statements.at[i].line)
            mark_debug(s, s->statements.at[i].scope, is_marked, functions);
    return functions;
}

/* How a module that is not the runtime's own uses its headers. */
struct header_use {
    bool has_calls;              /* of the runtime's functions, by PLT stubs */
    bool has_debug, lacks_debug; /* functions of the headers with debug information, without */
};

/* The rule of a function by its name, which is none if it may contain code of the program. */
static const struct rule *rule_of_name(const struct rules_file *file, const char *name,
                                       const struct function_code *is, struct header_use *use)
{
    const struct rule *rule = rules_match_code(file, name, false);
    if (is->is_stub) {
        use->has_calls |= rule != NULL;
        return rule;
    }
    if (!rules_match(file, RULE_COMPILED_IN, name, NULL))
        return rule;
    use->has_debug |= is->has_debug;
    use->lacks_debug |= !is->has_debug;
    return is->has_debug ? rule : NULL;
}

static const struct rule *rule_of_file(const struct rules_file *file, const struct structure *s,
                                       size_t function, enum rule_key key)
{
    uint32_t declared = s->functions.at[function].file;
    return declared == STRUCTURE_NONE
               ? NULL
               : rules_match(file, key, strtab_string(&s->files, declared), NULL);
}

/* Gives each function that has no rule yet the rule of the file that it matches. */
static void match_functions(struct runtime_code *code, const struct rules_file *file, bool is_own,
                            const struct structure *s, struct function_code *functions)
{
    struct header_use use = {0};
    for (size_t i = 0; i < s->functions.n; i++) {
        const char *name = strtab_string(&s->names, s->functions.at[i].name);
        struct function_code *is = &functions[i];
        is->is_helper |= is_own || rule_of_file(file, s, i, RULE_HELPER);
        if (!is->rule)
            is->rule =
                is_own ? rules_match_code(file, name, true) : rule_of_name(file, name, is, &use);
        if (!is->rule)
            is->rule = rule_of_file(file, s, i, RULE_OVERHEAD_FILE);
    }
    bool should_have_debug = use.has_calls && rules_have(file, RULE_COMPILED_IN);
    code->has_mixed_code |= use.lacks_debug || (should_have_debug && !use.has_debug);
}

static bool has_rules(const struct structure *s, const struct function_code *functions)
{
    for (size_t i = 0; i < s->functions.n; i++)
        if (functions[i].rule)
            return true;
    return false;
}

/* ---- scopes ---- */

/* The length of the folder in a path, slash included. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* Whether a function is declared in the folder of another one, or below it. A function without a file
 * counts as being in every folder. */
static bool is_in_folder_of(const struct structure *s, uint32_t other, uint32_t function)
{
    uint32_t file = s->functions.at[function].file, file_of_other = s->functions.at[other].file;
    if (file == STRUCTURE_NONE || file_of_other == STRUCTURE_NONE)
        return true;
    const char *path_of_other = strtab_string(&s->files, file_of_other);
    return strncmp(path_of_other, strtab_string(&s->files, file), folder_length(path_of_other)) ==
           0;
}

/* Gives scopes the rules of their functions. `owner` is, for each scope with a rule, the function
 * that matched it. Outer scopes come before inner ones. */
static void mark_scopes(const struct structure *s, const struct function_code *functions,
                        const struct rule **rule_of_scope)
{
    autofree uint32_t *owner = mem_alloc((s->scopes.n + 1) * sizeof *owner);
    for (uint32_t i = 0; i < s->scopes.n; i++) {
        const struct structure_scope *scope = &s->scopes.at[i];
        bool is_function = scope->kind != SCOPE_LOOP;
        uint32_t around = scope->parent;
        if (is_function && functions[scope->function].rule) {
            rule_of_scope[i] = functions[scope->function].rule;
            owner[i] = scope->function;
        } else if (around != STRUCTURE_NONE && rule_of_scope[around] &&
                   (!is_function || functions[scope->function].is_helper ||
                    is_in_folder_of(s, owner[around], scope->function))) {
            rule_of_scope[i] = rule_of_scope[around];
            owner[i] = owner[around];
        }
    }
}

/* Whether a module is the runtime's by what it defines. */
static bool defines_runtime(const struct rules_file *file, const struct structure *s,
                            const struct function_code *functions)
{
    for (size_t i = 0; rules_have(file, RULE_RUNTIME_EXPORT) && i < s->functions.n; i++)
        if (!functions[i].is_stub &&
            rules_match(file, RULE_RUNTIME_EXPORT,
                        strtab_string(&s->names, s->functions.at[i].name), NULL))
            return true;
    return false;
}

static void find_in_module(struct runtime_code *code, uint32_t module)
{
    const struct structure *s = code->structures->of_module[module].structure;
    const char *path = code->measurements->modules.all.at[module].path;
    autofree struct function_code *functions = find_function_code(s);
    for (size_t i = 0; i < code->rules.files.n; i++) {
        const struct rules_file *file = &code->rules.files.at[i];
        bool is_own = rules_have_module(file, path) || defines_runtime(file, s, functions);
        if (applies(code->measurements, module, file))
            match_functions(code, file, is_own, s, functions);
    }
    if (has_rules(s, functions)) {
        code->rule_of_scope[module] = mem_alloc((s->scopes.n + 1) * sizeof **code->rule_of_scope);
        mark_scopes(s, functions, code->rule_of_scope[module]);
    }
}

/* ---- all of it ---- */

void runtime_rules_read(struct rules *rules, const struct measurements *measurements)
{
    *rules = (struct rules){0};
    for (size_t i = 0; i < measurements->files.n; i++) {
        const struct measurement *m = measurements->files.at[i].m;
        for (size_t k = 0; k < m->agents.n; k++)
            rules_read_agent(rules, m->agents.at[k].rules);
    }
    rules_read_runtimes(rules);
}

void runtime_code_find(struct runtime_code *code, struct rules *rules,
                       const struct measurements *measurements, const struct structures *structures)
{
    assert(structures->n == measurements->modules.all.n);
    *code = (struct runtime_code){
        .measurements = measurements,
        .structures = structures,
        .rules = *rules,
        .rule_of_scope = mem_alloc(structures->n * sizeof *code->rule_of_scope),
    };
    *rules = (struct rules){0};
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

bool runtime_code_has_overhead(const struct runtime_code *code, uint32_t module)
{
    const struct rule **rule_of_scope = code->rule_of_scope[module];
    size_t n = rule_of_scope ? code->structures->of_module[module].structure->scopes.n : 0;
    for (size_t i = 0; i < n; i++)
        if (rule_of_scope[i] && rule_is_overhead(rule_of_scope[i]))
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
    return frame->flags & (MODULE_LIBC | MODULE_VDSO | MODULE_KERNEL) ||
           (frame->statement && structure_is_stub(frame->structure, frame->statement));
}

#include "hpcprof/names/construct-names.h"

#include "lib/path.h"

#include <stdlib.h>
#include <string.h>

struct search {
    struct symbol_table *symbols;
    const struct runtime_code *code;
    const struct measurement_file *file;
    const struct rules_file *rules; /* of the agent */
};

/* The scope of the procedure of a node's code; NULL if no structure describes it. */
static const struct structure_scope *procedure_of(const struct search *search,
                                                  const struct measurement_node *node,
                                                  struct frame_code *frame)
{
    *frame = (struct frame_code){0};
    if (node->ip_space == MEASUREMENT_NO_NOTE)
        return NULL;
    *frame = frame_code_of(search->code, search->file, node);
    if (!frame->has_module || !frame->statement)
        return NULL;
    const struct structure *s = frame->structure;
    return &s->scopes.at[structure_procedure(s, frame->statement->scope)];
}

/* The rule for what a node's procedure calls; NULL if it does not call constructs. */
static const struct rule *rule_of_caller(const struct search *search,
                                         const struct measurement_node *node)
{
    struct frame_code frame;
    const struct structure_scope *procedure = procedure_of(search, node, &frame);
    if (!procedure)
        return NULL;
    const struct load_module *module = &search->code->measurements->modules.all.at[frame.module];
    const struct structure *s = frame.structure;
    const char *name = strtab_string(&s->names, s->functions.at[procedure->function].name);
    return rules_have_module(search->rules, module->path)
               ? rules_match(search->rules, RULE_CONSTRUCT, name, NULL)
               : NULL;
}

static void rename_function(struct symbol_table *symbols, struct function *function,
                            const struct rule *rule)
{
    bool is_placed = function->file != NO_SYMBOL && function->line;
    function->is_body = true;
    if (!is_placed || strchr(function->name, '@'))
        return;
    char *name =
        mem_printf("%s @ %s:%u", rule->kind,
                   path_base(strtab_string(&symbols->files, function->file)), function->line);
    function->name = strtab_string(&symbols->names, strtab_id(&symbols->names, name));
    free(name);
}

/* Whether the rules name the bodies of constructs, and this is none: a body that ends with a jump to
 * a procedure of the program leaves that in its place. */
static bool is_no_body(const struct search *search, const struct function *function)
{
    return rules_have(search->rules, RULE_OUTLINED) && !function->is_body &&
           !rules_match(search->rules, RULE_OUTLINED, function->name, NULL);
}

static void rename_procedure(const struct search *search, const struct measurement_node *node,
                             const struct rule *rule)
{
    struct frame_code frame;
    struct symbol_table *symbols = search->symbols;
    const struct structure_scope *procedure = procedure_of(search, node, &frame);
    if (!procedure)
        return;
    struct function *function =
        &symbols->functions.at[symbols_function(symbols, frame.module, procedure)];
    if (!is_no_body(search, function))
        rename_function(symbols, function, rule);
}

/* Whether an agent added an l-note for a body that has no frame (agents/common/missing-bodies.h). */
static bool is_missing_body(const struct measurement_node *node)
{
    return measurement_node_lacks_site(node) &&
           (node->ip_space == MEASUREMENT_NO_NOTE || node->association == ASSOC_1_1);
}

static void rename_missing_body(const struct search *search, const struct measurement_node *node,
                                const struct rule *rule)
{
    struct symbol_table *symbols = search->symbols;
    if (node->lip_space >= search->file->m->modules.n)
        return;
    uint32_t module = search->file->module_of[node->lip_space];
    const struct structure *s = symbols_structure(symbols, module);
    const struct structure_statement *at = s ? structure_find(s, node->lip_value) : NULL;
    if (!at)
        return;
    const struct structure_scope *procedure = &s->scopes.at[structure_procedure(s, at->scope)];
    rename_function(symbols, &symbols->functions.at[symbols_function(symbols, module, procedure)],
                    rule);
}

/* Renames the bodies of constructs that are known by their names only. */
static void rename_outlined(const struct search *search)
{
    struct symbol_table *symbols = search->symbols;
    for (size_t i = 0; i < symbols->functions.n; i++) {
        struct function *function = &symbols->functions.at[i];
        const struct rule *rule = rules_match(search->rules, RULE_OUTLINED, function->name, NULL);
        if (rule)
            rename_function(symbols, function, rule);
    }
}

/* Renames the procedures that a thread's samples show directly inside of calls of constructs. Nodes
 * without ip between the two are l-notes of the path to the construct. */
static void search_thread(const struct search *search, const struct measurement_thread *thread)
{
    const struct rule **rule_of = mem_alloc((thread->nodes.n + 1) * sizeof *rule_of);
    for (size_t i = MEASUREMENT_LOST_NODE + 1; i < thread->nodes.n; i++) {
        const struct measurement_node *node = &thread->nodes.at[i];
        const struct rule *outside = rule_of[node->parent];
        if (node->ip_space == MEASUREMENT_NO_NOTE) {
            rule_of[i] = outside;
            continue;
        }
        const struct measurement_node *caller = &thread->nodes.at[node->parent];
        if (outside && is_missing_body(caller))
            rename_missing_body(search, caller, outside);
        else if (outside)
            rename_procedure(search, node, outside);
        if (node->association == ASSOC_1_0 || node->association == ASSOC_1_M ||
            is_missing_body(node))
            rule_of[i] = rule_of_caller(search, node);
    }
    free(rule_of);
}

/* Calls `visit` for each agent of each process that has rules for constructs. */
static void search_agents(struct search *search, void (*visit)(const struct search *search))
{
    const struct measurement *m = search->file->m;
    for (size_t i = 0; i < m->agents.n; i++) {
        search->rules = rules_find_file(&search->code->rules, m->agents.at[i].rules);
        if (search->rules &&
            (rules_have(search->rules, RULE_CONSTRUCT) || rules_have(search->rules, RULE_OUTLINED)))
            visit(search);
    }
}

static void search_threads(const struct search *search)
{
    for (size_t i = 0; i < search->file->m->threads.n; i++)
        search_thread(search, &search->file->m->threads.at[i]);
}

void constructs_find(struct symbol_table *symbols, const struct runtime_code *code)
{
    struct search search = {.symbols = symbols, .code = code};
    void (*const steps[])(const struct search *) = {search_threads, rename_outlined};
    for (size_t step = 0; step < 2; step++)
        for (size_t i = 0; i < code->measurements->files.n; i++) {
            search.file = &code->measurements->files.at[i];
            search_agents(&search, steps[step]);
        }
}

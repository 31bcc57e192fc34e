#include "hpcprof/metrics/overhead-samples.h"

#include <stdlib.h>
#include <string.h>

/* The kind in structure files of a tag without a kind, and the kind that it counts as. */
#define TAG_WITHOUT_KIND "overhead"
#define OTHER_KIND       "other"

/* ---- what can be measured ---- */

static bool is_tagged(const struct runtime_code *code, uint32_t module)
{
    const struct structure *s = code->structures->of_module[module].structure;
    return s && s->overhead_kinds.count;
}

static bool has_tags(const struct runtime_code *code, const struct measurement_file *file)
{
    for (size_t i = 0; i < file->m->modules.n; i++)
        if (is_tagged(code, file->module_of[i]))
            return true;
    return false;
}

/* Whether a process has code that is overhead by a rule. */
static bool has_rules(const struct runtime_code *code, const struct measurement_file *file)
{
    for (size_t i = 0; i < file->m->modules.n; i++)
        if (runtime_code_has_overhead(code, file->module_of[i]))
            return true;
    return false;
}

/* Whether all code of a runtime is known by the rules of its agent. */
static bool is_complete(const struct runtime_code *code, const struct measurement_agent *agent)
{
    const struct rules_file *rules = rules_find_file(&code->rules, agent->rules);
    return rules &&
           (rules_match(rules, RULE_OVERHEAD_COMPLETE, "yes", NULL) ||
            (rules_match(rules, RULE_OVERHEAD_COMPLETE, "debug", NULL) && !code->has_mixed_code));
}

/* Whether code of a runtime's headers cannot be told from the program's. */
static bool lacks_debug(const struct runtime_code *code, const struct measurement_agent *agent)
{
    const struct rules_file *rules = rules_find_file(&code->rules, agent->rules);
    return code->has_mixed_code && rules && rules_have(rules, RULE_COMPILED_IN);
}

/* Why overhead is a lower bound if a process runs a runtime without tags, whose code may be known by
 * rules. */
static char *lower_bound_of(const struct overhead *overhead, const struct measurement_agent *agent,
                            bool has_rules)
{
    char *runtime =
        agent ? mem_printf("the runtime of agent %s", agent->name) : mem_strdup("its runtime");
    const char *why =
        "no code is tagged as that of %s: what is compiled into the program counts as "
        "work (runtime-patches has tags for Cilk: compile the program with them and "
        "-g)";
    if (agent && lacks_debug(overhead->code, agent))
        why = "without debug information, code of %s that is compiled into the program is not told "
              "from the program's own, and counts as work: compile it with -g";
    else if (has_rules)
        why = "code of %s that no rule names, or that is compiled into the program, counts as work";
    char *text = mem_printf(why, runtime);
    free(runtime);
    return text;
}

static void find_state_of_process(struct overhead *overhead, const struct measurement_file *file)
{
    const struct runtime_code *code = overhead->code;
    size_t at = 0;
    const struct measurement_agent *agent = measurement_next_runtime(file->m, &at);
    const bool has_agent = agent, is_known = has_rules(code, file);
    if (!has_agent && !is_known)
        return;
    overhead->is_measurable = true;
    while (agent && is_complete(code, agent))
        agent = measurement_next_runtime(file->m, &at);
    const bool may_lack = agent || !has_agent;
    if (may_lack && !overhead->why_lower_bound && !has_tags(code, file))
        overhead->why_lower_bound = lower_bound_of(overhead, agent, is_known);
}

static void find_state(struct overhead *overhead)
{
    const struct runtime_code *code = overhead->code;
    for (size_t i = 0; i < code->measurements->files.n; i++)
        find_state_of_process(overhead, &code->measurements->files.at[i]);
    for (uint32_t i = 0; i < code->structures->n && !overhead->is_measurable; i++)
        overhead->is_measurable = is_tagged(code, i);
}

/* ---- kinds ---- */

static bool is_named(const char *kind)
{
    return *kind && strcmp(kind, TAG_WITHOUT_KIND) != 0 && strcmp(kind, OTHER_KIND) != 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static uint32_t other_kind(const struct overhead *overhead)
{
    uint32_t n = overhead->kinds.count;
    return n ? n - 1 : 0;
}

/* The index of a kind; UINT32_MAX for the kind of a rule that no code matches. */
static uint32_t kind_index(const struct overhead *overhead, const char *kind)
{
    return is_named(kind) ? strtab_find(&overhead->kinds, kind) : other_kind(overhead);
}

struct kind_names {
    VEC(const char *) all;
};

static void add_kind(struct kind_names *names, const char *kind)
{
    if (is_named(kind))
        vec_push(&names->all, kind);
}

static void add_kinds_of_module(struct kind_names *names, const struct structure *s,
                                const struct rule **rule_of_scope)
{
    for (uint32_t i = 0; i < s->overhead_kinds.count; i++)
        add_kind(names, strtab_string(&s->overhead_kinds, i));
    const struct rule *last = NULL; /* most scopes have the rule of the scope before them */
    for (size_t i = 0; rule_of_scope && i < s->scopes.n; i++) {
        const struct rule *rule = rule_of_scope[i];
        if (rule && rule != last && rule_is_overhead(rule))
            add_kind(names, rule->kind);
        last = rule ? rule : last;
    }
}

static void find_kinds(struct overhead *overhead)
{
    struct kind_names names = {0};
    const struct runtime_code *code = overhead->code;
    for (size_t i = 0; i < code->structures->n; i++)
        if (code->structures->of_module[i].structure)
            add_kinds_of_module(&names, code->structures->of_module[i].structure,
                                code->rule_of_scope[i]);
    vec_sort(&names.all, by_name);
    for (size_t i = 0; i < names.all.n; i++)
        strtab_id(&overhead->kinds, names.all.at[i]);
    if (names.all.n)
        strtab_id(&overhead->kinds, OTHER_KIND);
    vec_free(&names.all);
}

static void map_kinds_of_tags(struct overhead *overhead)
{
    const struct structures *structures = overhead->code->structures;
    overhead->kind_of_tag = mem_alloc(structures->n * sizeof *overhead->kind_of_tag);
    for (size_t i = 0; i < structures->n; i++) {
        const struct structure *s = structures->of_module[i].structure;
        uint32_t n = s ? s->overhead_kinds.count : 0;
        overhead->kind_of_tag[i] = mem_alloc(n * sizeof **overhead->kind_of_tag);
        for (uint32_t k = 0; k < n; k++)
            overhead->kind_of_tag[i][k] =
                kind_index(overhead, strtab_string(&s->overhead_kinds, k));
    }
}

static void map_kinds_of_rules(struct overhead *overhead)
{
    const struct rules *rules = &overhead->code->rules;
    overhead->kind_of_rule = mem_alloc(rules->n_rules * sizeof *overhead->kind_of_rule);
    for (size_t i = 0; i < rules->files.n; i++)
        for (size_t k = 0; k < rules->files.at[i].rules.n; k++) {
            const struct rule *rule = &rules->files.at[i].rules.at[k];
            overhead->kind_of_rule[rule->id] = kind_index(overhead, rule->kind);
        }
}

/* ---- who calls bodies ---- */

/* Functions of a module that the rules of a file say call bodies; NULL: none. */
static bool *find_callers(const struct rules_file *rules, const struct structure *s)
{
    bool *found = mem_alloc((s->functions.n + 1) * sizeof *found), has_any = false;
    for (size_t i = 0; i < s->functions.n; i++) {
        const char *name = strtab_string(&s->names, s->functions.at[i].name);
        found[i] = rules_match(rules, RULE_CONSTRUCT, name, NULL) != NULL;
        has_any |= found[i];
    }
    if (has_any)
        return found;
    free(found);
    return NULL;
}

static void find_body_callers(struct overhead *overhead)
{
    const struct runtime_code *code = overhead->code;
    overhead->calls_bodies = mem_alloc(code->structures->n * sizeof *overhead->calls_bodies);
    for (size_t i = 0; i < code->structures->n; i++) {
        const struct structure *s = code->structures->of_module[i].structure;
        const char *path = code->measurements->modules.all.at[i].path;
        for (size_t k = 0; s && k < code->rules.files.n && !overhead->calls_bodies[i]; k++)
            if (rules_have_module(&code->rules.files.at[k], path))
                overhead->calls_bodies[i] = find_callers(&code->rules.files.at[k], s);
    }
}

void overhead_find(struct overhead *overhead, const struct runtime_code *code)
{
    *overhead = (struct overhead){.code = code};
    find_state(overhead);
    find_kinds(overhead);
    map_kinds_of_tags(overhead);
    map_kinds_of_rules(overhead);
    find_body_callers(overhead);
}

void overhead_free(struct overhead *overhead)
{
    for (size_t i = 0; i < overhead->code->structures->n; i++) {
        free(overhead->kind_of_tag[i]);
        free(overhead->calls_bodies[i]);
    }
    free(overhead->calls_bodies);
    free(overhead->kind_of_tag);
    free(overhead->kind_of_rule);
    free(overhead->why_lower_bound);
    strtab_free(&overhead->kinds);
}

/* ---- samples ---- */

/* The kind of a statement, by its tag, else by its rule; NOT_OVERHEAD if it has neither. */
static uint32_t kind_of(const struct overhead *overhead, uint32_t module,
                        const struct structure_statement *statement)
{
    if (statement && statement->overhead != STRUCTURE_NONE)
        return overhead->kind_of_tag[module][statement->overhead];
    const struct rule *rule = runtime_code_rule(overhead->code, module, statement);
    return rule && rule_is_overhead(rule) ? overhead->kind_of_rule[rule->id] : NOT_OVERHEAD;
}

/* The kind of a fence whose last instruction ends at the address of a frame; NOT_OVERHEAD if there
 * is none. */
static uint32_t kind_of_fence(const struct overhead *overhead, const struct frame_code *frame)
{
    const struct structure_statement *before =
        frame->address ? structure_find(frame->structure, frame->address - 1) : NULL;
    const struct rule *rule = runtime_code_rule(overhead->code, frame->module, before);
    return rule && rule->is_fence ? kind_of(overhead, frame->module, before) : NOT_OVERHEAD;
}

/* The kind of a frame's code. Only the address of a sample can be the first one of a statement: the
 * address of a caller is return address - 1, inside the call instruction. */
static uint32_t kind_of_code(const struct overhead *overhead, const struct frame_code *frame)
{
    uint32_t kind = kind_of(overhead, frame->module, frame->statement);
    bool may_follow_fence =
        kind == NOT_OVERHEAD && frame->statement && frame->address == frame->statement->begin;
    return may_follow_fence ? kind_of_fence(overhead, frame) : kind;
}

static bool calls_bodies(const struct overhead *overhead, const struct frame_code *frame)
{
    const bool *of_module = frame->has_module ? overhead->calls_bodies[frame->module] : NULL;
    if (!of_module || !frame->statement)
        return false;
    const struct structure *s = frame->structure;
    return of_module[s->scopes.at[structure_procedure(s, frame->statement->scope)].function];
}

/* The kind of a node without a kind of its own. */
static uint32_t kind_from_caller(const struct overhead *overhead,
                                 const struct measurement_node *node,
                                 const struct frame_code *frame, struct overhead_state caller)
{
    if (node->association == ASSOC_1_0 || node->association == ASSOC_M_0)
        return caller.kind == NOT_OVERHEAD ? other_kind(overhead) : caller.kind;
    if (node->ip_space == MEASUREMENT_NO_NOTE)
        return caller.kind;
    bool is_callee = frame->has_module && frame_code_is_callee(frame);
    return is_callee && !caller.calls_bodies ? caller.kind : NOT_OVERHEAD;
}

struct overhead_state overhead_at(const struct overhead *overhead,
                                  const struct measurement_node *node,
                                  const struct frame_code *frame, struct overhead_state caller)
{
    bool is_frame = node->ip_space != MEASUREMENT_NO_NOTE;
    struct overhead_state state = {
        .kind = frame->has_module ? kind_of_code(overhead, frame) : NOT_OVERHEAD,
        .calls_bodies = is_frame ? calls_bodies(overhead, frame) : caller.calls_bodies,
    };
    if (state.kind == NOT_OVERHEAD)
        state.kind = kind_from_caller(overhead, node, frame, caller);
    return state;
}

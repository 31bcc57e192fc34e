#include "hpcprof/metrics/overhead-samples.h"

#include "hpcprof/runtime/runtime-code.h"

#include <stdlib.h>
#include <string.h>

/* What a structure file has for a tag without kind, and the kind that it is then of. */
#define TAG_WITHOUT_KIND "overhead"
#define OTHER_KIND       "other"

/* ---- state ---- */

static bool is_tagged(const struct module *module)
{
    return module->structure && module->structure->overhead_kinds.count;
}

static bool has_tags(const struct inputs *inputs, const struct input *input)
{
    for (size_t i = 0; i < input->m->modules.n; i++)
        if (is_tagged(&inputs->modules.all.at[input->module_of[i]]))
            return true;
    return false;
}

static const char *agent_name(const struct measurement *m)
{
    uint64_t agent = m->workers.at[0].agent;
    return agent < m->agents.n ? m->agents.at[agent].name : "its agent";
}

/* Whether a process has code that rules call overhead. */
static bool has_rules(const struct inputs *inputs, const struct input *input)
{
    for (size_t i = 0; i < input->m->modules.n; i++)
        if (runtime_code_has(&inputs->modules.all.at[input->module_of[i]], RULE_OVERHEAD))
            return true;
    return false;
}

/* Why overhead is a lower bound where a process runs a runtime without tags. */
static char *bound_of(const struct measurement *m)
{
    char *whose = m->workers.n ? mem_printf("the runtime of agent %s", agent_name(m))
                               : mem_strdup("its runtime");
    char *why =
        mem_printf("no code is tagged as that of %s, so what its rules do not name, or what "
                   "is compiled into the program, counts as work: compile the program "
                   "with -g and the tags of runtime-patches to measure all of it",
                   whose);
    free(whose);
    return why;
}

bool overhead_measurable(struct inputs *inputs)
{
    bool is_known = false;
    for (size_t i = 0; i < inputs->files.n; i++) {
        const struct input *input = &inputs->files.at[i];
        if (!input->m->workers.n && !has_rules(inputs, input))
            continue;
        is_known = true;
        if (!inputs->overhead_bound && !has_tags(inputs, input))
            inputs->overhead_bound = bound_of(input->m);
    }
    for (size_t i = 0; i < inputs->modules.all.n && !is_known; i++)
        is_known = is_tagged(&inputs->modules.all.at[i]);
    return is_known;
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

/* The last one. */
static uint32_t other_kind(const struct inputs *inputs)
{
    uint32_t n = inputs->overhead_kinds.count;
    return n ? n - 1 : 0;
}

/* The index of a kind; that of "other" where it has no name. */
static uint32_t kind_index(const struct inputs *inputs, const char *kind)
{
    return is_named(kind) ? strtab_find(&inputs->overhead_kinds, kind) : other_kind(inputs);
}

static void map_kinds_of_tags(const struct inputs *inputs, struct module *module)
{
    const struct strtab *kinds = &module->structure->overhead_kinds;
    module->overhead_kinds = mem_alloc(kinds->count * sizeof *module->overhead_kinds);
    for (uint32_t i = 0; i < kinds->count; i++)
        module->overhead_kinds[i] = kind_index(inputs, strtab_string(kinds, i));
}

static void map_kinds_of_rules(struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->rules->files.n; i++)
        for (size_t k = 0; k < inputs->rules->files.at[i].rules.n; k++) {
            struct rule *rule = &inputs->rules->files.at[i].rules.at[k];
            rule->kind_index = kind_index(inputs, rule->kind);
        }
}

struct kind_names {
    VEC(const char *) all;
};

static void add_kind(struct kind_names *names, const char *kind)
{
    if (is_named(kind))
        vec_push(&names->all, kind);
}

static void add_kinds_of_tags(struct kind_names *names, const struct structure *s)
{
    for (uint32_t k = 0; k < s->overhead_kinds.count; k++)
        add_kind(names, strtab_string(&s->overhead_kinds, k));
}

static void add_kinds_of_rules(struct kind_names *names, const struct module *module)
{
    const struct rule *last = NULL;
    for (size_t i = 0; module->rule_of_scope && i < module->structure->scopes.n; i++) {
        const struct rule *rule = module->rule_of_scope[i];
        if (rule && rule != last && rule->key == RULE_OVERHEAD)
            add_kind(names, rule->kind);
        last = rule ? rule : last;
    }
}

void overhead_find_kinds(struct inputs *inputs)
{
    struct kind_names names = {0};
    struct modules *modules = &inputs->modules;
    for (size_t i = 0; i < modules->all.n; i++)
        if (modules->all.at[i].structure) {
            add_kinds_of_tags(&names, modules->all.at[i].structure);
            add_kinds_of_rules(&names, &modules->all.at[i]);
        }
    if (names.all.n)
        qsort(names.all.at, names.all.n, sizeof *names.all.at, by_name);
    for (size_t i = 0; i < names.all.n; i++)
        strtab_id(&inputs->overhead_kinds, names.all.at[i]);
    if (names.all.n)
        strtab_id(&inputs->overhead_kinds, OTHER_KIND);
    vec_free(&names.all);
    for (size_t i = 0; i < modules->all.n; i++)
        if (modules->all.at[i].structure)
            map_kinds_of_tags(inputs, &modules->all.at[i]);
    map_kinds_of_rules(inputs);
}

/* ---- the walk ---- */

/* The kind that a statement is tagged with, or that a rule says; NOT_OVERHEAD for none. */
static uint32_t kind_of(const struct module *module, const struct structure_statement *statement)
{
    const struct rule *rule = runtime_code_rule(module, statement);
    if (statement && statement->overhead != STRUCTURE_NONE)
        return module->overhead_kinds[statement->overhead];
    return rule && rule->key == RULE_OVERHEAD ? rule->kind_index : NOT_OVERHEAD;
}

/* The kind of a fence whose last instruction stands directly before an address; NOT_OVERHEAD. */
static uint32_t kind_of_fence(const struct module *module, uint64_t address)
{
    const struct structure *s = module->structure;
    const struct structure_statement *before = address ? structure_find(s, address - 1) : NULL;
    const struct rule *rule = runtime_code_rule(module, before);
    return rule && rule->is_fence ? kind_of(module, before) : NOT_OVERHEAD;
}

/* The kind that a frame's code is of. Only where a sample was taken can a frame's address be the
 * first of a statement: calls end before return addresses. */
static uint32_t kind_at(const struct module *module, const struct structure_statement *statement,
                        uint64_t address)
{
    uint32_t kind = kind_of(module, statement);
    bool may_be_behind = kind == NOT_OVERHEAD && statement && address == statement->begin;
    return may_be_behind ? kind_of_fence(module, address) : kind;
}

/* Whether code belongs to whoever called it, for all that is known. */
static bool is_on_behalf(const struct structure *s, const struct structure_statement *statement,
                         uint64_t flags)
{
    return flags & (MODULE_LIBC | MODULE_VDSO) || (statement && structure_is_stub(s, statement));
}

/* What the walk makes of a frame, whose callers' frames come to `outer`. */
static uint32_t mark_of(const struct inputs *inputs, const struct input *input,
                        const struct measurement_node *node, uint32_t outer)
{
    const struct module *module = NULL;
    const struct structure_statement *statement = NULL;
    if (node->ip_space < input->m->modules.n) {
        module = &inputs->modules.all.at[input->module_of[node->ip_space]];
        statement = module->structure ? structure_find(module->structure, node->ip_offset) : NULL;
        uint32_t kind = kind_at(module, statement, node->ip_offset);
        if (kind != NOT_OVERHEAD)
            return kind;
    }
    if (node->association == ASSOC_1_0 || node->association == ASSOC_M_0)
        return outer == NOT_OVERHEAD ? other_kind(inputs) : outer;
    if (node->ip_space == MEASUREMENT_NO_NOTE)
        return outer;
    if (!module)
        return NOT_OVERHEAD;
    uint64_t flags = input->m->modules.at[node->ip_space].flags;
    return is_on_behalf(module->structure, statement, flags) ? outer : NOT_OVERHEAD;
}

void overhead_mark(const struct inputs *inputs, const struct input *input,
                   const struct measurement_thread *thread, uint32_t *marks)
{
    marks[MEASUREMENT_ROOT] = NOT_OVERHEAD;
    for (size_t i = MEASUREMENT_ROOT + 1; i < thread->nodes.n; i++) {
        const struct measurement_node *node = &thread->nodes.at[i];
        marks[i] = mark_of(inputs, input, node, marks[node->parent]);
    }
}

#include "hpcprof/overhead.h"

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

bool overhead_measurable(struct inputs *inputs)
{
    bool is_known = false;
    for (size_t i = 0; i < inputs->files.n; i++) {
        const struct measurement *m = inputs->files.at[i].m;
        if (!m->workers.n)
            continue;
        is_known = true;
        if (!inputs->overhead_bound && !has_tags(inputs, &inputs->files.at[i]))
            inputs->overhead_bound = mem_printf(
                "no code is tagged as that of the runtime of agent %s, so what of it is compiled "
                "into the program counts as work: compile the program with -g and the tags of "
                "runtime-patches to measure all of it",
                agent_name(m));
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

static void map_kinds(const struct inputs *inputs, struct module *module)
{
    const struct strtab *kinds = &module->structure->overhead_kinds;
    module->overhead_kinds = mem_alloc(kinds->count * sizeof *module->overhead_kinds);
    for (uint32_t i = 0; i < kinds->count; i++) {
        const char *kind = strtab_string(kinds, i);
        module->overhead_kinds[i] =
            is_named(kind) ? strtab_find(&inputs->overhead_kinds, kind) : other_kind(inputs);
    }
}

void overhead_find_kinds(struct inputs *inputs)
{
    VEC(const char *) names = {0};
    struct modules *modules = &inputs->modules;
    for (size_t i = 0; i < modules->all.n; i++) {
        const struct structure *s = modules->all.at[i].structure;
        for (uint32_t k = 0; s && k < s->overhead_kinds.count; k++)
            if (is_named(strtab_string(&s->overhead_kinds, k)))
                vec_push(&names, strtab_string(&s->overhead_kinds, k));
    }
    if (names.n)
        qsort(names.at, names.n, sizeof *names.at, by_name);
    for (size_t i = 0; i < names.n; i++)
        strtab_id(&inputs->overhead_kinds, names.at[i]);
    if (names.n)
        strtab_id(&inputs->overhead_kinds, OTHER_KIND);
    vec_free(&names);
    for (size_t i = 0; i < modules->all.n; i++)
        if (modules->all.at[i].structure)
            map_kinds(inputs, &modules->all.at[i]);
}

/* ---- the walk ---- */

/* The kind that a statement is tagged with. */
static uint32_t tag_of(const struct module *module, const struct structure_statement *statement)
{
    return statement && statement->overhead != STRUCTURE_NONE
               ? module->overhead_kinds[statement->overhead]
               : NOT_OVERHEAD;
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
        uint32_t tag = tag_of(module, statement);
        if (tag != NOT_OVERHEAD)
            return tag;
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

#include "hpcprof/metrics/waiting-samples.h"

#include "hpcprof/runtime/runtime-code.h"

#include <stdlib.h>
#include <string.h>

/* ---- the runtimes' code ---- */

static bool is_about_waiting(const struct rules_file *file)
{
    return rules_have(file, RULE_WAITING) || rules_have(file, RULE_WAITING_CODE) ||
           rules_have(file, RULE_WAITING_CALL);
}

/* The rules of the runtime that a module is of; NULL for none. */
static const struct rules_file *runtime_of(const struct rules *rules, const struct module *module)
{
    for (size_t i = 0; i < rules->files.n; i++) {
        const struct rules_file *file = &rules->files.at[i];
        if (is_about_waiting(file) && rules_have_module(file, module->path))
            return file;
    }
    return NULL;
}

static const char *name_of(const struct structure *s, uint32_t scope)
{
    const struct structure_scope *of = &s->scopes.at[structure_procedure(s, scope)];
    return strtab_string(&s->names, s->functions.at[of->function].name);
}

static bool has_waiting_code(const struct rules_file *file, const struct structure *s,
                             uint32_t scope)
{
    return rules_match(file, RULE_WAITING_CODE, name_of(s, scope), NULL) != NULL;
}

/* Loops that pause, with all in them, in procedures whose code may wait. */
static void find_loops(struct module *module)
{
    const struct structure *s = module->structure;
    module->is_waiting_scope = mem_alloc((s->scopes.n + 1) * sizeof *module->is_waiting_scope);
    for (uint32_t i = 0; i < s->scopes.n; i++) {
        const struct structure_scope *scope = &s->scopes.at[i];
        bool around = scope->parent != STRUCTURE_NONE && module->is_waiting_scope[scope->parent];
        module->is_waiting_scope[i] =
            around || (scope->pauses && has_waiting_code(module->runtime, s, i));
    }
}

bool waiting_find(struct inputs *inputs)
{
    bool is_known = false;
    for (size_t i = 0; i < inputs->modules.all.n; i++) {
        struct module *module = &inputs->modules.all.at[i];
        module->runtime = runtime_of(inputs->rules, module);
        is_known |= module->runtime != NULL;
        if (module->runtime && module->structure)
            find_loops(module);
    }
    return is_known;
}

/* ---- the walk ---- */

/* What is known of the code at a node. */
struct frame {
    const struct module *module; /* NULL: none that is known */
    const struct structure_statement *statement;
    uint64_t address, flags;
};

static struct frame frame_of(const struct inputs *inputs, const struct input *input,
                             const struct measurement_node *node)
{
    struct frame frame = {.address = node->ip_offset};
    if (node->ip_space < input->m->modules.n) {
        frame.module = &inputs->modules.all.at[input->module_of[node->ip_space]];
        frame.flags = input->m->modules.at[node->ip_space].flags;
        if (frame.module->structure)
            frame.statement = structure_find(frame.module->structure, node->ip_offset);
    }
    return frame;
}

/* Whether code of a runtime waits; `outer` is what its callers come to. */
static bool waits(const struct frame *frame, bool outer)
{
    const struct module *module = frame->module;
    const struct structure_statement *statement = frame->statement;
    if (!statement || statement->scope == STRUCTURE_NONE)
        return outer;
    const struct rule *rule = runtime_code_rule(module, statement);
    if (rule)
        return rule->key == RULE_WAITING;
    if (module->is_waiting_scope[statement->scope])
        return true;
    if (structure_waits_at(module->structure, frame->address) &&
        has_waiting_code(module->runtime, module->structure, statement->scope))
        return true;
    return outer;
}

/* Whether a function of the C library is one that a runtime waits by. */
static bool is_waiting_call(const struct rules_file *runtime, const struct frame *frame)
{
    const struct structure_statement *statement = frame->statement;
    if (!runtime || !statement || statement->scope == STRUCTURE_NONE)
        return false;
    const char *name = name_of(frame->module->structure, statement->scope);
    return rules_match(runtime, RULE_WAITING_CALL, name, NULL) != NULL;
}

static bool is_stub(const struct frame *frame)
{
    return frame->statement && frame->statement->scope != STRUCTURE_NONE &&
           structure_is_stub(frame->module->structure, frame->statement);
}

static struct waiting_mark mark_of(const struct frame *frame, struct waiting_mark outer)
{
    const struct waiting_mark none = {.is_waiting = false};
    if (!frame->module)
        return none;
    const struct rules_file *runtime = frame->module->runtime;
    if (runtime) {
        bool is_outer_waiting = outer.runtime == runtime && outer.is_waiting;
        return (struct waiting_mark){waits(frame, is_outer_waiting), runtime};
    }
    if (!(frame->flags & (MODULE_LIBC | MODULE_VDSO)) && !is_stub(frame))
        return none;
    outer.is_waiting |= is_waiting_call(outer.runtime, frame);
    return outer;
}

void waiting_mark(const struct inputs *inputs, const struct input *input,
                  const struct measurement_thread *thread, struct waiting_mark *marks)
{
    marks[MEASUREMENT_ROOT] = (struct waiting_mark){.is_waiting = false};
    for (size_t i = MEASUREMENT_ROOT + 1; i < thread->nodes.n; i++) {
        const struct measurement_node *node = &thread->nodes.at[i];
        struct frame frame = frame_of(inputs, input, node);
        marks[i] = mark_of(&frame, marks[node->parent]);
    }
}

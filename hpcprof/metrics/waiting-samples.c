#include "hpcprof/metrics/waiting-samples.h"

#include <assert.h>
#include <stdlib.h>

/* ---- the runtimes' code ---- */

static bool has_rules_for_waiting(const struct rules_file *file)
{
    return rules_have(file, RULE_WAITING) || rules_have(file, RULE_WAITING_CODE) ||
           rules_have(file, RULE_WAITING_CALL);
}

/* The rules of the runtime that a module belongs to; NULL for none. */
static const struct rules_file *find_runtime(const struct rules *rules, const char *path)
{
    for (size_t i = 0; i < rules->files.n; i++) {
        const struct rules_file *file = &rules->files.at[i];
        if (has_rules_for_waiting(file) && rules_have_module(file, path))
            return file;
    }
    return NULL;
}

/* The name of the procedure around a scope. */
static const char *procedure_name(const struct structure *s, uint32_t scope)
{
    const struct structure_scope *procedure = &s->scopes.at[structure_procedure(s, scope)];
    return strtab_string(&s->names, s->functions.at[procedure->function].name);
}

static bool has_waiting_code(const struct rules_file *file, const struct structure *s,
                             uint32_t scope)
{
    return rules_match(file, RULE_WAITING_CODE, procedure_name(s, scope), NULL) != NULL;
}

/* Marks loops with a `pause` instruction in procedures that `waiting-code` names, and all scopes in
 * them. */
static bool *find_waiting_loops(const struct structure *s, const struct rules_file *runtime)
{
    bool *is_waiting = mem_alloc((s->scopes.n + 1) * sizeof *is_waiting);
    for (uint32_t i = 0; i < s->scopes.n; i++) {
        const struct structure_scope *scope = &s->scopes.at[i];
        bool is_inside = scope->parent != STRUCTURE_NONE && is_waiting[scope->parent];
        is_waiting[i] = is_inside || (scope->pauses && has_waiting_code(runtime, s, i));
    }
    return is_waiting;
}

void waiting_find(struct waiting *waiting, const struct runtime_code *code)
{
    size_t n = code->structures->n;
    *waiting = (struct waiting){
        .code = code,
        .runtime_of = mem_alloc(n * sizeof *waiting->runtime_of),
        .is_waiting_scope = mem_alloc(n * sizeof *waiting->is_waiting_scope),
    };
    for (size_t i = 0; i < n; i++) {
        const struct structure *s = code->structures->of_module[i].structure;
        const struct rules_file *runtime =
            find_runtime(&code->rules, code->measurements->modules.all.at[i].path);
        waiting->runtime_of[i] = runtime;
        waiting->is_measurable |= runtime != NULL;
        if (runtime && s)
            waiting->is_waiting_scope[i] = find_waiting_loops(s, runtime);
    }
}

void waiting_free(struct waiting *waiting)
{
    for (size_t i = 0; i < waiting->code->structures->n; i++)
        free(waiting->is_waiting_scope[i]);
    free(waiting->is_waiting_scope);
    free(waiting->runtime_of);
}

/* ---- samples ---- */

/* Whether code of a runtime waits; `is_caller_waiting` decides for code without a rule. */
static bool is_waiting(const struct waiting *waiting, const struct frame_code *frame,
                       bool is_caller_waiting)
{
    const struct structure_statement *statement = frame->statement;
    if (!statement)
        return is_caller_waiting;
    const struct rule *rule = runtime_code_rule(waiting->code, frame->module, statement);
    if (rule)
        return rule->key == RULE_WAITING;
    if (waiting->is_waiting_scope[frame->module][statement->scope])
        return true;
    if (structure_waits_at(frame->structure, frame->address) &&
        has_waiting_code(waiting->runtime_of[frame->module], frame->structure, statement->scope))
        return true;
    return is_caller_waiting;
}

/* Whether a function of the C library is one that the runtime waits in. */
static bool is_waiting_call(const struct rules_file *runtime, const struct frame_code *frame)
{
    if (!runtime || !frame->statement)
        return false;
    const char *name = procedure_name(frame->structure, frame->statement->scope);
    return rules_match(runtime, RULE_WAITING_CALL, name, NULL) != NULL;
}

struct waiting_state waiting_at(const struct waiting *waiting, const struct frame_code *frame,
                                struct waiting_state caller)
{
    const struct waiting_state none = {.is_waiting = false};
    if (!frame->has_module)
        return none;
    assert(frame->module < waiting->code->structures->n);
    const struct rules_file *runtime = waiting->runtime_of[frame->module];
    if (runtime) {
        bool is_caller_waiting = caller.runtime == runtime && caller.is_waiting;
        return (struct waiting_state){is_waiting(waiting, frame, is_caller_waiting), runtime};
    }
    if (!frame_code_is_callee(frame))
        return none;
    caller.is_waiting |= is_waiting_call(caller.runtime, frame);
    return caller;
}

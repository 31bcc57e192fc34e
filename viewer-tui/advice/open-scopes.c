#include "viewer-tui/advice/open-scopes.h"

#include "viewer-tui/db/node-costs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is known of a procedure. A large tree has a procedure in many contexts, and it is looked up once. */
struct known_procedure {
    bool is_known, begins_thread, is_system_call, is_lock, is_without_cpu, says_something, has_name, is_in_kernel;
    enum wait wait;
    uint32_t module;       /* NOTHING: that of the procedure around it, or made at run time */
    enum code_owner owner; /* if its code is in that module */
};

static const struct known_procedure nothing_known;
static const struct source_line no_line = {NOTHING, 0};

struct open_scopes open_scopes_new(struct database *db, bool shows_calls)
{
    struct open_scopes scopes = {.db = db, .nodes = database_nodes(db), .shows_calls = shows_calls};
    scopes.procedures = mem_alloc(database_n_procedures(db) * sizeof *scopes.procedures);
    struct call_chain chain = {.found = NOTHING, .callee = NOTHING, .callee_module = NOTHING, .around = no_line};
    struct open_scope first = {.end = scopes.nodes->n,
                               .is_left_out = !shows_calls,
                               .procedure = NOTHING,
                               .module = NOTHING,
                               .loop = no_line,
                               .chain = chain,
                               .known = &nothing_known};
    vec_push(&scopes.list, first);
    return scopes;
}

void open_scopes_free(struct open_scopes *scopes)
{
    free(scopes->procedures);
    vec_free(&scopes->list);
}

/* What is called below a loop of asyncio says more than the loop. The same goes for functions that were made for each
 * call of a library, as numpy's in the file "<__array_function__ internals>", and for a stripped library's, without
 * names. */
static bool says_something(const struct database *db, uint32_t procedure)
{
    static const char *const of_loops[] = {"/asyncio/runners.py", "/asyncio/base_events.py", "/asyncio/events.py", NULL};
    const char *path = database_file_path(db, database_procedure(db, procedure).file);
    size_t length = path ? strlen(path) : 0;
    bool is_between = path && *path == '<';
    for (size_t i = 0; of_loops[i] && !is_between; i++)
        is_between = length > strlen(of_loops[i]) && strcmp(path + length - strlen(of_loops[i]), of_loops[i]) == 0;
    return !is_between && database_procedure_has_name(db, procedure);
}

static const struct known_procedure *known_procedure(const struct open_scopes *scopes, uint32_t id)
{
    struct known_procedure *known = &scopes->procedures[id];
    if (known->is_known)
        return known;
    struct database *db = scopes->db;
    char buffer[NAME_SIZE];
    const char *name = database_procedure_name(db, id, buffer);
    uint32_t module = database_procedure(db, id).module;
    *known = (struct known_procedure){.is_known = true,
                                      .begins_thread = begins_thread(name),
                                      .is_system_call = is_system_call(name),
                                      .is_lock = is_name_of_lock(name),
                                      .is_without_cpu = is_name_of_lock_without_cpu(name),
                                      .says_something = says_something(db, id),
                                      .has_name = database_procedure_has_name(db, id),
                                      .is_in_kernel = database_is_kernel(db, module),
                                      .wait = wait_of(name),
                                      .module = module,
                                      .owner = code_owner_of_procedure(db, id, module)};
    return known;
}

static struct source_line call_of(const struct nodes *nodes, uint32_t node)
{
    uint32_t call = nodes_call_site(nodes, node);
    return call ? (struct source_line){nodes->place[call], nodes->line[call]} : no_line;
}

/* Continues the chain of the caller by the procedure of a scope. */
static void continue_chain(const struct open_scope *caller, const struct known_procedure *known, enum code_owner owner,
                           struct source_line call, struct open_scope *scope)
{
    struct call_chain *chain = &scope->chain;
    bool has_name = owner == CODE_OWN || known->has_name;
    bool says_more = has_name || !chain->has_name || scope->module != chain->found_module;
    if (owner != CODE_OF_SYSTEM && owner >= chain->owner && says_more && !known->is_lock) {
        *chain = (struct call_chain){.found = scope->procedure,
                                     .found_module = scope->module,
                                     .owner = owner,
                                     .has_name = has_name,
                                     .around = caller->is_own ? caller->loop : no_line,
                                     .callee = NOTHING,
                                     .callee_module = NOTHING};
        return;
    }
    bool is_called = chain->callee == NOTHING;
    if (chain->found != NOTHING && is_called) {
        chain->call = call;
        chain->loop = caller->loop;
    }
    if (chain->found != NOTHING && (is_called || (known->says_something && !chain->callee_says))) {
        chain->callee = scope->procedure;
        chain->callee_module = scope->module;
        chain->callee_says = known->says_something;
    }
    chain->wait = chain->wait != WAIT_NONE ? chain->wait : known->wait;
}

static void enter_procedure(struct open_scopes *scopes, uint32_t node)
{
    const struct nodes *nodes = scopes->nodes;
    bool is_inlined = nodes->kind[node] == KIND_INLINED;
    const struct open_scope *caller = is_inlined || scopes->shows_calls ? open_scopes_top(scopes) : &scopes->list.at[0];
    uint32_t id = nodes->place[node];
    const struct known_procedure *known = known_procedure(scopes, id);
    struct source_line call = call_of(nodes, node);
    struct open_scope scope = {.node = node,
                               .end = nodes->end[node],
                               .is_left_out = is_inlined && caller->is_left_out,
                               .procedure = id,
                               .module = known->module == NOTHING && is_inlined ? caller->module : known->module,
                               .loop = no_line,
                               .chain = known->begins_thread ? scopes->list.at[0].chain : caller->chain,
                               .known = known,
                               .caller = (uint32_t)(caller - scopes->list.at),
                               .call = call};
    bool is_of_caller = scope.module != known->module;
    enum code_owner owner = is_of_caller ? code_owner_of_procedure(scopes->db, id, scope.module) : known->owner;
    scope.is_own = owner == CODE_OWN;
    if (!known->begins_thread)
        continue_chain(caller, known, owner, call, &scope);
    /* If the kernel's procedures are shown, their time is still that of the line that called the kernel. */
    bool is_in_kernel = is_of_caller ? database_is_kernel(scopes->db, scope.module) : known->is_in_kernel;
    scope.is_in_kernel = is_in_kernel && caller->procedure != NOTHING;
    vec_push(&scopes->list, scope);
}

void open_scopes_enter(struct open_scopes *scopes, uint32_t node)
{
    const struct nodes *nodes = scopes->nodes;
    if (is_procedure_kind(nodes->kind[node])) {
        enter_procedure(scopes, node);
        return;
    }
    struct open_scope loop = *open_scopes_top(scopes);
    loop.node = node;
    loop.end = nodes->end[node];
    loop.is_loop = true;
    loop.loop = (struct source_line){nodes->place[node], nodes->line[node]};
    vec_push(&scopes->list, loop);
}

void open_scopes_enter_around(struct open_scopes *scopes, uint32_t node)
{
    const struct nodes *nodes = scopes->nodes;
    autofree VEC(uint32_t) around = {0};
    while ((node = nodes->parent[node]) != 0)
        if (is_procedure_kind(nodes->kind[node]) || nodes->kind[node] == KIND_LOOP)
            vec_push(&around, node);
    while (around.n)
        open_scopes_enter(scopes, around.at[--around.n]);
}

struct time_place scope_place(const struct open_scopes *scopes, const struct open_scope *scope, struct source_line line,
                              bool has_line)
{
    while (scope->is_in_kernel) {
        line = scope->call;
        has_line = line.line != 0;
        scope = &scopes->list.at[scope->caller];
    }
    const struct call_chain *chain = &scope->chain;
    bool calls = chain->callee != NOTHING;
    struct source_line loop = calls ? chain->loop : scope->loop;
    return (struct time_place){.procedure = chain->found != NOTHING ? chain->found : scope->procedure,
                               .owner = chain->owner,
                               .at = calls ? chain->call : line,
                               .loop = loop,
                               .around = loop.file == NOTHING ? chain->around : no_line,
                               .callee = chain->callee,
                               .callee_module = chain->callee_module,
                               .wait = chain->wait,
                               .is_system_call = scope->known->is_system_call,
                               .is_of_lock = scope->known->is_lock,
                               .is_without_cpu = scope->known->is_without_cpu,
                               .leaf = scope->procedure,
                               .leaf_module = scope->module,
                               .has_line = has_line,
                               .saved = INFINITY};
}

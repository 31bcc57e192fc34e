#include "agents/cilk5/cilk5-runtime.h"

#include "agents/cilk5/cilk5-exports.h"
#include "agents/cilk5/cilk5-observer.h"
#include "agents/common/linked-runtime.h"
#include "agents/common/loaded-modules.h"
#include "agents/common/published-copy.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

static const struct runtime no_runtime;
static _Atomic(const struct runtime *) known_runtime = &no_runtime;

const struct runtime *runtime(void)
{
    return atomic_load_explicit(&known_runtime, memory_order_acquire);
}

static void set_runtime(const struct runtime *now)
{
    static struct published_copy *copies;
    const struct runtime *copy = published_copy(&copies, now, sizeof *now);
    if (copy)
        atomic_store(&known_runtime, copy);
}

static const struct agent_host *host;

/* What the symbols of one module say. */
struct runtime_symbols {
    const struct agent_module *module;
    struct range scheduler, child_main, root, wakeup_workers;
    bool has_mark;
    uint64_t description; /* address of the patch's hpctoolkit_cilk5; 0: none */
};

void runtime_start(const struct agent_host *agent_host)
{
    host = agent_host;
}

static void add_symbol(const struct symbol *symbol, void *data)
{
    struct runtime_symbols *found = data;
    const char *name = symbol->name;
    uint64_t begin = symbol->address + found->module->bias;
    struct range range = {begin, begin + symbol->size};
    if (strcmp(name, LAYOUT_MARK) == 0)
        found->has_mark = true;
    else if (strcmp(name, "Cilk_scheduler") == 0)
        found->scheduler = range;
    else if (strcmp(name, "Cilk_child_main") == 0)
        found->child_main = range;
    else if (strcmp(name, "invoke_main_slow") == 0)
        found->root = range;
    else if (strcmp(name, "Cilk_wakeup_workers") == 0)
        found->wakeup_workers = range;
    else if (strcmp(name, "hpctoolkit_cilk5") == 0 &&
             symbol->size >= offsetof(struct hpctoolkit_cilk5, working))
        found->description = begin;
}

static void learn_patch(struct runtime *now, uint64_t address)
{
    struct hpctoolkit_cilk5 *description = (void *)address;
    now->working = now->site_in_closure = 0;
    if (!description && host->dag)
        host->dag->cannot_tell("Cilk-5 reports them only with the patch in "
                               "runtime-patches/cilk5, whose README.md says how to apply it");
    if (!description)
        return;
    if (description->magic != HPCTOOLKIT_CILK5_MAGIC || description->size != sizeof *description) {
        host->log("cilk5: the runtime has another version's patch, which is not used: spawn sites "
                  "are not known");
        if (host->dag)
            host->dag->cannot_tell("Cilk-5 has another version's patch; apply that in "
                                   "runtime-patches/cilk5");
        return;
    }
    now->working = address + offsetof(struct hpctoolkit_cilk5, working);
    now->site_in_closure = description->site_in_closure;
    if (host->dag)
        cilk5_observe(host, description);
}

/* Claims the whole module if it is a library, else the functions that were linked in. The function
 * where threads start is static and may lie before the exported ones. */
static void claim_runtime(const struct agent_module *module)
{
    struct agent_claim whole = {module->start, module->end, RUNTIME}, claim;
    struct agent_claim child_main = {runtime()->child_main.begin, runtime()->child_main.end,
                                     RUNTIME};
    if (module->path[0]) {
        host->claim(&hpcrun_agent, &whole, 1);
        return;
    }
    size_t count;
    struct agent_claim *parts = linked_runtime(module, cilk5_exports, RUNTIME, &count);
    if (parts)
        host->claim(&hpcrun_agent, parts, count);
    if (parts && !host->find_claim(&hpcrun_agent, child_main.start, &claim))
        host->claim(&hpcrun_agent, &child_main, 1);
    free(parts);
}

static void learn(const struct runtime_symbols *found)
{
    if (!found->has_mark || !found->child_main.end || !found->root.end) {
        host->refuse(&hpcrun_agent, found->has_mark
                                        ? "the runtime was stripped"
                                        : "the runtime is not Cilk-5.4.6 in its default build");
        return;
    }
    host->refuse(&hpcrun_agent, NULL);
    struct runtime now = *runtime();
    now.scheduler = found->scheduler;
    now.child_main = found->child_main;
    now.root = found->root;
    now.wakeup_workers = found->wakeup_workers;
    now.module = found->module->start;
    learn_patch(&now, found->description);
    now.is_known = true;
    set_runtime(&now);
    claim_runtime(found->module);
}

void runtime_look(const struct agent_module *module)
{
    struct runtime_symbols found = {.module = module};
    if (module->start == getauxval(AT_BASE)) {
        struct runtime now = *runtime();
        now.linker = (struct range){module->start, module->end};
        set_runtime(&now);
    }
    if (runtime()->is_known)
        return;
    struct pinned_module pinned;
    symbols_visit(module->path, add_symbol, &found);
    if (found.scheduler.end && module_pin(module->start, module->path, &pinned)) {
        learn(&found);
        module_unpin(&pinned);
    }
}

void runtime_forget(const struct agent_module *module)
{
    struct runtime now = *runtime();
    if (now.module != module->start)
        return;
    now.is_known = false;
    set_runtime(&now);
}

/* -------- imports -------- */

#define BEGINNING "_cilk_"
#define ENDING    "_import"
#define MAIN_NAME "mt_cilk_main"

struct import {
    char *procedure; /* its name; NULL for mt_cilk_main */
    uint64_t procedure_at;
    struct agent_claim code;
};

struct import_list {
    uint64_t bias;
    struct import *at;
    size_t count;
};

/* The length of f if the name is _cilk_f_import, else 0. */
static size_t procedure_in(const char *name)
{
    size_t length = strlen(name), around = strlen(BEGINNING ENDING);
    if (length <= around || strncmp(name, BEGINNING, strlen(BEGINNING)) != 0 ||
        strcmp(name + length - strlen(ENDING), ENDING) != 0)
        return 0;
    return length - around;
}

static void add_import(const struct symbol *symbol, void *data)
{
    struct import_list *list = data;
    size_t length = procedure_in(symbol->name);
    bool is_main = strcmp(symbol->name, MAIN_NAME) == 0;
    if (!symbol->is_function || symbol->size == 0 || (length == 0 && !is_main))
        return;
    struct import *more = realloc(list->at, (list->count + 1) * sizeof *more);
    if (!more)
        return;
    uint64_t start = list->bias + symbol->address;
    more[list->count++] = (struct import){
        .procedure = is_main ? NULL : strndup(symbol->name + strlen(BEGINNING), length),
        .code = {start, start + symbol->size, is_main ? MAIN_ENTRY : IMPORT}};
    list->at = more;
}

static void set_procedure(const struct symbol *symbol, void *data)
{
    struct import_list *list = data;
    for (size_t i = 0; i < list->count && symbol->is_function; i++)
        if (list->at[i].procedure && strcmp(list->at[i].procedure, symbol->name) == 0)
            list->at[i].procedure_at = list->bias + symbol->address;
}

/* Whether the import is in the module's range and calls its procedure. Checks at every byte, as if an
 * instruction began there. The file may be another one than that of the module by now. */
static bool calls_procedure(const struct import *import, struct code_range range)
{
    enum { CALL = 0xe8, BYTES = 5 };
    if (!is_in_range(import->code.start, range) || !is_in_range(import->code.end - 1, range))
        return false;
    if (import->code.tag == MAIN_ENTRY)
        return true;
    for (uint64_t at = import->code.start; at + BYTES <= import->code.end; at++) {
        int32_t distance;
        memcpy(&distance, (const char *)at + 1, sizeof distance);
        if (*(const uint8_t *)at == CALL &&
            at + BYTES + (uint64_t)(int64_t)distance == import->procedure_at)
            return true;
    }
    return false;
}

struct agent_claim *imports_find(const struct agent_module *module, size_t *count)
{
    struct import_list list = {.bias = module->bias};
    struct pinned_module pinned;
    symbols_visit(module->path, add_import, &list);
    if (list.count > 0)
        symbols_visit(module->path, set_procedure, &list);
    struct agent_claim *claims = list.count ? malloc(list.count * sizeof *claims) : NULL;
    bool is_pinned = claims && module_pin(module->start, module->path, &pinned);
    *count = 0;
    for (size_t i = 0; i < list.count; i++) {
        if (is_pinned && calls_procedure(&list.at[i], pinned.range))
            claims[(*count)++] = list.at[i].code;
        free(list.at[i].procedure);
    }
    free(list.at);
    if (is_pinned)
        module_unpin(&pinned);
    if (*count > 0)
        return claims;
    free(claims);
    return NULL;
}

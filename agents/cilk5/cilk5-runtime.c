#include "agents/cilk5/cilk5-runtime.h"

#include "agents/cilk5/cilk5-exports.h"
#include "agents/cilk5/cilk5-layout.h"
#include "agents/common/elf-symbols.h"
#include "agents/common/linked-runtime.h"

#include "runtime-patches/cilk5/description.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

struct runtime runtime;

static const struct agent_host *host;

/* What the symbols of one module say. */
struct reading {
    const struct agent_module *module;
    struct range scheduler, child_main, root;
    bool has_mark;
    uint64_t description; /* address of the patch's; 0: there is none */
};

void runtime_start(const struct agent_host *its)
{
    host = its;
}

static void see_symbol(const struct symbol *symbol, void *data)
{
    struct reading *reading = data;
    const char *name = symbol->name;
    uint64_t begin = symbol->address + reading->module->bias;
    struct range range = {begin, begin + symbol->size};
    if (strcmp(name, LAYOUT_MARK) == 0)
        reading->has_mark = true;
    else if (strcmp(name, "Cilk_scheduler") == 0)
        reading->scheduler = range;
    else if (strcmp(name, "Cilk_child_main") == 0)
        reading->child_main = range;
    else if (strcmp(name, "invoke_main_slow") == 0)
        reading->root = range;
    else if (strcmp(name, "hpctoolkit_cilk5") == 0 &&
             symbol->size == sizeof(struct hpctoolkit_cilk5))
        reading->description = begin;
}

static void learn_patch(uint64_t address)
{
    const struct hpctoolkit_cilk5 *description = (const void *)address;
    runtime.working = runtime.site_in_closure = 0;
    if (!description)
        return;
    if (description->magic != HPCTOOLKIT_CILK5_MAGIC || description->size != sizeof *description) {
        host->log("cilk5: the runtime's patch is not the agent's: spawn sites are not known");
        return;
    }
    runtime.working = address + offsetof(struct hpctoolkit_cilk5, working);
    runtime.site_in_closure = description->site_in_closure;
}

/* A library is the runtime's as a whole, of a program only the functions that were linked in are;
 * where threads start is a static one, which may lie before those that are known by name. */
static void claim_runtime(const struct agent_module *module)
{
    struct agent_claim whole = {module->start, module->end, RUNTIME}, claim;
    struct agent_claim child_main = {runtime.child_main.begin, runtime.child_main.end, RUNTIME};
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

static void learn(const struct reading *reading)
{
    if (!reading->has_mark || !reading->child_main.end || !reading->root.end) {
        host->refuse(&hpcrun_agent, reading->has_mark
                                        ? "the runtime was stripped"
                                        : "the runtime is not Cilk-5.4.6 in its default build");
        return;
    }
    host->refuse(&hpcrun_agent, NULL);
    runtime.scheduler = reading->scheduler;
    runtime.child_main = reading->child_main;
    runtime.root = reading->root;
    runtime.module = reading->module->start;
    learn_patch(reading->description);
    atomic_store(&runtime.is_known, true);
    claim_runtime(reading->module);
}

void runtime_look(const struct agent_module *module)
{
    struct reading reading = {.module = module};
    if (module->start == getauxval(AT_BASE))
        runtime.linker = (struct range){module->start, module->end};
    if (runtime.is_known)
        return;
    symbols_visit(module->path, see_symbol, &reading);
    if (reading.scheduler.end)
        learn(&reading);
}

void runtime_forget(const struct agent_module *module)
{
    if (runtime.module == module->start)
        atomic_store(&runtime.is_known, false);
}

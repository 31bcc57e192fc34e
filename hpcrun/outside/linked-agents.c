#include "hpcrun/outside/linked-agents.h"

#include "hpcrun/logical/agent-query.h"
#include "hpcrun/logical/agent-table.h"
#include "hpcrun/logical/claims.h"
#include "hpcrun/outside/catch.h"
#include "hpcrun/outside/measured-process.h"
#include "hpcrun/outside/perf-switches.h"
#include "hpcrun/process/process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of their rules files. */
#define VERSION "1.0"

static bool is_allowed(const struct agent *agent)
{
    return strstr(process.config.agents, agent->name) != NULL;
}

static bool is_used(const struct agent *agent)
{
    return agents_index(agent) < atomic_load(&agents.count);
}

/* A place in the table; the agent is used when the count includes it. */
static void prepare(const struct agent *agent)
{
    unsigned i = atomic_load(&agents.count);
    agents.at[i] = agent;
    agents.name[i] = agent->name;
    agents.rules_version[i] = VERSION;
    agent->start(host_for_agents());
}

static void use(void)
{
    atomic_fetch_add(&agents.count, 1);
    atomic_fetch_add(&agents.news, 1);
    atomic_fetch_add(&agents.epoch, 1);
}

static struct agent_module for_agent(const struct module_image *image)
{
    return (struct agent_module){
        .start = image->start, .end = image->end, .bias = image->bias, .path = image->path};
}

/* ---- plain threads ---- */

bool plain_threads_begin(void)
{
    if (!is_allowed(&agent_for_threads) || is_used(&agent_for_threads))
        return false;
    prepare(&agent_for_threads);
    use();
    return true;
}

void plain_threads_add(const struct module_image *image)
{
    const struct agent_module module = for_agent(image);
    if (is_used(&agent_for_threads))
        agent_for_threads.module_added(&module);
}

/* ---- Python ---- */

/* Files of modules may be truncated while they are read. */
static struct guard reading;

bool linked_agents_fix_up(ucontext_t *context)
{
    return guard_abandon(&reading, context);
}

/* Why the frames of an interpreter can't be read at the instant of a sample; NULL: they can. */
static const char *why_not(const struct agent_module *module)
{
    uint64_t word;
    int error = perf_switches_probe(process.pid);
    if (error == -ESRCH || !measured_has_memory())
        return "the process had ended before hpcrun got to it";
    if (error < 0)
        return "to read its frames from outside, hpcrun needs CAP_PERFMON, or kernel.perf_event_paranoid=1";
    if (!measured_read(module->start, &word, sizeof word))
        return "the process's memory may not be read (kernel.yama.ptrace_scope?)";
    return NULL;
}

/* Whether the agent is there, or has found the interpreter in the module. */
static void add_to_python(const struct agent_module *module)
{
    bool is_new = !is_used(&hpcrun_agent);
    if (is_new)
        prepare(&hpcrun_agent);
    if (guard_enter(&reading) == 0) {
        hpcrun_agent.module_added(module);
        guard_leave(&reading);
    }
    bool is_found = is_new && claims_agent(module->start) == (int)agents_index(&hpcrun_agent);
    const char *why = is_found ? why_not(module) : NULL;
    if (why)
        refusals_add(hpcrun_agent.name, why);
    if (is_found && !why)
        use();
    else if (is_new)
        agents.at[agents_index(&hpcrun_agent)] = NULL;
}

size_t linked_agents_share(void *to, size_t room)
{
    return is_used(&hpcrun_agent) ? hpcrun_agent.share(to, room) : 0;
}

bool linked_agents_are_read(void)
{
    return is_used(&hpcrun_agent);
}

/* The agent reads as the reader's threads do, and then goes on here. */
struct caught *linked_agents_catch(int tid, uint64_t time)
{
    static struct catch *catch;
    uint8_t shared[QUEUE_NOTE_BYTES];
    const struct sample_instant sample = {.pid = process.pid, .tid = tid, .time = time};
    if (!linked_agents_share(shared, sizeof shared) || (!catch && !(catch = catch_new())))
        return NULL;
    hpcrun_agent.start(&host_for_catches);
    const struct caught *caught = catch_memory(catch, &sample, shared, 0);
    hpcrun_agent.start(host_for_agents());
    struct caught *copy = caught ? malloc(caught->header.size) : NULL;
    return copy ? memcpy(copy, caught, caught->header.size) : NULL;
}

/* ---- both ---- */

void linked_agents_add(const struct module_image *image)
{
    const struct agent_module module = for_agent(image);
    plain_threads_add(image);
    if (is_allowed(&hpcrun_agent))
        add_to_python(&module);
}

void linked_agents_remove(const struct module_image *image)
{
    const struct agent_module module = for_agent(image);
    if (is_used(&agent_for_threads))
        agent_for_threads.module_removed(&module);
    if (is_used(&hpcrun_agent))
        hpcrun_agent.module_removed(&module);
    claims_remove(module.start, module.end);
}

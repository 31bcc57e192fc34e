#include "hpcrun/outside/plain-threads.h"

#include "hpcrun/logical/agent-query.h"
#include "hpcrun/logical/agent-table.h"
#include "hpcrun/process/process.h"

/* Of its rules file. */
#define VERSION "1.0"

static bool is_used(void)
{
    return atomic_load(&agents.count) > 0;
}

static struct agent_module for_agent(const struct module_image *image)
{
    return (struct agent_module){
        .start = image->start, .end = image->end, .bias = image->bias, .path = image->path};
}

void plain_threads_add(const struct module_image *image)
{
    const struct agent_module module = for_agent(image);
    if (is_used())
        agent_for_threads.module_added(&module);
}

void plain_threads_remove(const struct module_image *image)
{
    const struct agent_module module = for_agent(image);
    if (is_used())
        agent_for_threads.module_removed(&module);
}

bool plain_threads_begin(void)
{
    if (!process.config.agents[0] || is_used())
        return false;
    agents.at[0] = &agent_for_threads;
    agents.name[0] = agent_for_threads.name;
    agents.rules_version[0] = VERSION;
    agent_for_threads.start(host_for_agents());
    atomic_store(&agents.count, 1);
    atomic_fetch_add(&agents.news, 1);
    atomic_fetch_add(&agents.epoch, 1);
    return true;
}

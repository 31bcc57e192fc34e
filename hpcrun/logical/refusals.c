#include "hpcrun/logical/refusals.h"

#include "hpcrun/process/process.h"
#include "hpcrun/process/report.h"

#include <stdatomic.h>
#include <string.h>

/* An agent refuses once, or for a second reason: in programs that load and unload its runtime. */
#define MOST_REFUSALS (2 * MAX_AGENTS)

static struct {
    char agent[64], why[256];
} all[MOST_REFUSALS];
static _Atomic unsigned count;

/* The last of an agent; NULL for none. */
static const char *last_reason(const char *agent)
{
    for (unsigned i = atomic_load(&count); i > 0; i--)
        if (strcmp(all[i - 1].agent, agent) == 0)
            return all[i - 1].why;
    return NULL;
}

static bool add(const char *agent, const char *why)
{
    unsigned n = atomic_load(&count);
    if (n == MOST_REFUSALS)
        return false;
    strncpy(all[n].agent, agent, sizeof all[n].agent - 1);
    strncpy(all[n].why, why, sizeof all[n].why - 1);
    atomic_store(&count, n + 1);
    return true;
}

static void tell(const char *agent, const char *why)
{
    char buffer[512];
    struct text line = TEXT(buffer);
    text_add(&line, "agent ");
    text_add(&line, agent);
    text_add(&line, " takes no part: ");
    text_add(&line, why);
    text_add(&line, ": native call paths");
    if (process.pid == process.config.launched_pid) /* a child says nothing on its own account */
        report_error(&line);
    else
        report_log(&line);
}

void refusals_add(const char *agent, const char *why)
{
    const char *last = last_reason(agent);
    bool is_known = last && strcmp(last, why) == 0;
    if (!is_known && add(agent, why))
        tell(agent, why);
}

void refusals_withdraw(const char *agent)
{
    const char *last = last_reason(agent);
    if (last && *last)
        add(agent, "");
}

bool refusals_get(unsigned i, struct refusal *refusal)
{
    if (i >= atomic_load(&count))
        return false;
    *refusal = (struct refusal){all[i].agent, all[i].why};
    return true;
}

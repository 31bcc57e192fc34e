#include "hpcrun/logical/agent-table.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/logical/agent-locks.h"
#include "hpcrun/process/process.h"
#include "hpcrun/process/report.h"

#include <string.h>

struct agents agents;
_Atomic(const struct agent_lock *) agent_lock;

unsigned agents_index(const struct agent *agent)
{
    unsigned index = 0;
    while (index < MAX_AGENTS && agents.at[index] != agent)
        index++;
    return index;
}

/* ---- refusals ---- */

/* An agent rarely refuses more than twice: for two reasons, in a program that reloads its runtime.
 */
#define MAX_REFUSALS (2 * MAX_AGENTS)

static struct {
    char agent[64], why[256];
} refusals[MAX_REFUSALS];
static _Atomic unsigned refusal_count;

/* The last reason of an agent, "" if withdrawn; NULL if it never refused. */
static const char *last_reason(const char *agent)
{
    for (unsigned i = atomic_load(&refusal_count); i > 0; i--)
        if (strcmp(refusals[i - 1].agent, agent) == 0)
            return refusals[i - 1].why;
    return NULL;
}

/* A program that loads and unloads a runtime again and again gets one line. */
static bool was_reported(const char *agent, const char *why)
{
    for (unsigned i = 0; i < atomic_load(&refusal_count); i++)
        if (strcmp(refusals[i].agent, agent) == 0 && strcmp(refusals[i].why, why) == 0)
            return true;
    return false;
}

static bool add(const char *agent, const char *why)
{
    unsigned n = atomic_load(&refusal_count);
    if (n == MAX_REFUSALS)
        return false;
    strncpy(refusals[n].agent, agent, sizeof refusals[n].agent - 1);
    strncpy(refusals[n].why, why, sizeof refusals[n].why - 1);
    atomic_store(&refusal_count, n + 1);
    atomic_fetch_add(&agents.news, 1);
    return true;
}

static void report_refusal(const char *agent, const char *why)
{
    char buffer[512];
    struct text line = TEXT(buffer);
    text_add(&line, "agent ");
    text_add(&line, agent);
    text_add(&line, " is not used: ");
    text_add(&line, why);
    text_add(&line, ": native call paths");
    if (process.pid ==
        process.config.launched_pid) /* children leave the program's standard error alone */
        report_error(&line);
    else
        report_log(&line);
}

void refusals_add(const char *agent, const char *why)
{
    const char *last = last_reason(agent);
    bool is_known = last && strcmp(last, why) == 0, is_old = was_reported(agent, why);
    if (!is_known && add(agent, why) && !is_old)
        report_refusal(agent, why);
}

void refusals_withdraw(const char *agent)
{
    const char *last = last_reason(agent);
    if (last && *last)
        add(agent, "");
}

bool refusals_get(unsigned i, struct refusal *refusal)
{
    if (i >= atomic_load(&refusal_count))
        return false;
    *refusal = (struct refusal){refusals[i].agent, refusals[i].why};
    return true;
}

/* ---- workers ---- */

/* Changes that are recorded. Runtimes set their number of workers a few times in a process's life.
 */
#define MAX_CHANGES 256

static struct seen {
    _Atomic uint64_t last; /* workers << 32 | n */
    _Atomic uint32_t begun;
    struct {
        struct workers_change change;
        _Atomic bool done;
    } at[MAX_CHANGES];
} workers_seen[MAX_AGENTS];

void workers_record(unsigned agent, uint32_t workers, uint32_t n)
{
    struct seen *its = &workers_seen[agent];
    uint64_t numbers = (uint64_t)workers << 32 | n;
    if (atomic_load_explicit(&its->last, memory_order_relaxed) == numbers ||
        atomic_exchange(&its->last, numbers) == numbers)
        return;
    uint32_t i = atomic_fetch_add(&its->begun, 1);
    if (i >= MAX_CHANGES)
        return;
    its->at[i].change = (struct workers_change){sys_clock(CLOCK_MONOTONIC), workers, n};
    atomic_store_explicit(&its->at[i].done, true, memory_order_release);
    atomic_fetch_add(&agents.news, 1);
}

bool workers_change(unsigned agent, uint32_t i, struct workers_change *change)
{
    struct seen *its = &workers_seen[agent];
    if (i >= MAX_CHANGES || !atomic_load_explicit(&its->at[i].done, memory_order_acquire))
        return false;
    *change = its->at[i].change;
    return true;
}

void workers_clear(void)
{
    memset(workers_seen, 0, sizeof workers_seen);
}

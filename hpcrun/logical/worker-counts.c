#include "hpcrun/logical/worker-counts.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/logical/agent-table.h"

#include <string.h>

/* Runtimes set their number of workers a few times in a process's life; what comes after is lost.
 */
#define MOST_CHANGES 256

static struct seen {
    _Atomic uint64_t last; /* workers << 32 | n */
    _Atomic uint32_t begun;
    struct {
        struct workers_change change;
        _Atomic bool done;
    } at[MOST_CHANGES];
} seen[MAX_AGENTS];

void workers_see(unsigned agent, uint32_t workers, uint32_t n)
{
    struct seen *its = &seen[agent];
    uint64_t numbers = (uint64_t)workers << 32 | n;
    if (atomic_load_explicit(&its->last, memory_order_relaxed) == numbers ||
        atomic_exchange(&its->last, numbers) == numbers)
        return;
    uint32_t i = atomic_fetch_add(&its->begun, 1);
    if (i >= MOST_CHANGES)
        return;
    its->at[i].change = (struct workers_change){sys_clock(CLOCK_MONOTONIC), workers, n};
    atomic_store_explicit(&its->at[i].done, true, memory_order_release);
}

bool workers_change(unsigned agent, uint32_t i, struct workers_change *change)
{
    struct seen *its = &seen[agent];
    if (i >= MOST_CHANGES || !atomic_load_explicit(&its->at[i].done, memory_order_acquire))
        return false;
    *change = its->at[i].change;
    return true;
}

void workers_forget(void)
{
    memset(seen, 0, sizeof seen);
}

#include "hpcrun/outside/memory-limit.h"

#include "hpcrun/base/small-file.h"

#include <stdio.h>

/* A measurement takes 6 us for each worker. */
#define INTERVAL_NS  2000000000u
#define WORKER_BYTES (400u << 10) /* of one that has a few samples */
#define PAGE         4096u

static struct {
    uint64_t bytes, used, due;
} limit;

/* Fields 2 and 3 of /proc/PID/statm: pages of all kinds, and those of files and queues. */
static uint64_t own_memory(pid_t pid, uint64_t *shared)
{
    char path[48], text[128];
    unsigned long long resident = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", pid);
    unsigned long long others = 0;
    if (small_file_read(path, text, sizeof text) == 0 || sscanf(text, "%*u %llu %llu", &resident, &others) != 2)
        return 0;
    *shared = others * PAGE;
    return (resident - others) * PAGE;
}

void memory_limit_set(uint64_t bytes)
{
    limit.bytes = bytes;
}

uint64_t memory_limit_of_rings(void)
{
    return limit.bytes / 4;
}

bool memory_limit_is_due(void)
{
    uint64_t now = sys_clock(CLOCK_MONOTONIC);
    if (now < limit.due)
        return false;
    limit.due = now + INTERVAL_NS;
    return true;
}

/* The reader has used the pages of all queues. */
void memory_limit_measure(uint64_t ring_bytes)
{
    uint64_t queues = 0, own = own_memory(sys_getpid(), &queues);
    limit.used = ring_bytes + own + queues;
}

void memory_limit_add(pid_t worker)
{
    uint64_t shared;
    limit.used += own_memory(worker, &shared);
}

void memory_limit_begin(void)
{
    limit.used += WORKER_BYTES;
}

bool memory_limit_is_reached(void)
{
    return limit.used > limit.bytes;
}

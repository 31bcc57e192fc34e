#include "lib/metric-kinds.h"

#include <string.h>

static const struct metric_kind kinds[] = {
    {METRIC_WORK, "the program's code", false},
    {METRIC_WALL, "the clock: work / threads that work then", false},
    {METRIC_IDLENESS, "other workers had nothing to do meanwhile", false},
    {METRIC_OVERHEAD, "the parallel runtime itself", false},
    {METRIC_EFFORT, "work + overhead + idleness", false},
    {METRIC_WAITING, "waiting for others, in a runtime or in libc", false},
    {METRIC_OFF_CPU, "the thread wanted no CPU; a part of work", false},
    {METRIC_READY, "wanted a CPU and had none; no part of work", false},
    {METRIC_KERNEL, "in the kernel; in work, overhead or waiting", false},
    {METRIC_LOCK_BLAME, "others waited for a lock that this code held", false},
    {METRIC_LOCK_WAIT, "this code waited for a lock", false},
    {METRIC_INCOMPLETE, "not every worker had work", true},
    {METRIC_EXACT_WORK, "all strands of a fork-join program", false},
    {METRIC_SPAN, "the longest chain of strands", false},
    {METRIC_BURDENED_SPAN, "the longest chain if every spawn is stolen", false},
};

/* The rest of a metric's name after that of its kind, "" or " (EVENT)"; NULL if it is of another kind. */
static const char *event_after(const char *name, const char *kind)
{
    size_t length = strlen(kind);
    if (strncmp(name, kind, length) != 0)
        return NULL;
    const char *rest = name + length;
    return *rest == '\0' || strncmp(rest, " (", 2) == 0 ? rest : NULL;
}

const struct metric_kind *metric_kinds(size_t *n)
{
    *n = sizeof kinds / sizeof *kinds;
    return kinds;
}

const struct metric_kind *metric_kind_of(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (event_after(name, kinds[i].name))
            return &kinds[i];
    return NULL;
}

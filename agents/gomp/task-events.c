#include "agents/gomp/task-events.h"

#include <stddef.h>

const struct agent_tasks *task_events;

/* The copy's own functions. */
static struct gomp_functions real;

/* ---- functions without parameters ---- */

#define OBSERVED_WAITS(F)                                                                          \
    F(GOMP_barrier, AGENT_JOIN_TEAM)                                                               \
    F(GOMP_loop_end, AGENT_JOIN_TEAM)                                                              \
    F(GOMP_sections_end, AGENT_JOIN_TEAM)                                                          \
    F(GOMP_taskwait, AGENT_JOIN_CHILDREN)                                                          \
    F(GOMP_taskgroup_end, AGENT_JOIN_GROUP)                                                        \
    F(GOMP_ordered_start, AGENT_JOIN_UNKNOWN)

#define WAIT(name, what)                                                                           \
    static void observed_##name(void)                                                              \
    {                                                                                              \
        task_events->waits(what);                                                                  \
        real.name();                                                                               \
        task_events->wait_ended(what);                                                             \
    }
OBSERVED_WAITS(WAIT)

#define BOOL_WAIT(type, name, parameters)                                                          \
    static type observed_##name(void)                                                              \
    {                                                                                              \
        task_events->waits(AGENT_JOIN_TEAM);                                                       \
        type result = real.name();                                                                 \
        task_events->wait_ended(AGENT_JOIN_TEAM);                                                  \
        return result;                                                                             \
    }
GOMP_BOOL_WAITS(BOOL_WAIT)

static void observed_GOMP_taskgroup_start(void)
{
    task_events->group_begins();
    real.GOMP_taskgroup_start();
}

/* ---- functions with parameters ---- */

#define ORDERED_LOOP(type, name, parameters)                                                       \
    static type observed_##name(void *start, void *end)                                            \
    {                                                                                              \
        task_events->waits(AGENT_JOIN_UNKNOWN);                                                    \
        type result = real.name(start, end);                                                       \
        task_events->wait_ended(AGENT_JOIN_UNKNOWN);                                               \
        return result;                                                                             \
    }
GOMP_ORDERED_LOOPS(ORDERED_LOOP)

#define DOACROSS(type, name, parameters)                                                           \
    static type observed_##name(long a, long b, long c, long d, long e, long f, long g, long h,    \
                                long i, long j, long k, long l)                                    \
    {                                                                                              \
        task_events->waits(AGENT_JOIN_UNKNOWN);                                                    \
        real.name(a, b, c, d, e, f, g, h, i, j, k, l);                                             \
        task_events->wait_ended(AGENT_JOIN_UNKNOWN);                                               \
    }
GOMP_DOACROSS(DOACROSS)

/* One thread of the team gets NULL, at once: it waits in GOMP_single_copy_end. */
static void *observed_GOMP_single_copy_start(void)
{
    task_events->waits(AGENT_JOIN_TEAM);
    void *result = real.GOMP_single_copy_start();
    task_events->wait_ended(result ? AGENT_JOIN_TEAM : AGENT_JOIN_NOTHING);
    return result;
}

static void observed_GOMP_single_copy_end(void *data)
{
    task_events->waits(AGENT_JOIN_TEAM);
    real.GOMP_single_copy_end(data);
    task_events->wait_ended(AGENT_JOIN_TEAM);
}

static void observed_GOMP_taskwait_depend(void **depend)
{
    task_events->waits(AGENT_JOIN_UNKNOWN);
    real.GOMP_taskwait_depend(depend);
    task_events->wait_ended(AGENT_JOIN_UNKNOWN);
}

static void observed_GOMP_workshare_task_reduction_unregister(bool is_cancelled)
{
    enum agent_join what = is_cancelled ? AGENT_JOIN_NOTHING : AGENT_JOIN_TEAM;
    task_events->waits(what);
    real.GOMP_workshare_task_reduction_unregister(is_cancelled);
    task_events->wait_ended(what);
}

static void observed_GOMP_critical_name_start(void **mutex)
{
    task_events->waits(AGENT_JOIN_NOTHING);
    real.GOMP_critical_name_start(mutex);
    task_events->wait_ended(AGENT_JOIN_NOTHING);
}

#define LOCK(symbol, field, test_symbol, version)                                                  \
    static void observed_##field(void *lock)                                                       \
    {                                                                                              \
        task_events->waits(AGENT_JOIN_NOTHING);                                                    \
        real.field(lock);                                                                          \
        task_events->wait_ended(AGENT_JOIN_NOTHING);                                               \
    }
GOMP_LOCKS(LOCK)

/* ---- the observed copy ---- */

bool task_events_report(struct gomp_functions *functions, const struct agent_tasks *events)
{
    if (task_events)
        return functions->is_observed;
    real = *functions;
    task_events = events;
#define OBSERVE(name, ...)               functions->name = observed_##name;
#define OBSERVE_TYPED(type, name, ...)   functions->name = observed_##name;
#define OBSERVE_LOCK(symbol, field, ...) functions->field = observed_##field;
    OBSERVED_WAITS(OBSERVE)
    GOMP_BOOL_WAITS(OBSERVE_TYPED)
    GOMP_ORDERED_LOOPS(OBSERVE_TYPED)
    GOMP_DOACROSS(OBSERVE_TYPED)
    GOMP_LOCKS(OBSERVE_LOCK)
    OBSERVE(GOMP_taskgroup_start)
    OBSERVE(GOMP_single_copy_start)
    OBSERVE(GOMP_single_copy_end)
    OBSERVE(GOMP_taskwait_depend)
    OBSERVE(GOMP_workshare_task_reduction_unregister)
    OBSERVE(GOMP_critical_name_start)
    functions->is_observed = true;
    return true;
}

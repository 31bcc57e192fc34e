#include "agents/minicilk/minicilk-observer.h"

#include <stdatomic.h>

static const struct agent_dag *dag;
static const struct minicilk_introspection *runtime;

static struct agent_activation activation_of(const struct minicilk_frame *frame)
{
    const char *fields = (const char *)frame;
    return (struct agent_activation){(const void *const *)(fields + runtime->frame_body),
                                     (const void *const *)(fields + runtime->frame_site)};
}

/* The runtime calls the root's procedure; the program called the runtime at caller_pc. */
static void run_begins(unsigned worker, const struct minicilk_frame *frame)
{
    struct agent_activation root = activation_of(frame);
    (void)worker;
    root.site = (const void *const *)&runtime->live->caller_pc;
    dag->run_begins(frame, root);
}

static void run_ended(unsigned worker)
{
    (void)worker;
    dag->run_ended();
}

static void resumed(unsigned worker, const struct minicilk_frame *base)
{
    dag->resumed(worker, base);
}

static bool spawned(unsigned worker, const struct minicilk_frame *child)
{
    return dag->spawned(worker, activation_of(child));
}

static void suspended(unsigned worker, const struct minicilk_frame *base)
{
    dag->suspended(worker, base);
}

static void ended(unsigned worker, const struct minicilk_frame *base)
{
    (void)base;
    dag->ended(worker);
}

static void stolen(unsigned victim, const struct minicilk_frame *frame)
{
    dag->stolen(victim, frame);
}

void minicilk_observe(const struct agent_host *host,
                      const struct minicilk_introspection *introspection)
{
    static struct minicilk_observer observer;
    struct minicilk_live *live = (struct minicilk_live *)(uintptr_t)introspection->live;
    dag = host->dag;
    runtime = introspection;
    observer = (struct minicilk_observer){.run_begins = run_begins,
                                          .run_ended = run_ended,
                                          .resumed = resumed,
                                          .paused = dag->paused,
                                          .spawned = spawned,
                                          .returned = dag->returned,
                                          .orphaned = dag->orphaned,
                                          .synced = dag->synced,
                                          .suspended = suspended,
                                          .ended = ended,
                                          .stolen = stolen};
    atomic_store(&live->observer, &observer);
}

#include "agents/cilk5/cilk5-observer.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Workers, and procedures on the stack of each, whose sites are known; more than the default stack of
 * Cilk has. Pages are touched as far as they are used. */
#define WORKERS 256
#define DEPTHS  65536

static const struct agent_host *host;

static const struct hpctoolkit_cilk5_observer observer;

static struct {
    atomic_flag is_running;
    const void *code, *site; /* of its first procedure, and of the call that began it */
} computation = {.is_running = ATOMIC_FLAG_INIT};

/* By worker and depth: where the procedure was called. */
static const void **sites[WORKERS];

/* The runtime's own first procedure only spawns the program's: both are one context. */
static const struct hpctoolkit_cilk5_observer *run_begins(const void *frame, const void *site)
{
    if (atomic_flag_test_and_set(&computation.is_running)) {
        host->tasks->cannot_follow("several computations of Cilk-5 ran at the same time");
        return NULL;
    }
    computation.code = NULL;
    computation.site = site;
    host->dag->run_begins(frame, (struct agent_activation){&computation.code, &computation.site});
    return &observer;
}

static void run_ended(void)
{
    host->dag->run_ended();
    atomic_flag_clear(&computation.is_running);
}

static bool is_known(int worker)
{
    return worker >= 0 && worker < WORKERS;
}

/* Memory is taken here, outside of strands. */
static void resumed(int worker, const void *frame)
{
    if (is_known(worker) && !sites[worker])
        sites[worker] = calloc(DEPTHS, sizeof **sites);
    host->dag->resumed((unsigned)worker, frame);
}

/* The runtime records an address in the spawn, hpcrun looks for one before a return address. */
static const void *return_address(const void *site)
{
    return (const char *)site + 1;
}

static int spawned(int worker, long depth, const void *const *slow, const void *site)
{
    static const void *const unknown;
    const void *const *place = &unknown;
    if (is_known(worker) && sites[worker] && depth < DEPTHS) {
        sites[worker][depth] = return_address(site);
        place = &sites[worker][depth];
    }
    if (!computation.code)
        computation.code = *slow;
    return host->dag->spawned((unsigned)worker, (struct agent_activation){slow, place});
}

static void returned(int worker)
{
    host->dag->returned((unsigned)worker);
}

static void orphaned(int worker)
{
    host->dag->orphaned((unsigned)worker);
}

static void synced(int worker)
{
    host->dag->synced((unsigned)worker);
}

static void suspended(int worker, const void *frame)
{
    host->dag->suspended((unsigned)worker, frame);
}

static void ended(int worker)
{
    host->dag->ended((unsigned)worker);
}

static void stolen(int victim, const void *frame)
{
    host->dag->stolen((unsigned)victim, frame);
}

static const struct hpctoolkit_cilk5_observer observer = {.run_begins = run_begins,
                                                          .run_ended = run_ended,
                                                          .resumed = resumed,
                                                          .spawned = spawned,
                                                          .returned = returned,
                                                          .orphaned = orphaned,
                                                          .synced = synced,
                                                          .suspended = suspended,
                                                          .ended = ended,
                                                          .stolen = stolen};

void cilk5_observe(const struct agent_host *agent_host, struct hpctoolkit_cilk5 *description)
{
    host = agent_host;
    description->observer = &observer;
}

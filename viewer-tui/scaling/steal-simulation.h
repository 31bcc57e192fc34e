/* A work stealer that executes a recorded dag (viewer-tui/db/spawn-dag.h), simulated: the time that a
 * program would take with any number of workers.
 *
 * MODEL. A worker executes a procedure in serial order. At a spawn it begins the child; the rest of
 * the procedure may be stolen until the child ends. A worker without work takes the oldest such rest
 * of a worker that it chooses at random, if there is one, and continues it after the burden. At a
 * sync that waits for children elsewhere it leaves the procedure; the worker whose child ends last
 * goes on with it. Looking for work takes no time; spawns and syncs take none beyond what the
 * recorded strands have. Memory and caches are those of the recorded run.
 *
 * Without a burden this is a greedy schedule: max(T1 / P, span) <= T_P <= T1 / P + span.
 *
 * METHOD. What a worker executes without being robbed takes the time of its serial execution, which
 * is known for every subtree. So only steals, ends of what was robbed, and syncs that wait are
 * events; a subtree of 10^8 strands that nobody steals from is one. The result is exact for the
 * model: an event that falls into a subtree opens it, one level at a time. One thing is not exact: of
 * the equal turns of a serial loop outside of all parallel code, the first 64 are simulated, and
 * their mean stands for the others. */
#ifndef VIEWER_STEAL_SIMULATION_H
#define VIEWER_STEAL_SIMULATION_H

#include "viewer-tui/db/spawn-dag.h"

#define MOST_SIMULATED_WORKERS 1024u

/* Most steps of one simulation: events, and looks for something to steal. A million take 0.2 s. */
#define MOST_STEPS 2000000u

struct simulated_run {
    double time; /* in the dag's unit; NAN: it took more than MOST_STEPS */
    uint64_t steals, steps;
};

/* The same arguments yield the same result. `workers` from 1 to MOST_SIMULATED_WORKERS. */
struct simulated_run simulate_stealing(const struct spawn_dag *dag, unsigned workers,
                                       uint64_t seed);

#endif

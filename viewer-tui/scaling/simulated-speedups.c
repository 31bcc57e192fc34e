#include "viewer-tui/scaling/simulated-speedups.h"

#include <math.h>
#include <stdlib.h>

/* Most steps for all points together: four seconds. */
#define MOST_STEPS_OF_ALL (10 * MOST_STEPS)

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Adds the point of a number of workers; false if its simulations take too long. */
static bool add_point(struct simulated_speedups *simulated, const struct spawn_dag *dag,
                      unsigned workers, uint64_t *steps)
{
    double times[SIMULATIONS];
    for (uint64_t seed = 0; seed < SIMULATIONS; seed++) {
        struct simulated_run run = simulate_stealing(dag, workers, seed + 1);
        *steps += run.steps;
        times[seed] = run.time * DAG_UNIT;
        if (isnan(run.time) || *steps > MOST_STEPS_OF_ALL)
            return false;
    }
    qsort(times, SIMULATIONS, sizeof *times, by_value);
    struct simulated_point point = {workers, times[SIMULATIONS / 2], times[0],
                                    times[SIMULATIONS - 1]};
    vec_push(&simulated->points, point);
    return true;
}

/* The least number above `workers` among the powers of two up to `most` and the others; 0: none. */
static unsigned next_number(unsigned workers, unsigned most, const unsigned *others, size_t n)
{
    unsigned next = 1;
    while (next <= workers)
        next *= 2;
    next = next <= most ? next : 0;
    for (size_t i = 0; i < n; i++)
        if (others[i] > workers && others[i] <= MOST_SIMULATED_WORKERS &&
            (next == 0 || others[i] < next))
            next = others[i];
    return next;
}

struct simulated_speedups simulated_speedups_of(const struct spawn_dag *dag, unsigned most,
                                                const unsigned *others, size_t n)
{
    struct simulated_speedups simulated = {.work =
                                               dag->nodes.at[spawn_dag_root(dag)].work * DAG_UNIT,
                                           .span = spawn_dag_span(dag) * DAG_UNIT,
                                           .burden = dag->burden * DAG_UNIT,
                                           .summary = dag->summary};
    uint64_t steps = 0;
    for (unsigned workers = 0;
         !simulated.is_cut && (workers = next_number(workers, most, others, n));)
        simulated.is_cut = !add_point(&simulated, dag, workers, &steps);
    return simulated;
}

void simulated_speedups_free(struct simulated_speedups *simulated)
{
    vec_free(&simulated->points);
}

const struct simulated_point *simulated_point_of(const struct simulated_speedups *simulated,
                                                 double workers)
{
    for (size_t i = 0; i < simulated->points.n; i++)
        if (simulated->points.at[i].workers == workers)
            return &simulated->points.at[i];
    return NULL;
}

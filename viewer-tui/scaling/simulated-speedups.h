/* Times with 1, 2, 4, ... workers, simulated on the recorded dag of a run (steal-simulation.h).
 *
 * For each number of workers there are SIMULATIONS simulations, which differ in the victims that
 * thieves choose. Their median is the time; the least and the largest one are its interval. */
#ifndef VIEWER_SIMULATED_SPEEDUPS_H
#define VIEWER_SIMULATED_SPEEDUPS_H

#include "viewer-tui/scaling/steal-simulation.h"

#define SIMULATIONS 5

/* Seconds. */
struct simulated_point {
    unsigned workers;
    double time, low, high;
};

struct simulated_speedups {
    VEC(struct simulated_point) points; /* fewest workers first; none: nothing was simulated */
    double work, span;                  /* of the dag */
    double burden;                      /* of a steal */
    double summary;                     /* share of the work that is in summaries */
    bool is_cut;                        /* more workers would take too long to simulate */
};

/* With 1, 2, 4, ... workers up to `most`, and with the numbers in `others` that are not above
 * MOST_SIMULATED_WORKERS. The caller frees with simulated_speedups_free. */
struct simulated_speedups simulated_speedups_of(const struct spawn_dag *dag, unsigned most,
                                                const unsigned *others, size_t n);
void simulated_speedups_free(struct simulated_speedups *simulated);

/* The point with this number of workers, or NULL. */
const struct simulated_point *simulated_point_of(const struct simulated_speedups *simulated,
                                                 double workers);

#endif

/* What events of threads miss (cpu-events.h has the reasons), as the worker of a process finds it. */
#ifndef HPCRUN_OUTSIDE_SHORT_TURNS_H
#define HPCRUN_OUTSIDE_SHORT_TURNS_H

#include "hpcrun/outside/measured-process.h"

enum wants_cpus { SHORT_TURNS = 1, SHORT_LIVES = 2 };

/* Number of threads, or of child processes, that have ended without a sample. */
#define MANY_UNSEEN 8u

/* Whether a thread has had the CPU for less than 0.1 ms at a time, on average since the last look. A look takes at least
 * 20 ms of its CPU time: *last is `now` then. */
bool turns_are_short(struct scheduled *last, const struct scheduled *now);

#endif

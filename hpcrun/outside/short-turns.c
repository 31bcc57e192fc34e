#include "hpcrun/outside/short-turns.h"

/* As in source/cpu-time-source.c. */
#define SHORT_TURN_NS 100000u
#define LOOK_NS       20000000u

bool turns_are_short(struct scheduled *last, const struct scheduled *now)
{
    uint64_t ran = now->cpu - last->cpu, turns = now->timeslices - last->timeslices;
    if (now->cpu < last->cpu + LOOK_NS)
        return false;
    *last = *now;
    return ran < turns * SHORT_TURN_NS;
}

/* leagues SECONDS: leagues of teams on the host. Each worker function computes for that long at each call,
 * and is called from one path only:
 *
 *     in_team        main > league > teams > in_team, in each of 2 teams
 *     in_member      main > league > teams > in_team_region > parallel > in_member, behind in_team, in a
 *                    region of 2 threads in each team
 *     in_iteration   main > distribute > teams > in_iteration, 2 of 4 iterations in each of 2 teams
 *
 * So the work is that of 10 calls and the span that of 4, with as many threads as the program wants. */
#include "worker-functions.h"

#include <stdlib.h>

enum { TEAMS = 2, ITERATIONS = 4 };

static double share;

#define WORKER(name)                                                                               \
    FUNCTION void name(void)                                                                       \
    {                                                                                              \
        compute(share);                                                                            \
    }
WORKER(in_team)
WORKER(in_member)
WORKER(in_iteration)

FUNCTION void in_team_region(void)
{
#pragma omp parallel num_threads(2)
    in_member();
}

FUNCTION void league(void)
{
#pragma omp teams num_teams(TEAMS) thread_limit(2)
    {
        in_team();
        in_team_region();
    }
}

FUNCTION void distribute(void)
{
#pragma omp teams distribute num_teams(TEAMS) thread_limit(1)
    for (int i = 0; i < ITERATIONS; i++)
        in_iteration();
}

int main(int count, char **arguments)
{
    share = count > 1 ? atof(arguments[1]) : 0.001;
    league();
    distribute();
    return 0;
}

/* An OpenMP program of known critical path: team-path MILLISECONDS, the length of a stage. A team of three threads:
 *
 *     thread 0   before | aside(1/4) |                 aside(1/4) |                  after
 *     one        fork   | first      | barrier         aside(1/4) | end of the region
 *     the other         | aside(1/4) |                 second     |
 *
 * `one` and `other` are the threads 1 and 2. In a team of two, `other` is thread 0. */
#include "tests/programs/pthread/path-stages.h"

#include <omp.h>

ON_PATH(before)
ON_PATH(first)
ON_PATH(second)
ON_PATH(after)
ASIDE(aside, 4) /* two of them may share a CPU */

int main(int argc, char **argv)
{
    read_length(argc, argv);
#pragma omp parallel
    {
        __asm__ volatile("" ::: "memory"); /* no region without code: it creates the threads */
    }
    before();
#pragma omp parallel
    {
        if (omp_get_thread_num() == 1)
            first();
        else
            aside();
#pragma omp barrier
        if (omp_get_thread_num() == 2 % omp_get_num_threads())
            second();
        else
            aside();
    }
    after();
    print_stages();
    return 0;
}

/* An OpenMP program of known critical path, over locks and critical sections: lock-path MILLISECONDS, the length of a
 * stage. Thread 0 has the section `named` from the begin on, thread 1 both locks. Threads that wait:
 *
 *     thread 0   before | first  | aside(1/2) | lock: third | aside(1/2)    | nest lock: fifth | after
 *     thread 1          | section: second     | aside(1/2)  | named: fourth | aside(1/2)       |
 */
#include "tests/programs/pthread/path-stages.h"
#include "tests/tools/working-yield.h"

#include <omp.h>
#include <stdatomic.h>
#include <stdbool.h>

ON_PATH(before)
ON_PATH(first)
ON_PATH(second)
ON_PATH(third)
ON_PATH(fourth)
ON_PATH(fifth)
ON_PATH(after)
ASIDE(aside, 2)

static omp_lock_t lock;
static omp_nest_lock_t nest_lock;
static atomic_bool has_locks, has_sections;

static void wait_until(atomic_bool *flag)
{
    while (!*flag)
        working_yield();
}

static void thread_0(void)
{
    wait_until(&has_locks);
#pragma omp critical(named)
    {
#pragma omp critical
        {
            has_sections = true;
            first();
        }
        aside();
        omp_set_lock(&lock);
        third();
        omp_unset_lock(&lock);
    }
    aside();
    omp_set_nest_lock(&nest_lock);
    fifth();
    omp_unset_nest_lock(&nest_lock);
}

static void thread_1(void)
{
    omp_set_lock(&lock);
    omp_set_nest_lock(&nest_lock);
    omp_set_nest_lock(&nest_lock);
    has_locks = true;
    wait_until(&has_sections);
#pragma omp critical
    second();
    omp_unset_lock(&lock);
    aside();
#pragma omp critical(named)
    fourth();
    omp_unset_nest_lock(&nest_lock);
    omp_unset_nest_lock(&nest_lock);
    aside();
}

int main(int argc, char **argv)
{
    read_length(argc, argv);
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest_lock);
    before();
#pragma omp parallel num_threads(2)
    {
        if (omp_get_thread_num() == 0)
            thread_0();
        else
            thread_1();
    }
    after();
    print_stages();
    return 0;
}

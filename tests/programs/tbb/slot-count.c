/* For tbb-counts.cc and three-runtimes.cc: the agents' counts of working threads. */
#include "agents/common/thread-slots.h"

/* The agents', if any is preloaded. */
#pragma weak hpctoolkit_thread_slots
#pragma weak hpctoolkit_thread_slots_used

static int count_working(enum slot_runtime runtime)
{
    int count = 0;
    for (uint32_t i = 0; i < hpctoolkit_thread_slots_used; i++)
        count += slot_serves(&hpctoolkit_thread_slots[i], runtime) &&
                 slot_state(&hpctoolkit_thread_slots[i]) == THREAD_WORKS;
    return count;
}

int threads_that_work(void)
{
    return count_working(RUNTIME_TBB);
}

int openmp_threads_that_work(void)
{
    return count_working(RUNTIME_GOMP);
}

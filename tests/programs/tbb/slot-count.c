/* For tbb-counts.cc and three-runtimes.cc: the agents' counts of working threads. */
#include "agents/common/thread-slots.c"

/* hpcrun's, if that runs the program. */
extern struct agent_slots hpctoolkit_thread_slots __attribute__((weak));

static int count_working(enum slot_runtime runtime)
{
    return (int)slots_count(&hpctoolkit_thread_slots, runtime).working;
}

int threads_that_work(void)
{
    return count_working(RUNTIME_TBB);
}

int openmp_threads_that_work(void)
{
    return count_working(RUNTIME_GOMP);
}

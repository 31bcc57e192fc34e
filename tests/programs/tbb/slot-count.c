/* For tbb-counts.cc: the agent's count of working threads. */
#include "agents/common/thread-slots.h"

/* The agent's, if it is preloaded. */
#pragma weak hpctoolkit_thread_slots
#pragma weak hpctoolkit_thread_slots_used

int threads_that_work(void)
{
    int count = 0;
    for (uint32_t i = 0; i < hpctoolkit_thread_slots_used; i++)
        count += slot_is_of(&hpctoolkit_thread_slots[i], RUNTIME_TBB) &&
                 slot_state(&hpctoolkit_thread_slots[i]) == THREAD_WORKS;
    return count;
}

/* For programs of this folder: the agents' counts of working threads. */
#include "agents/common/thread-slots.c"

#include <pthread.h>

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

static int count_states(bool (*is_counted)(const struct agent_slot *slot, uint64_t what), uint64_t what)
{
    uint32_t end = atomic_load(&hpctoolkit_thread_slots.end);
    int count = 0;
    for (uint32_t i = 0; i < end; i++)
        count += is_counted(agent_slot_at(&hpctoolkit_thread_slots, i), what);
    return count;
}

static bool is_plain_in(const struct agent_slot *slot, uint64_t state)
{
    return slot_state(slot) == state && slot_is_plain(slot);
}

static bool waits_for(const struct agent_slot *slot, uint64_t lock)
{
    return slot_state(slot) == AGENT_SLOT_WAITING && slot->lock == lock;
}

int plain_threads_that_work(void)
{
    return count_states(is_plain_in, AGENT_SLOT_WORKING);
}

int threads_that_wait_for(const pthread_mutex_t *lock)
{
    return count_states(waits_for, (uint64_t)lock);
}

/* Handler: all but slot_spare. */
#include "agents/common/thread-slots.h"

#include <pthread.h>
#include <stdlib.h>

/* Without a key or memory, all threads without a slot share this one: it is wrong, but there. */
static struct agent_slot last_spare;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool have_key;

static void make_key(void)
{
    have_key = pthread_key_create(&key, free) == 0;
}

struct agent_slot *slot_spare(void)
{
    pthread_once(&once, make_key);
    struct agent_slot *spare = have_key ? pthread_getspecific(key) : &last_spare;
    if (spare)
        return spare;
    spare = aligned_alloc(_Alignof(struct agent_slot), sizeof *spare);
    if (!spare || pthread_setspecific(key, spare) != 0) {
        free(spare);
        return &last_spare;
    }
    *spare = (struct agent_slot){0};
    return spare;
}

/* Whether the thread is in a construct of some of these runtimes. */
static bool is_in_construct(const struct agent_slot *slot, uint32_t runtimes)
{
    return (runtimes & RUNTIME_GOMP && slot->gomp.link) ||
           (runtimes & RUNTIME_OMPT && slot->ompt.link) ||
           (runtimes & RUNTIME_TBB && slot->tbb.link);
}

static bool is_outside(const struct agent_slot *slot)
{
    return !slot->pool && !is_in_construct(slot, RUNTIME_GOMP | RUNTIME_OMPT | RUNTIME_TBB);
}

bool slot_serves(const struct agent_slot *slot, enum slot_runtime runtime)
{
    return slot_is_of(slot, runtime) &&
           (slot->pool == runtime || is_in_construct(slot, runtime) || is_outside(slot));
}

enum agent_thread_status slot_status(enum slot_runtime runtime)
{
    const struct agent_slot *slot = slot_own();
    if (!slot || !slot_serves(slot, runtime))
        return AGENT_FOREIGN;
    switch (slot_state(slot)) {
    case AGENT_SLOT_WORKING: return AGENT_WORKING;
    case AGENT_SLOT_WAITING: return AGENT_WAITING;
    default: return AGENT_IDLE;
    }
}

struct slot_counts slots_count(const struct agent_slots *slots, enum slot_runtime runtime)
{
    uint32_t end = atomic_load_explicit(&slots->end, memory_order_acquire);
    struct slot_counts counts = {0};
    for (uint32_t i = 0; i < end; i++) {
        const struct agent_slot *slot = agent_slot_at(slots, i);
        enum agent_slot_state state = slot_state(slot);
        bool is_absent = state == AGENT_SLOT_WAITING && is_outside(slot);
        if (state == AGENT_SLOT_FREE || is_absent || !slot_serves(slot, runtime))
            continue;
        counts.pool += slot->pool == runtime;
        counts.others += slot->pool != runtime;
        counts.working += state == AGENT_SLOT_WORKING;
    }
    return counts;
}

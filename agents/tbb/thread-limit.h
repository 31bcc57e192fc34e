/* Numbers of threads that use TBB. */
#ifndef AGENTS_TBB_THREAD_LIMIT_H
#define AGENTS_TBB_THREAD_LIMIT_H

#include "agents/common/thread-slots.h"

/* The number that the program allows TBB by tbb::global_control; 0: no control. */
extern _Atomic uint32_t tbb_thread_limit;

/* The number that have become workers so far. */
extern _Atomic uint32_t tbb_threads;

static inline void tbb_join(struct agent_slot *slot)
{
    if (slot_is_of(slot, RUNTIME_TBB))
        return;
    slot_join(slot, RUNTIME_TBB);
    atomic_fetch_add_explicit(&tbb_threads, 1, memory_order_relaxed);
}

#endif

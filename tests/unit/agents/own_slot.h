/* The part of hpcrun that gives agents the calling thread's slot. */
#ifndef TESTS_UNIT_AGENTS_OWN_SLOT_H
#define TESTS_UNIT_AGENTS_OWN_SLOT_H

#include "agents/common/thread-slots.h"

#define own_slot hpctoolkit_thread_slot

__thread struct agent_slot *hpctoolkit_thread_slot;

struct agent_slot *hpctoolkit_own_slot(void)
{
    return own_slot;
}

#endif

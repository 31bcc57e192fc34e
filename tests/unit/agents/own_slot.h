/* The part of hpcrun that gives agents the calling thread's slot. */
#ifndef TESTS_UNIT_AGENTS_OWN_SLOT_H
#define TESTS_UNIT_AGENTS_OWN_SLOT_H

#include "agents/common/thread-slots.h"

static __thread struct agent_slot *own_slot;

struct agent_slot *hpctoolkit_own_slot(void)
{
    return own_slot;
}

#endif

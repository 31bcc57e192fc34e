/* The part of hpcrun that agents tell who ends waits (agent-slots.h). It keeps the last release only. Threads are known by
 * the numbers of their slots. */
#ifndef TESTS_UNIT_AGENTS_RECORDED_WAKERS_H
#define TESTS_UNIT_AGENTS_RECORDED_WAKERS_H

#include "tests/unit/agents/own_slot.h"

static uint64_t now; /* how often the clock was read */
static struct {
    const volatile void *object;
    int by;
    uint64_t time;
} last; /* who let go of what */

/* The thread that ended the wait; -1: unknown. */
static int waker;
static uint64_t waited_since;

uint64_t hpctoolkit_lets_go(const volatile void *object)
{
    now++;
    if (object) {
        last.object = object;
        last.by = (int)own_slot->number;
        last.time = now;
    }
    return now;
}

bool hpctoolkit_waited(const volatile void *object, uint64_t since)
{
    waited_since = since;
    waker = last.object == object && last.time >= since ? last.by : -1;
    return waker >= 0;
}

#endif

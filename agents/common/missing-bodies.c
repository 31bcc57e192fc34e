/* Handler. */
#include "agents/common/missing-bodies.h"

#include <stdatomic.h>

/* Answers for addresses near a body, since looking for a function's begin takes some hundred
 * nanoseconds. 0: none; else, from the most significant bit:
 *
 *     the body's address (47 bits), the distance from there + NEAR (16), whether it is missing (1) */
#define NEAR  (1u << 15)
#define KNOWN 256

static _Atomic uint64_t known[KNOWN];

static _Atomic uint64_t *place_of(uint64_t body, uint64_t distance)
{
    uint64_t hash = (body ^ distance << 20) * 0x9e3779b97f4a7c15u;
    return &known[hash >> 56];
}

_Static_assert(KNOWN == 1 << 8, "8 bits of the hash choose the place");

uint64_t missing_body(const struct agent_host *host, const struct agent_cursor *cursor,
                      uint64_t body, uint64_t pc)
{
    uint64_t distance = pc - body + NEAR, question = body << 17 | distance << 1;
    bool is_near = distance < 2 * NEAR;
    _Atomic uint64_t *place = place_of(body, distance);
    uint64_t answer = is_near ? atomic_load_explicit(place, memory_order_relaxed) : 0;
    if (!body)
        return 0;
    if (answer && (answer & ~(uint64_t)1) == question)
        return answer & 1 ? body : 0;
    uint64_t begin = host->function(cursor, pc);
    bool is_missing = begin && begin != body;
    if (begin && is_near)
        atomic_store_explicit(place, question | is_missing, memory_order_relaxed);
    return is_missing ? body : 0;
}

void missing_bodies_forget(void)
{
    for (int i = 0; i < KNOWN; i++)
        atomic_store_explicit(&known[i], 0, memory_order_relaxed);
}

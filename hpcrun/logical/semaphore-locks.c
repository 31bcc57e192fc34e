#include "hpcrun/logical/semaphore-locks.h"

#include "hpcrun/logical/wait-slots.h"

#include <stdatomic.h>

static _Atomic uint64_t words[1 << SEMAPHORE_INDEX_BITS];

static _Atomic uint64_t *word_of(uint64_t semaphore)
{
    return &words[semaphore_index(semaphore)];
}

#define LOAD(word)         atomic_load_explicit(word, memory_order_relaxed)
#define STORE(word, value) atomic_store_explicit(word, value, memory_order_relaxed)

/* Whether a word is that of the semaphore. */
static bool is_of(uint64_t word, uint64_t semaphore)
{
    return (word ^ semaphore_tag(semaphore)) >> SEMAPHORE_TAG_SHIFT == 0;
}

void semaphore_taken(const volatile void *of)
{
    uint64_t semaphore = (uint64_t)(uintptr_t)of;
    _Atomic uint64_t *at = word_of(semaphore);
    uint64_t word = LOAD(at);
    if (!own_slot)
        return;
    if (is_of(word, semaphore))
        STORE(at, (word & ~SEMAPHORE_TID) | (uint64_t)own_slot->tid);
    else if (!(word & SEMAPHORE_TID))
        STORE(at, semaphore_tag(semaphore) | (uint64_t)own_slot->tid);
}

void semaphore_released(const volatile void *of)
{
    uint64_t semaphore = (uint64_t)(uintptr_t)of;
    _Atomic uint64_t *at = word_of(semaphore);
    uint64_t word = LOAD(at);
    if (!is_of(word, semaphore) || !(word & SEMAPHORE_TID))
        return;
    bool is_own = own_slot && (word & SEMAPHORE_TID) == (uint64_t)own_slot->tid;
    STORE(at, (word & ~SEMAPHORE_TID) | (is_own ? SEMAPHORE_IS_LOCK : SEMAPHORE_IS_SIGNAL));
}

void semaphore_begins(const volatile void *of)
{
    uint64_t semaphore = (uint64_t)(uintptr_t)of;
    _Atomic uint64_t *at = word_of(semaphore);
    if (is_of(LOAD(at), semaphore))
        STORE(at, 0);
}

const void *semaphore_holder(const volatile void *of)
{
    uint64_t semaphore = (uint64_t)(uintptr_t)of;
    _Atomic uint64_t *at = word_of(semaphore);
    uint64_t word = LOAD(at);
    if (!own_slot || !is_of(word, semaphore))
        return NULL;
    if ((word & SEMAPHORE_TID) == (uint64_t)own_slot->tid)
        STORE(at, word |= SEMAPHORE_IS_SIGNAL);
    return word & SEMAPHORE_IS_SIGNAL ? NULL : (const void *)(AGENT_HOLDER_OF_SEMAPHORE | (uint64_t)(uintptr_t)at);
}

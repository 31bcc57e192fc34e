/* A word that says which thread holds a semaphore, where a program uses that as a lock:
 *
 *     63        31   23            22                  21       0
 *     tag            IS_SIGNAL     IS_LOCK             tid
 *
 * A semaphore's address gives the index of its word in a table, and the tag. Both together are the address, so no other
 * semaphore has them, and each change of a word is one store. Writers: the wrappers of semaphores
 * (hpcrun/logical/semaphore-locks.h). Readers: samples of a thread that may hold it. */
#ifndef AGENTS_SEMAPHORE_HOLDERS_H
#define AGENTS_SEMAPHORE_HOLDERS_H

#include <stdbool.h>
#include <stdint.h>

#define SEMAPHORE_INDEX_BITS 14

enum { SEMAPHORE_TAG_SHIFT = 31, SEMAPHORE_ADDRESS_BITS = 47 };

#define SEMAPHORE_TID ((UINT64_C(1) << 22) - 1) /* Linux has no larger ones; 0: no thread has it */

/* A thread that took it has released it. */
#define SEMAPHORE_IS_LOCK (UINT64_C(1) << 22)

/* Another thread has released it, or the one that took it waited for it: it is not, or not always, used as a lock. */
#define SEMAPHORE_IS_SIGNAL (UINT64_C(1) << 23)

/* Spreads addresses over 47 bits, one to one: the factor is odd. */
static inline uint64_t semaphore_hash(uint64_t semaphore)
{
    return semaphore * UINT64_C(0x9e3779b97f4a7c15) & ((UINT64_C(1) << SEMAPHORE_ADDRESS_BITS) - 1);
}

static inline uint32_t semaphore_index(uint64_t semaphore)
{
    return (uint32_t)(semaphore_hash(semaphore) >> (SEMAPHORE_ADDRESS_BITS - SEMAPHORE_INDEX_BITS));
}

static inline uint64_t semaphore_tag(uint64_t semaphore)
{
    return semaphore_hash(semaphore) << SEMAPHORE_TAG_SHIFT; /* without the index */
}

/* The word of one that is a lock, and that the thread holds. */
static inline uint64_t semaphore_held_by(uint64_t semaphore, int tid)
{
    return semaphore_tag(semaphore) | SEMAPHORE_IS_LOCK | (uint64_t)tid;
}

/* Whether this is the word of one that is a lock, whoever holds it. */
static inline bool semaphore_is_lock(uint64_t word, uint64_t semaphore)
{
    return (word & ~SEMAPHORE_TID) == semaphore_held_by(semaphore, 0);
}

#endif
